// A server of the package and its clients, in virtual time, with nothing but this file between them.
import {
  Server,
  generateConnectToken,
  generateKey,
  loadServer,
} from '../../web/dist/server/index.js';
import { Client } from '../../web/dist/core/index.js';
import { PROTOCOL_ID, messages } from './chat_schema.mjs';

export const core = await loadServer();
export const ADDRESS = '127.0.0.1:40000';
const TICK = 1 / 60;

/** A client with an address of its own. */
class RigClient {
  constructor(rig, port, schema, config) {
    this.rig = rig;
    this.host = '10.0.0.1';
    this.port = port;
    this.client = new Client(core, schema, config);
    this.received = [];
    this.receipts = [];
  }

  get state() {
    return this.client.state;
  }

  connect(token) {
    this.client.connect(token, this.rig.now);
  }

  send(channel, type, value, block, receipt) {
    this.client.send(channel, type, value, this.rig.now, block, receipt);
  }

  /** Sends all that the client has to send now; `lose` takes some of it. */
  transmit() {
    const { client, rig, host, port } = this;
    for (let out = client.transmit(rig.now); out; out = client.transmit(rig.now)) {
      rig.wire.push(out);
      if (!rig.lose()) rig.deliver(out, host, port);
    }
  }

  take() {
    for (let event = this.client.next(); event; event = this.client.next())
      if (event.type === 'message') this.received.push(event.message);
      else this.receipts.push(event);
  }
}

/** `events` are the server's, each with its time; `taken` has the messages of each slot. */
export class Rig {
  now = 100;
  /** The difference between Unix time and the rig's time. */
  offset = Date.now() / 1000 - 100;
  key = generateKey();
  clients = [];
  events = [];
  taken = new Map();
  connections = new Map();
  /** The datagrams of clients on their way. */
  wire = [];
  lose = () => false;
  /** The slots whose messages nobody takes. */
  lazy = new Set();

  constructor({ schema = messages, ...config } = {}) {
    this.schema = schema;
    this.config = config;
    this.server = new Server(
      core,
      schema,
      {
        protocolId: PROTOCOL_ID,
        privateKey: this.key,
        addresses: [ADDRESS],
        maxTokenLifeSeconds: 0,
        ...config,
      },
      this.offset,
    );
  }

  token(options = {}) {
    return generateConnectToken({
      core,
      protocolId: PROTOCOL_ID,
      privateKey: this.key,
      clientId: 1n,
      timeoutSeconds: 5,
      servers: [ADDRESS],
      schema: this.schema,
      ...options,
    });
  }

  /** Adds a client that begins to connect. */
  async join(options = {}, { schema = this.schema, config = this.config, token } = {}) {
    const client = new RigClient(this, 50000 + this.clients.length, schema, config);
    this.clients.push(client);
    client.connect(
      token ?? (await this.token({ clientId: BigInt(this.clients.length), ...options })),
    );
    return client;
  }

  /** Adds a client, lets it connect, and returns it and its slot. */
  async joined(options) {
    const client = await this.join(options);
    this.run(0.5);
    return { client, slot: client.client.slot().index };
  }

  deliver(datagram, host, port) {
    const slot = this.server.receive(datagram, host, port, this.now);
    this.follow();
    if (slot !== undefined) this.take(slot);
    this.transmit();
  }

  transmit() {
    for (let out = this.server.transmit(this.now); out; out = this.server.transmit(this.now)) {
      const { datagram, host, port } = out;
      const to = this.clients.find((client) => client.host === host && client.port === port);
      if (!to || this.lose()) continue;
      to.client.receive(datagram, this.now);
      to.take();
    }
  }

  follow() {
    for (let event = this.server.next(); event; event = this.server.next()) {
      const { client } = event;
      if (event.type === 'connect') this.connections.set(client, this.server.connection(client));
      if (event.type === 'disconnect') this.connections.delete(client);
      if (event.type === 'connection') this.keep(client, event.event);
      else this.events.push({ ...event, now: this.now });
    }
  }

  keep(slot, event) {
    if (!this.taken.has(slot)) this.taken.set(slot, []);
    this.taken.get(slot).push(event.type === 'message' ? event.message : event);
  }

  take(slot) {
    const connection = this.connections.get(slot);
    if (!connection || this.lazy.has(slot)) return;
    for (let event = connection.next(); event; event = connection.next()) this.keep(slot, event);
  }

  /** Lets so many seconds pass, or fewer if `until` becomes true. */
  run(seconds, until = () => false) {
    for (const end = this.now + seconds; this.now < end && !until(); this.now += TICK) {
      for (const client of this.clients) {
        client.client.update(this.now);
        client.transmit();
      }
      this.server.update(this.now, this.offset);
      this.transmit();
      this.follow();
      for (const slot of this.connections.keys()) this.take(slot);
      for (const client of this.clients) client.take();
    }
  }

  /** Returns what a slot has sent, without its channel. */
  texts(slot) {
    return (this.taken.get(slot) ?? []).map(({ value }) => value?.text);
  }
}
