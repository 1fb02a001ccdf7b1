// A relay for development, from the WebSockets of pages to UDP sockets of one game server. It speaks to pages as
// causeway-relay does, but has no WebRTC, no limits except those below, and no proof of who a client is.
import { createSocket } from 'node:dgram';
import {
  DATAGRAM_MAX,
  MESSAGE_MAX,
  RESUME_SECONDS,
  closeCodes,
  closeTexts,
} from '../dist/generated.js';
import { SESSION_PREFIX, WEBSOCKET_PROTOCOL } from '../dist/transports/websocket.js';

const SESSIONS_MAX = 256;
/** Bytes that may wait for a page before datagrams are dropped. */
const WAITING_MAX = 16384;
/** Milliseconds after which a session ends in which no datagram comes from either side. */
const IDLE_MS = 60_000;

/** The close codes of causeway-relay, with their texts. */
const [DOWN, IDLE, MOVED, EVICTED] = ['DOWN', 'IDLE', 'MOVED', 'EVICTED'].map((name) => [
  closeCodes[name],
  closeTexts[name],
]);
const RESTARTED = [closeCodes.DOWN, 'the game server has been started again'];
/** The code with which a page closes its link on purpose. */
const CLOSE_NORMAL = 1000;

/** One player: a UDP socket to the game server, and the links that carry its datagrams. */
class Session {
  #socket;
  /** True when the socket takes datagrams; before that, sending throws. */
  #connected = false;
  #links = new Set();
  /** The link over which datagrams go to the page: the newest one that has brought a datagram. */
  #current;
  #idle = setTimeout(() => this.end(...IDLE), IDLE_MS);
  #resume;
  #ended;

  constructor({ host, port }, ended) {
    this.#ended = ended;
    this.#socket = createSocket(host.includes(':') ? 'udp6' : 'udp4');
    this.#socket.on('message', (datagram) => this.#toPage(datagram));
    // The page notices by itself that there is no server: it gets no answer.
    this.#socket.on('error', () => {});
    this.#socket.connect(port, host);
    this.#socket.once('connect', () => {
      this.#connected = true;
    });
  }

  join(link) {
    this.#links.add(link);
    clearTimeout(this.#resume);
    link.on('message', (data, isBinary) => {
      if (isBinary && data.length > 0 && data.length <= DATAGRAM_MAX) this.#toServer(link, data);
    });
    link.on('close', (code) => this.#left(link, code));
  }

  end(code, reason) {
    if (!this.#socket) return;
    clearTimeout(this.#idle);
    clearTimeout(this.#resume);
    this.#socket.close();
    this.#socket = undefined;
    for (const link of this.#links) link.close(code, reason);
    this.#ended();
  }

  #toServer(link, data) {
    if (!this.#socket || !this.#links.has(link)) return;
    const old = this.#current;
    this.#current = link;
    if (old && old !== link) {
      this.#links.delete(old);
      old.close(...MOVED);
    }
    this.#idle.refresh();
    if (this.#connected) this.#socket.send(data, () => {});
  }

  #toPage(datagram) {
    this.#idle.refresh();
    const link = this.#current;
    if (link && link.bufferedAmount + datagram.length <= WAITING_MAX)
      link.send(datagram, { binary: true });
  }

  #left(link, code) {
    if (!this.#links.delete(link)) return;
    if (this.#current === link) this.#current = undefined;
    if (this.#links.size > 0 || !this.#socket) return;
    if (code === CLOSE_NORMAL) this.end();
    else this.#resume = setTimeout(() => this.end(), RESUME_SECONDS * 1000);
  }
}

/** The sessions of all pages. */
export class DevRelay {
  #sockets;
  #sessions = new Map();
  #server;

  /** @param WebSocketServer the class of the package ws */
  constructor(WebSocketServer) {
    this.#sockets = new WebSocketServer({
      noServer: true,
      maxPayload: MESSAGE_MAX,
      perMessageDeflate: false,
      handleProtocols: () => WEBSOCKET_PROTOCOL,
    });
  }

  /**
   * Sets where datagrams go from now on: `{ host, port }`, or undefined while there is no game server. The players of
   * an earlier server are told to connect anew.
   */
  set server(server) {
    this.#server = server;
    for (const session of this.#sessions.values()) session.end(...RESTARTED);
  }

  /** Returns whether an upgrade is for the relay, by the subprotocols that it asks for. */
  wants(request) {
    return subprotocols(request).includes(WEBSOCKET_PROTOCOL);
  }

  upgrade(request, socket, head) {
    const key =
      subprotocols(request).find((name) => name.startsWith(SESSION_PREFIX)) ?? Symbol('no key');
    this.#sockets.handleUpgrade(request, socket, head, (link) => {
      link.on('error', () => {}); // a close event follows each error
      const session = this.#sessions.get(key);
      if (session) session.join(link);
      else if (!this.#server) link.close(...DOWN);
      else if (this.#sessions.size >= SESSIONS_MAX) link.close(...EVICTED);
      else this.#begin(key).join(link);
    });
  }

  /** Tells a page that asks for WebRTC or WebTransport that there is none. Browsers print other answers as errors. */
  offer(_, response) {
    response.writeHead(204).end();
  }

  close() {
    this.server = undefined;
    this.#sockets.close();
  }

  #begin(key) {
    const session = new Session(this.#server, () => this.#sessions.delete(key));
    this.#sessions.set(key, session);
    return session;
  }
}

const subprotocols = (request) =>
  (request.headers['sec-websocket-protocol'] ?? '').split(',').map((name) => name.trim());
