// A path with distance: carries the TCP connections and the datagrams of clients to a relay and back,
// each way in half a round trip. The TCP of loopback shakes hands in no time, so that what a client
// sends counts as sent once its handshake would have been over, one round trip after it connected.
//
//   const path = await startDelayPath(t, { rtt: 100 });
//   const relay = await startRelay(t, { upstream: udp.upstream, args: path.relayOptions });
//   path.to(relay);             then use path.url in the place of relay.url
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { connect, createServer } from 'node:net';
import { own } from './fixture.mjs';

const host = '127.0.0.1';
/** A lost part of a TCP connection is sent again after so long, or after a round trip when that is more. */
const RETRANSMIT_MS = 200;
/** Timers fire up to a millisecond late, so all that is due within this time goes at once. */
const SLACK_MS = 0.5;
const KINDS = ['tcp up', 'tcp down', 'udp up', 'udp down'];

/** A queue: what is put in comes out when it is due, in order, and waits while `isHeld` says so. */
class Line {
  #waiting = [];
  #timer = null;
  #last = 0;
  #deliver;
  #isHeld;

  constructor(deliver, isHeld = () => false) {
    this.#deliver = deliver;
    this.#isHeld = isHeld;
  }

  put(item, due) {
    this.#last = Math.max(this.#last, due);
    this.#waiting.push({ item, due: this.#last });
    this.run();
  }

  run() {
    clearTimeout(this.#timer);
    this.#timer = null;
    while (this.#waiting.length > 0 && !this.#isHeld()) {
      const left = this.#waiting[0].due - performance.now();
      if (left > SLACK_MS) {
        this.#timer = setTimeout(() => this.run(), left);
        return;
      }
      this.#deliver(this.#waiting.shift().item);
    }
  }

  stop() {
    this.#waiting = [];
    clearTimeout(this.#timer);
  }
}

/**
 * Ends a connection with a reset; one that this end is closing already, without. Node never reports the end of a
 * socket that is reset while its last bytes and its FIN wait to be sent.
 */
const reset = (socket) => (socket.writableEnded ? socket.destroy() : socket.resetAndDestroy());

/** One TCP connection: its two sockets, and the bytes on the way between them. */
class Connection {
  #path;
  #stranded = false;
  #begun = performance.now();
  #sockets;
  #lines = [];

  constructor(path, client, port) {
    this.#path = path;
    this.#sockets = [client, connect({ host, port, noDelay: true, allowHalfOpen: true })];
    const [near, far] = this.#sockets;
    this.#carry(near, far, 1);
    this.#carry(far, near, 1 / 2);
  }

  /**
   * Carries what comes from one socket to the other; `trips` is the number of round trips after which it could be sent.
   */
  #carry(from, to, trips) {
    const path = this.#path;
    const line = new Line(
      (leave) => leave(),
      () => path.paused || this.#stranded,
    );
    const kind = trips === 1 ? 'tcp up' : 'tcp down';
    const put = (leave) => {
      const retransmission = path.loses(kind) ? Math.max(path.rtt, RETRANSMIT_MS) : 0;
      const sent = Math.max(performance.now(), this.#begun + trips * path.rtt);
      line.put(leave, sent + path.rtt / 2 + retransmission);
    };
    from.on('data', (data) => {
      path.watch?.(kind, data);
      put(() => to.write(data) || from.pause());
    });
    to.on('drain', () => from.resume());
    from.on('end', () => put(() => to.end()));
    from.on('error', () => put(() => reset(to)));
    this.#lines.push(line);
  }

  /** Lets the bytes go on that were held back. */
  run() {
    for (const line of this.#lines) line.run();
  }

  /** From now on nothing of the connection arrives, and neither end is told. */
  strand() {
    this.#stranded = true;
  }

  /** Ends the connection with a reset at both ends, now. */
  cut() {
    for (const line of this.#lines) line.stop();
    for (const socket of this.#sockets) reset(socket);
  }

  /** Calls `ended` when both ends are closed. */
  whenEnded(ended) {
    let left = this.#sockets.length;
    for (const socket of this.#sockets) socket.once('close', () => --left === 0 && ended(this));
  }
}

/** The datagrams of one client. The relay sees them come from a port of their own. */
class Flow {
  #path;
  #socket = createSocket('udp4');
  #up;
  #down;

  constructor(path, front, client, port) {
    this.#path = path;
    this.#up = new Line((data) => path.paused || this.#socket.send(data, port, host));
    this.#down = new Line((data) => path.paused || front.send(data, client.port, client.address));
    this.#socket.on('message', (data) => this.#put(this.#down, data));
    this.#socket.on('error', () => {}); // an ICMP message says that nobody is there
  }

  #put(line, data) {
    const kind = line === this.#up ? 'udp up' : 'udp down';
    this.#path.watch?.(kind, data);
    const { paused, rtt } = this.#path;
    if (!paused && !this.#path.loses(kind, data)) line.put(data, performance.now() + rtt / 2);
  }

  send(data) {
    this.#put(this.#up, data);
  }

  close() {
    this.#up.stop();
    this.#down.stop();
    this.#socket.close();
  }
}

class DelayPath {
  /** The time of a round trip in milliseconds; may be changed at any time. */
  rtt;
  /** The share of what is sent that gets lost, 0 to 1; may be changed at any time. TCP repeats what was lost. */
  loss;
  /** A function that gets all that is sent: one of KINDS, and the bytes. */
  watch = null;
  paused = false;
  #random = new Map();
  #target = null;
  #server = createServer({ noDelay: true, allowHalfOpen: true }, (client) => this.#accept(client));
  #front = createSocket('udp4');
  #connections = new Set();
  #flows = new Map();

  constructor({ rtt, loss = 0, seed = 1 }) {
    this.rtt = rtt;
    this.loss = loss;
    KINDS.forEach((kind, i) => this.#random.set(kind, seed + i * 0x9e3779b9));
    this.#front.on('message', (data, from) => this.#send(data, from));
  }

  async listen() {
    this.#server.listen(0, host);
    this.#front.bind(0, host);
    await Promise.all([once(this.#server, 'listening'), once(this.#front, 'listening')]);
    return this;
  }

  get port() {
    return this.#server.address().port;
  }

  get url() {
    return `http://${host}:${this.port}/`;
  }

  /** The UDP port of WebRTC. */
  get rtcPort() {
    return this.#front.address().port;
  }

  /** Makes a relay tell browsers to send to this path. */
  get relayOptions() {
    return ['--rtc', `${host}:0`, '--rtc-advertise', `${host}:${this.rtcPort}`];
  }

  /** The number of TCP connections that are not closed at both ends. */
  get connections() {
    return this.#connections.size;
  }

  /** Leads the path to this relay from now on: to its ports `port` and `rtcPort`. */
  to(relay) {
    this.#target = relay;
    this.#closeFlows();
  }

  /** Lets nothing pass: datagrams are lost, TCP connections wait. */
  pause() {
    this.paused = true;
  }

  resume() {
    this.paused = false;
    for (const connection of this.#connections) connection.run();
  }

  /** Resets all TCP connections, as a crash of the relay does. */
  cut() {
    for (const connection of this.#connections) connection.cut();
  }

  /**
   * Moves the client to another network: nothing passes on its TCP connections any more, of which neither end is told,
   * and its datagrams come from another port.
   */
  roam() {
    for (const connection of this.#connections) connection.strand();
    this.#closeFlows();
  }

  async close() {
    this.cut();
    this.#closeFlows();
    this.#front.close();
    this.#server.close();
    await once(this.#server, 'close');
  }

  /**
   * Returns whether the next one of this kind gets lost. Each kind has random numbers of its own: how the two ways
   * interleave depends on the machine's speed, and the same seed must give the same losses.
   */
  loses(kind) {
    const random = (Math.imul(this.#random.get(kind), 1664525) + 1013904223) >>> 0;
    this.#random.set(kind, random);
    return random / 2 ** 32 < this.loss;
  }

  #accept(client) {
    const connection = new Connection(this, client, this.#target.port);
    this.#connections.add(connection);
    connection.whenEnded(() => this.#connections.delete(connection));
  }

  #send(data, from) {
    const name = `${from.address}:${from.port}`;
    if (!this.#flows.has(name))
      this.#flows.set(name, new Flow(this, this.#front, from, this.#target.rtcPort));
    this.#flows.get(name).send(data);
  }

  #closeFlows() {
    for (const flow of this.#flows.values()) flow.close();
    this.#flows.clear();
  }
}

/** `rtt` is in milliseconds; `loss` is a share from 0 to 1, and `seed` decides which are lost. */
export async function startDelayPath(t, options) {
  const path = await new DelayPath(options).listen();
  own(t, () => path.close());
  return path;
}
