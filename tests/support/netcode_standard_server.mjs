// The server's end of a netcode connection, from the published standard; see netcode_standard.mjs.
// The standard leaves open how packets outside a client slot are numbered; like the reference this
// counts them from 2^63.
import { randomBytes } from 'node:crypto';
import dgram from 'node:dgram';
import { EventEmitter, once } from 'node:events';
import net from 'node:net';
import {
  Replay,
  Type,
  joinAddress,
  openChallenge,
  openPacket,
  readRequest,
  sealChallenge,
  sealPacket,
  splitAddress,
  u32,
  u64,
} from './netcode_standard.mjs';

const TICK_MS = 100;
const DISCONNECTS = 10; // packets, as some may get lost

/**
 * Emits 'connected' (client), 'payload' (client, bytes), 'disconnected' (client, by: 'client',
 * 'server' or 'timeout') and 'ignored' (reason, packet).
 */
export class NetcodeServer extends EventEmitter {
  #protocolId;
  #privateKey;
  #socket;
  #ticking;
  #tickMs;
  #challengeKey = randomBytes(32);
  #challengeSequence = 0n;
  #globalSequence = 1n << 63n;
  #slots;
  #connected = new Map(); // clients by address
  #usedTokens = new Map(); // the address that used a token, by the token's MAC
  #mappings = new Map(); // keys by address

  constructor({ protocolId, privateKey, slots = 4, tickMs = TICK_MS }) {
    super();
    this.#protocolId = protocolId;
    this.#privateKey = privateKey;
    this.#slots = Array(slots).fill(null);
    this.#tickMs = tickMs;
  }

  async listen(host = '127.0.0.1') {
    this.#socket = dgram.createSocket(net.isIPv6(host) ? 'udp6' : 'udp4');
    this.#socket.on('message', (packet, from) => this.#receive(packet, joinAddress(from)));
    this.#socket.bind(0, host);
    await once(this.#socket, 'listening');
    this.#ticking = setInterval(() => this.#tick(), this.#tickMs);
    this.address = joinAddress(this.#socket.address());
  }

  close() {
    clearInterval(this.#ticking);
    this.#socket.close();
  }

  get clients() {
    return this.#slots.filter((client) => client !== null);
  }

  send(client, payload) {
    if (!client.confirmed) this.#keepAlive(client);
    this.#toClient(client, Type.payload, payload);
  }

  /** Sends a packet as it is. */
  transmit(packet, address) {
    const { host, port } = splitAddress(address);
    this.#socket.send(packet, port, host);
  }

  disconnect(client) {
    for (let i = 0; i < DISCONNECTS; i++) this.#toClient(client, Type.disconnect);
    this.#free(client, 'server');
  }

  #at = (address) => this.#connected.get(address);

  #receive(packet, from) {
    try {
      if (packet[0] === Type.request) this.#request(packet, from);
      else this.#sealed(packet, from);
    } catch (error) {
      this.emit('ignored', error.message, packet);
    }
  }

  #request(packet, from) {
    const now = Math.floor(Date.now() / 1000);
    const token = readRequest(packet, this.#protocolId, this.#privateKey, now);
    if (!token.addresses.includes(this.address)) throw new Error('a token for another server');
    if (this.#at(from)) throw new Error('an address that is connected');
    if (this.clients.some(({ clientId }) => clientId === token.clientId)) {
      throw new Error('a client that is connected');
    }
    const user = this.#usedTokens.get(token.mac);
    if (user && user !== from) throw new Error('a token used from another address');
    this.#usedTokens.set(token.mac, from);
    if (!this.#slots.includes(null)) {
      this.#outside(token, from, Type.denied);
      return;
    }
    this.#mappings.set(from, { ...token, deadline: deadline(token.timeout), replay: new Replay() });
    const sequence = this.#challengeSequence++;
    const challenge = sealChallenge(this.#challengeKey, sequence, token);
    this.#outside(token, from, Type.challenge, Buffer.concat([u64(sequence), challenge]));
  }

  #sealed(packet, from) {
    const mapping = this.#mappings.get(from);
    if (!mapping) throw new Error('an address without a key');
    const { type, body } = openPacket(packet, {
      protocolId: this.#protocolId,
      key: mapping.clientToServer,
      ignored: [Type.request, Type.denied, Type.challenge],
      replay: mapping.replay,
    });
    if (type === Type.response) {
      this.#response(body, from, mapping);
      return;
    }
    const client = this.#at(from);
    if (!client) throw new Error(`type ${type} outside a slot`);
    if (type === Type.disconnect) {
      this.#free(client, 'client');
      return;
    }
    client.confirmed = true;
    client.deadline = deadline(client.timeout);
    if (type === Type.payload) this.emit('payload', client, body);
  }

  #response(body, from, mapping) {
    const { clientId, userData } = openChallenge(this.#challengeKey, body);
    if (this.#at(from)) throw new Error('an address that is connected');
    if (this.clients.some((client) => client.clientId === clientId)) {
      throw new Error('a client that is connected');
    }
    const index = this.#slots.indexOf(null);
    if (index < 0) {
      this.#outside(mapping, from, Type.denied);
      return;
    }
    const { timeout, serverToClient } = mapping;
    const client = { index, clientId, userData, address: from, timeout, serverToClient };
    Object.assign(client, { sequence: 0n, confirmed: false, deadline: deadline(timeout) });
    this.#slots[index] = client;
    this.#connected.set(from, client);
    this.#keepAlive(client);
    this.emit('connected', client);
  }

  #tick() {
    const now = Date.now();
    for (const client of this.clients) {
      if (client.deadline <= now) this.#free(client, 'timeout');
      else this.#keepAlive(client);
    }
    for (const [address, mapping] of this.#mappings) {
      if (mapping.deadline <= now && !this.#at(address)) this.#mappings.delete(address);
    }
  }

  #free(client, by) {
    this.#slots[client.index] = null;
    this.#connected.delete(client.address);
    this.#mappings.delete(client.address);
    this.emit('disconnected', client, by);
  }

  #keepAlive(client) {
    this.#toClient(
      client,
      Type.keepAlive,
      Buffer.concat([u32(client.index), u32(this.#slots.length)]),
    );
  }

  #toClient(client, type, body) {
    this.#sendTo(client.address, client.serverToClient, type, client.sequence++, body);
  }

  #outside({ serverToClient }, address, type, body) {
    this.#sendTo(address, serverToClient, type, this.#globalSequence++, body);
  }

  #sendTo(address, key, type, sequence, body) {
    this.transmit(sealPacket({ protocolId: this.#protocolId, key, type, sequence, body }), address);
  }
}

/** Returns the time at which the timeout is over; a negative timeout never is. */
const deadline = (timeout) => (timeout < 0 ? Infinity : Date.now() + timeout * 1000);
