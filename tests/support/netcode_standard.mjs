// A second implementation of netcode 1.02's tokens and packets, written from the published standard and without a look
// at the first: an end that agrees with it agrees with the standard. Its ends of a connection are in
// netcode_standard_server.mjs and netcode_standard_client.mjs.
//
// This follows the reference where the standard is silent or wrong: the nonce of a packet is four zero bytes and
// then the sequence, a request carries the token's nonce of 24 bytes, and addresses have type 1 or 2.
import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';
import net from 'node:net';
import { require } from './packages.mjs';

const { xchacha20poly1305 } = require('@noble/ciphers/chacha');

const VERSION = Buffer.from('NETCODE 1.02\0', 'ascii');
const MAC_BYTES = 16;
const PRIVATE_BYTES = 1024;
const TOKEN_BYTES = 2048;
const CHALLENGE_BYTES = 300;
const USER_DATA_BYTES = 256;
const REPLAY_WINDOW = 256n;

const REQUEST_BYTES = 1 + VERSION.length + 8 + 8 + 24 + PRIVATE_BYTES;
export const Type = {
  request: 0,
  denied: 1,
  challenge: 2,
  response: 3,
  keepAlive: 4,
  payload: 5,
  disconnect: 6,
};
const REPLAYABLE = [Type.keepAlive, Type.payload, Type.disconnect];

/** The smallest and largest body of each sealed packet. */
const BODY_BYTES = {
  [Type.denied]: [0, 0],
  [Type.challenge]: [308, 308],
  [Type.response]: [308, 308],
  [Type.keepAlive]: [8, 8],
  [Type.payload]: [1, 1200],
  [Type.disconnect]: [0, 0],
};

const u16 = (value) => Buffer.of(value & 0xff, value >> 8);

export function u32(value) {
  const bytes = Buffer.alloc(4);
  bytes.writeInt32LE(value | 0);
  return bytes;
}

export function u64(value) {
  const bytes = Buffer.alloc(8);
  bytes.writeBigUInt64LE(BigInt(value));
  return bytes;
}

function padded(parts, size) {
  const bytes = Buffer.alloc(size);
  if (Buffer.concat(parts).copy(bytes) < Buffer.concat(parts).length) throw new Error('too long');
  return bytes;
}

/** Takes fields off the front of some bytes. */
class Reader {
  #bytes;

  constructor(bytes) {
    this.#bytes = Buffer.from(bytes);
  }

  bytes(count) {
    if (count > this.#bytes.length) throw new Error('the bytes end too soon');
    const taken = this.#bytes.subarray(0, count);
    this.#bytes = this.#bytes.subarray(count);
    return taken;
  }

  u8 = () => this.bytes(1)[0];
  u16 = () => this.bytes(2).readUInt16LE();
  u32 = () => this.bytes(4).readUInt32LE();
  i32 = () => this.bytes(4).readInt32LE();
  u64 = () => this.bytes(8).readBigUInt64LE();
}

/** Returns the eight groups of an IPv6 address. */
function groups(host) {
  const [head, tail] = host.split('::').map((half) => (half ? half.split(':') : []));
  const zeros = tail ? Array(8 - head.length - tail.length).fill('0') : [];
  return [...head, ...zeros, ...(tail ?? [])].map((group) => parseInt(group, 16));
}

/** An address is text such as 127.0.0.1:40000 or [::1]:40000. */
export function splitAddress(address) {
  const [, host, port] = /^\[?(.*?)\]?:(\d+)$/.exec(address);
  return { host, port: Number(port) };
}

export const joinAddress = ({ address, port }) =>
  net.isIPv6(address) ? `[${address}]:${port}` : `${address}:${port}`;

function addressBytes(address) {
  const { host, port } = splitAddress(address);
  const bytes = net.isIPv6(host)
    ? Buffer.concat([Buffer.of(2), ...groups(host).map(u16)])
    : Buffer.from([1, ...host.split('.').map(Number)]);
  return Buffer.concat([bytes, u16(port)]);
}

function readAddresses(reader) {
  const count = reader.u32();
  if (count < 1 || count > 32) throw new Error(`${count} addresses`);
  return Array.from({ length: count }, () => {
    const type = reader.u8();
    if (type === 1) return `${[...reader.bytes(4)].join('.')}:${reader.u16()}`;
    if (type !== 2) throw new Error(`an address of type ${type}`);
    const long = Array.from({ length: 8 }, () => reader.u16().toString(16)).join(':');
    const { hostname } = new URL(`http://[${long}]/`); // the address in its usual short form
    return `${hostname}:${reader.u16()}`;
  });
}

const privateAssociated = (protocolId, expire) =>
  Buffer.concat([VERSION, u64(protocolId), u64(expire)]);

/** Makes a connect token as the web backend does, valid for some seconds from now. */
export function makeToken({
  protocolId,
  privateKey,
  clientId,
  addresses,
  seconds = 60,
  timeout = 10,
  userData = randomBytes(USER_DATA_BYTES),
  now = Math.floor(Date.now() / 1000),
}) {
  const nonce = randomBytes(24);
  const keys = randomBytes(64); // the key from client to server, then that from server to client
  const list = Buffer.concat([u32(addresses.length), ...addresses.map(addressBytes)]);
  const hidden = [u64(clientId), u32(timeout), list, keys, padded([userData], USER_DATA_BYTES)];
  const associated = privateAssociated(protocolId, now + seconds);
  const sealed = xchacha20poly1305(privateKey, nonce, associated).encrypt(
    padded(hidden, PRIVATE_BYTES - MAC_BYTES),
  );
  const head = [VERSION, u64(protocolId), u64(now), u64(now + seconds), nonce, sealed];
  return padded([...head, u32(timeout), list, keys], TOKEN_BYTES);
}

/** Returns what a client reads from its token; throws when it is invalid. */
export function readToken(bytes) {
  if (bytes.length !== TOKEN_BYTES) throw new Error(`a token of ${bytes.length} bytes`);
  const reader = new Reader(bytes);
  if (!reader.bytes(VERSION.length).equals(VERSION)) throw new Error('another version');
  const token = {
    protocolId: reader.u64(),
    create: reader.u64(),
    expire: reader.u64(),
    nonce: reader.bytes(24),
    sealed: reader.bytes(PRIVATE_BYTES),
    timeout: reader.i32(),
    addresses: readAddresses(reader),
    clientToServer: reader.bytes(32),
    serverToClient: reader.bytes(32),
  };
  if (token.create > token.expire) throw new Error('it expires before it was made');
  return token;
}

/** Returns the packet with which a client begins. */
export const requestPacket = ({ protocolId, expire, nonce, sealed }) =>
  Buffer.concat([Buffer.of(0), VERSION, u64(protocolId), u64(expire), nonce, sealed]);

/**
 * Returns what a server reads from a request, by the standard's steps up to the private part; throws when the request
 * is invalid.
 */
export function readRequest(packet, protocolId, privateKey, now) {
  if (packet.length !== REQUEST_BYTES) throw new Error(`a request of ${packet.length} bytes`);
  const reader = new Reader(packet.subarray(1));
  if (!reader.bytes(VERSION.length).equals(VERSION)) throw new Error('another version');
  if (reader.u64() !== protocolId) throw new Error('another protocol');
  const expire = reader.u64();
  if (expire <= BigInt(now)) throw new Error('an expired token');
  const nonce = reader.bytes(24);
  const sealed = reader.bytes(PRIVATE_BYTES);
  const associated = privateAssociated(protocolId, expire);
  const hidden = new Reader(xchacha20poly1305(privateKey, nonce, associated).decrypt(sealed));
  return {
    mac: sealed.subarray(-MAC_BYTES).toString('hex'),
    clientId: hidden.u64(),
    timeout: hidden.i32(),
    addresses: readAddresses(hidden),
    clientToServer: hidden.bytes(32),
    serverToClient: hidden.bytes(32),
    userData: hidden.bytes(USER_DATA_BYTES),
  };
}

function encrypt(key, sequence, associated, body) {
  const nonce = Buffer.concat([Buffer.alloc(4), u64(sequence)]);
  const cipher = createCipheriv('chacha20-poly1305', key, nonce, { authTagLength: MAC_BYTES });
  cipher.setAAD(associated, { plaintextLength: body.length });
  return Buffer.concat([cipher.update(body), cipher.final(), cipher.getAuthTag()]);
}

function decrypt(key, sequence, associated, sealed) {
  const nonce = Buffer.concat([Buffer.alloc(4), u64(sequence)]);
  const cipher = createDecipheriv('chacha20-poly1305', key, nonce, { authTagLength: MAC_BYTES });
  const size = sealed.length - MAC_BYTES;
  cipher.setAAD(associated, { plaintextLength: size });
  cipher.setAuthTag(sealed.subarray(size));
  return Buffer.concat([cipher.update(sealed.subarray(0, size)), cipher.final()]);
}

export const sealChallenge = (key, sequence, { clientId, userData }) =>
  encrypt(
    key,
    sequence,
    Buffer.alloc(0),
    padded([u64(clientId), userData], CHALLENGE_BYTES - MAC_BYTES),
  );

export function openChallenge(key, body) {
  const reader = new Reader(body);
  const sequence = reader.u64();
  const sealed = reader.bytes(CHALLENGE_BYTES);
  const hidden = new Reader(decrypt(key, sequence, Buffer.alloc(0), sealed));
  return { clientId: hidden.u64(), userData: hidden.bytes(USER_DATA_BYTES) };
}

const packetAssociated = (protocolId, prefix) =>
  Buffer.concat([VERSION, u64(protocolId), Buffer.of(prefix)]);

export function sealPacket({ protocolId, key, type, sequence, body = Buffer.alloc(0) }) {
  let count = 8;
  while (count > 1 && u64(sequence)[count - 1] === 0) count--;
  const prefix = (count << 4) | type;
  const head = Buffer.concat([Buffer.of(prefix), u64(sequence).subarray(0, count)]);
  return Buffer.concat([head, encrypt(key, sequence, packetAssociated(protocolId, prefix), body)]);
}

/** Opens a sealed packet by the standard's steps; throws when it is to be ignored. */
export function openPacket(packet, { protocolId, key, ignored, replay }) {
  if (packet.length < 18) throw new Error(`a packet of ${packet.length} bytes`);
  const type = packet[0] & 15;
  const count = packet[0] >> 4;
  if (type > Type.disconnect || ignored.includes(type)) throw new Error(`type ${type}`);
  if (count < 1 || count > 8) throw new Error(`${count} bytes of sequence`);
  const size = packet.length - 1 - count - MAC_BYTES;
  if (size < 0) throw new Error(`a packet of ${packet.length} bytes`);
  const [least, most] = BODY_BYTES[type];
  if (size < least || size > most) throw new Error(`type ${type} with ${size} bytes`);
  const sequence = padded([packet.subarray(1, 1 + count)], 8).readBigUInt64LE();
  if (REPLAYABLE.includes(type) && replay.seen(sequence)) throw new Error(`${sequence} again`);
  const associated = packetAssociated(protocolId, packet[0]);
  const body = decrypt(key, sequence, associated, packet.subarray(1 + count));
  if (REPLAYABLE.includes(type)) replay.add(sequence);
  return { type, sequence, body };
}

/** Remembers what was received, as far back as the window goes. */
export class Replay {
  #newest = 0n;
  #received = new Set();

  seen(sequence) {
    return sequence + REPLAY_WINDOW <= this.#newest || this.#received.has(sequence);
  }

  add(sequence) {
    this.#received.add(sequence);
    if (sequence > this.#newest) this.#newest = sequence;
    for (const old of this.#received) {
      if (old + REPLAY_WINDOW <= this.#newest) this.#received.delete(old);
    }
  }
}
