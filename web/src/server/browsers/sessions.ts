import { seconds } from '../../clock.js';
import { closeCodes, closeTexts } from '../../generated.js';
import { SESSION_PREFIX, WEBSOCKET_PROTOCOL } from '../../transports/websocket.js';
import { Crowd } from './crowd.js';
import { headerOf, listOf, type HttpRequest, type HttpServer, type HttpSocket } from './http.js';
import { BrowserLink, type Farewell } from './link.js';
import { BrowserSession, type SessionOwner } from './session.js';
import type { Visitor, Visitors } from './visitors.js';
import { createWsServer } from './ws.js';

/** These sessions may exist besides two for each slot of the server: strangers who are still to prove themselves. */
const STRANGERS_MAX = 256;

/**
 * The prefix of the addresses where the server sees the players: a network of IPv6 from which no packet comes
 * (RFC 6666).
 */
const VIRTUAL = '100::';

const FULL: Farewell = [closeCodes.EVICTED, closeTexts.EVICTED];
const STOPPING: Farewell = [closeCodes.DRAIN, closeTexts.DRAIN];
const FOREIGN: Farewell = [closeCodes.ORIGIN, 'this origin is not allowed (origins)'];

/** The figures of players in browsers, counted since the server began, except the first. */
export interface BrowserStats {
  /** Sessions of players, and of strangers who are still to prove themselves, now. */
  readonly sessions: number;
  /** Sessions that were refused, or ended for another, because there was no room, or none for their address. */
  readonly refusedFull: number;
  /** WebSockets of pages whose origin is not allowed. */
  readonly refusedOrigin: number;
  /** Messages that came and were dropped: they are no datagrams, or more than are allowed. */
  readonly droppedReceived: number;
  /** Datagrams that were dropped because the browser takes them too slowly, or has no WebSocket at the moment. */
  readonly droppedSent: number;
}

/** The calls by which sessions reach the server. */
export interface BrowserListener {
  /** Takes a datagram; returns whether there is a client at its address. */
  datagram(datagram: Uint8Array, host: string, port: number): boolean;
  /** Returns whether there is a client at an address. */
  hasClient(host: string, port: number): boolean;
}

/** The options of sessions. */
export interface BrowserOptions {
  readonly maxClients: number;
  readonly maxSessionsPerAddress: number;
  readonly datagramsPerSecond: number;
}

const PORT = 1;

/** Returns whether an address is one of those where the server sees players in browsers. */
export const isVirtual = (host: string): boolean => host.startsWith(VIRTUAL);

/** Refuses a request before it becomes a WebSocket. */
function refuse(socket: HttpSocket): void {
  socket.on('error', () => {});
  socket.once('finish', () => socket.destroy());
  socket.end('HTTP/1.1 400 Bad Request\r\nconnection: close\r\ncontent-length: 0\r\n\r\n');
}

/** Other parts of the application have so many seconds to take the connection of an upgrade. */
const TAKE_SECONDS = 5;

/**
 * Leaves the connection of an upgrade to other parts of the application. Node no longer looks after it, so it ends here
 * when none of them takes it.
 */
function leave(socket: HttpSocket): void {
  socket.on('error', () => {});
  const timer = setTimeout(() => {
    if (socket.readableFlowing === null) socket.destroy();
  }, TAKE_SECONDS * 1000);
  socket.once('close', () => clearTimeout(timer));
}

/**
 * The players in browsers, whose WebSockets come to the HTTP server of the application. To them it is a relay, with the
 * rules of one: each session has a virtual address, and goes on when its WebSocket is replaced.
 */
export class BrowserSessions implements SessionOwner {
  readonly datagramsPerSecond: number;
  readonly #http: HttpServer;
  readonly #visitors: Visitors;
  readonly #ws = createWsServer();
  readonly #most: number;
  readonly #crowd: Crowd;
  readonly #byHost = new Map<string, BrowserSession>();
  readonly #byKey = new Map<string, BrowserSession>();
  readonly #stats = { refusedFull: 0, refusedOrigin: 0, droppedReceived: 0, droppedSent: 0 };
  readonly #upgrade = (request: HttpRequest, socket: HttpSocket, head: Uint8Array): void =>
    this.#wanted(request, socket, head);
  #listener: BrowserListener | undefined;
  #timer: ReturnType<typeof setInterval> | undefined;
  #opened = 0;

  /** @throws ConnectError when the package `ws` is not installed */
  constructor(http: HttpServer, visitors: Visitors, options: BrowserOptions) {
    this.#http = http;
    this.#visitors = visitors;
    this.datagramsPerSecond = options.datagramsPerSecond;
    this.#most = 2 * options.maxClients + STRANGERS_MAX;
    this.#crowd = new Crowd(options.maxSessionsPerAddress);
  }

  /** Begins to take WebSockets. */
  listen(listener: BrowserListener): void {
    this.#listener = listener;
    this.#http.on('upgrade', this.#upgrade);
    this.#timer = setInterval(() => this.#look(), 1000);
  }

  /** Sends a datagram to a virtual address. */
  send(datagram: Uint8Array, host: string): void {
    if (!this.#byHost.get(host)?.send(datagram)) this.#stats.droppedSent++;
  }

  /** Returns the player's own address. */
  addressOf(host: string): string | undefined {
    return this.#byHost.get(host)?.visitor.address;
  }

  stats(): BrowserStats {
    return { sessions: this.#byHost.size, ...this.#stats };
  }

  /** Ends all sessions. The HTTP server is the application's, and goes on. */
  close(): void {
    clearInterval(this.#timer);
    this.#http.off('upgrade', this.#upgrade);
    for (const session of [...this.#byHost.values()]) session.end(STOPPING);
  }

  /** Takes a datagram of a session; returns whether the server has a client there. */
  datagram(datagram: Uint8Array, { host }: BrowserSession): boolean {
    return this.#listener!.datagram(datagram, host, PORT);
  }

  /** Returns whether the server has a client at a session. */
  hasClient({ host }: BrowserSession): boolean {
    return this.#listener!.hasClient(host, PORT);
  }

  /** Counts a message that was dropped. */
  dropped(): void {
    this.#stats.droppedReceived++;
  }

  /** Forgets a session that has ended. */
  ended(session: BrowserSession): void {
    this.#byHost.delete(session.host);
    if (session.key) this.#byKey.delete(session.key);
    this.#crowd.leave(session.visitor.owner);
  }

  #wanted(request: HttpRequest, socket: HttpSocket, head: Uint8Array): void {
    const wishes = listOf(request, 'sec-websocket-protocol');
    if (!wishes.includes(WEBSOCKET_PROTOCOL)) {
      // It may be for another part of the application. If there is none, nobody else would answer.
      if (this.#http.listenerCount('upgrade') === 1) refuse(socket);
      else leave(socket);
      return;
    }
    const keys = wishes.filter((wish) => wish.startsWith(SESSION_PREFIX));
    const key = keys[0]?.slice(SESSION_PREFIX.length);
    if (keys.length > 1 || (key !== undefined && !/^[\w-]{22}$/.test(key))) return refuse(socket);
    this.#ws.handleUpgrade(request, socket, head, (ws) => {
      const link = new BrowserLink(ws, socket);
      const refusal = this.#open(link, request, key);
      if (refusal) link.close(refusal);
    });
  }

  /** Gives a link to the session that it names, or to a new one; returns why it cannot have one. */
  #open(link: BrowserLink, request: HttpRequest, secret: string | undefined): Farewell | undefined {
    if (!this.#visitors.allows(request)) {
      this.#stats.refusedOrigin++;
      return FOREIGN;
    }
    const visitor = this.#visitors.of(request);
    // A page of another origin that knows the key has a session of its own.
    const key = secret && `${headerOf(request, 'origin')} ${secret}`;
    const session = this.#find(key, visitor) ?? this.#begin(key, visitor);
    if (!session) this.#stats.refusedFull++;
    session?.join(link, visitor);
    return session ? undefined : FULL;
  }

  /** Returns the session with a key, which counts for the visitor from now on. */
  #find(key: string | undefined, { owner }: Visitor): BrowserSession | undefined {
    const session = key ? this.#byKey.get(key) : undefined;
    const old = session?.visitor.owner;
    if (old === undefined || old === owner) return session;
    if (!this.#crowd.enter(owner)) return undefined;
    this.#crowd.leave(old);
    return session;
  }

  #begin(key: string | undefined, visitor: Visitor): BrowserSession | undefined {
    const { owner } = visitor;
    // The address of the session with this key has no room for it.
    if ((key && this.#byKey.has(key)) || !this.#crowd.enter(owner)) return undefined;
    if (!this.#makeRoom(owner)) {
      this.#crowd.leave(owner);
      return undefined;
    }
    const number = this.#opened++;
    const high = 1 + (Math.floor(number / 0x10000) % 0xffff);
    const host = `${VIRTUAL}${high.toString(16)}:${(number % 0x10000).toString(16)}`;
    const session = new BrowserSession(host, key, visitor, this);
    this.#byHost.set(host, session);
    if (key) this.#byKey.set(key, session);
    return session;
  }

  /**
   * Finds a place for one more session: that of a stranger whose address has the most, the oldest first. Returns false
   * when the newcomer's own address has as many, or all are players.
   */
  #makeRoom(owner: string): boolean {
    if (this.#byHost.size < this.#most) return true;
    let most = this.#crowd.of(owner) - 1; // the newcomer is counted already
    let victim: BrowserSession | undefined;
    for (const session of this.#byHost.values()) {
      const count = session.isClient ? 0 : this.#crowd.of(session.visitor.owner);
      if (count > most) [most, victim] = [count, session];
    }
    if (victim) this.#stats.refusedFull++;
    victim?.end(FULL);
    return victim !== undefined;
  }

  #look(): void {
    const now = seconds();
    for (const session of [...this.#byHost.values()]) session.look(now);
  }
}
