// The client's end of a netcode connection, from the published standard; see netcode_standard.mjs.
import dgram from 'node:dgram';
import { EventEmitter } from 'node:events';
import net from 'node:net';
import {
  Replay,
  Type,
  openPacket,
  readToken,
  requestPacket,
  sealPacket,
  splitAddress,
  u32,
} from './netcode_standard.mjs';

const TICK_MS = 100;
const DISCONNECTS = 10; // packets, as some may get lost

/** A way for packets to one address and back, by plain UDP. */
export function udp(address, receive) {
  const { host, port } = splitAddress(address);
  const socket = dgram.createSocket(net.isIPv6(host) ? 'udp6' : 'udp4');
  socket.on('message', receive);
  socket.on('error', () => {}); // nobody listens there; the timeout says so
  socket.connect(port, host);
  const ready = new Promise((resolve) => socket.once('connect', resolve));
  return {
    send: (packet) => ready.then(() => socket.send(packet)),
    // All packets before this call go out, whatever close() does to a queue.
    close: () => ready.then(() => setImmediate(() => socket.close())),
  };
}

/** Emits 'state' (with the standard's name of it), 'payload' (bytes) and 'ignored' (reason, packet). */
export class NetcodeClient extends EventEmitter {
  state = 'disconnected';
  index = -1;
  maxClients = -1;
  sequence = 0n; // the number of the next packet
  #token;
  #open;
  #way = null;
  #server = 0;
  #replay = new Replay();
  #challenge;
  #receivedAt;
  #started = Date.now();
  #ticking;

  /** `open(address, receive)` returns a way to a server: { send(packet), close() }. */
  constructor(token, open = udp) {
    super();
    this.#open = open;
    try {
      this.#token = readToken(token);
    } catch {
      this.state = 'invalid connect token';
    }
  }

  connect() {
    if (this.state !== 'disconnected') return;
    this.#ticking = setInterval(() => this.#tick(), TICK_MS);
    this.#approach();
  }

  send(payload) {
    this.#seal(Type.payload, payload);
  }

  disconnect() {
    for (let i = 0; i < DISCONNECTS; i++) this.#seal(Type.disconnect);
    this.#end('disconnected');
  }

  /** Sends a packet as it is. */
  transmit(packet) {
    this.#way.send(packet);
  }

  /** Stops without a word. */
  close() {
    clearInterval(this.#ticking);
    this.#way?.close();
    this.#way = null;
  }

  #approach() {
    this.#way?.close();
    this.#way = this.#open(this.#token.addresses[this.#server], (packet) => this.#receive(packet));
    this.#receivedAt = Date.now();
    this.#become('sending connection request');
    this.#tick();
  }

  #become(state) {
    this.state = state;
    this.emit('state', state);
  }

  #end(state) {
    this.close();
    this.#become(state);
  }

  /** Tries the next server, or ends. */
  #fail(state) {
    if (this.state !== 'connected' && ++this.#server < this.#token.addresses.length) {
      this.#approach();
    } else {
      this.#end(state);
    }
  }

  #tick() {
    const { timeout, create, expire } = this.#token;
    const now = Date.now();
    if (this.state !== 'connected' && now - this.#started >= Number(expire - create) * 1000) {
      this.#end('connect token expired');
    } else if (timeout >= 0 && now - this.#receivedAt >= timeout * 1000) {
      const what = { 'sending connection request': 'connection request timed out' };
      what['sending connection response'] = 'connection response timed out';
      this.#fail(what[this.state] ?? 'connection timed out');
    } else if (this.state === 'sending connection request') {
      this.transmit(requestPacket(this.#token));
    } else if (this.state === 'sending connection response') {
      this.#seal(Type.response, this.#challenge);
    } else {
      this.#seal(Type.keepAlive, Buffer.concat([u32(this.index), u32(this.maxClients)]));
    }
  }

  #seal(type, body) {
    const { protocolId, clientToServer: key } = this.#token;
    this.transmit(sealPacket({ protocolId, key, type, sequence: this.sequence++, body }));
  }

  #receive(packet) {
    let opened;
    try {
      opened = openPacket(packet, {
        protocolId: this.#token.protocolId,
        key: this.#token.serverToClient,
        ignored: [Type.request, Type.response],
        replay: this.#replay,
      });
    } catch (error) {
      this.emit('ignored', error.message, packet);
      return;
    }
    const { type, body } = opened;
    const sending = this.state.startsWith('sending');
    if (type === Type.denied && sending) {
      this.#fail('connection denied');
    } else if (type === Type.challenge && this.state === 'sending connection request') {
      this.#challenge = body;
      this.#receivedAt = Date.now();
      this.#become('sending connection response');
      this.#tick();
    } else if (type === Type.keepAlive && this.state === 'sending connection response') {
      this.index = body.readUInt32LE();
      this.maxClients = body.readUInt32LE(4);
      this.#receivedAt = Date.now();
      this.#become('connected');
    } else if (this.state === 'connected') {
      if (type === Type.keepAlive || type === Type.payload) this.#receivedAt = Date.now();
      if (type === Type.payload) this.emit('payload', body);
      if (type === Type.disconnect) this.#end('disconnected');
    }
  }
}
