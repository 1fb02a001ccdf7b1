import { Deferred } from '../deferred.js';
import { ConnectError } from '../errors.js';
import { pauseMs } from './dialer.js';
import { addStats, type Session, type SessionTransport } from './links.js';
import type {
  Transport,
  TransportClose,
  TransportKind,
  TransportState,
  TransportStats,
} from './transport.js';

/**
 * The first datagrams wait for so long for relays that open after the first one. Opening takes three round trips or
 * more, so a relay that is later than this is 0.1 s farther away.
 */
const LATE_SECONDS = 0.3;

/** A relay that could not be opened is tried again after about this many seconds, and then after twice as many. */
const RETRY_SECONDS = 0.5;
const RETRY_MOST_SECONDS = 30;

/** Opens a session of one relay. */
export type OpenRelay = (signal: AbortSignal) => Promise<SessionTransport>;

/** One of the relays, and the attempt to open a session there. */
interface Relay {
  readonly open: OpenRelay;
  attempt?: AbortController | undefined;
  timer?: ReturnType<typeof setTimeout>;
  failures: number;
  error?: unknown;
}

/**
 * A session with the nearest of several relays. It sends through all of them until the first datagram comes back, which
 * has been to the game server: a relay that is near, but far from the server, does not win. It asks the others again
 * when the link to this relay is lost or silent. A server that has a client by one relay leaves what comes by another
 * alone until the client says that it has moved.
 */
export class NearestSession extends EventTarget implements Session {
  readonly maxDatagramSize: number;
  readonly #closed = new Deferred<TransportClose>();
  readonly closed = this.#closed.promise;
  readonly #opened = new Deferred<void>();
  /** Resolves when something can be sent; rejects when no relay opens. */
  readonly opened = this.#opened.promise;
  ondrop: Transport['ondrop'] = null;
  #handler: Transport['ondatagram'] = null;
  readonly #relays: readonly Relay[];
  /** The sessions that have not ended, with their relays. */
  readonly #sessions = new Map<SessionTransport, Relay>();
  /** The session that has won, also while others are asked again; before there is one, the first that opened. */
  #current: SessionTransport | undefined;
  /** True while it is not known which relay is the nearest. */
  #asks = true;
  #state: TransportState = 'open';
  #kept = false;
  #late: ReturnType<typeof setTimeout> | undefined;
  /** The end of the last session that ended. */
  #last: TransportClose | undefined;
  #past: TransportStats | undefined;

  constructor(relays: readonly OpenRelay[], maxDatagramSize: number) {
    super();
    this.maxDatagramSize = maxDatagramSize;
    this.#relays = relays.map((open) => ({ open, failures: 0 }));
    this.#relays.forEach((relay) => this.#dial(relay));
  }

  get kind(): TransportKind {
    return this.#current!.kind;
  }

  get state(): TransportState {
    return this.#state;
  }

  get loss(): TransportClose | undefined {
    return this.#current?.loss;
  }

  get ondatagram(): Transport['ondatagram'] {
    return this.#handler;
  }

  set ondatagram(handler: Transport['ondatagram']) {
    this.#handler = handler;
    for (const session of this.#sessions.keys()) this.#listen(session);
  }

  send(datagram: Uint8Array<ArrayBuffer>, last = false): boolean {
    if (!this.#asks) return this.#current!.send(datagram, last);
    let taken = false;
    for (const session of this.#sessions.keys()) taken = session.send(datagram, last) || taken;
    return taken;
  }

  isBusy(size: number): boolean {
    return this.#current!.isBusy(size);
  }

  stats(): TransportStats {
    return [...this.#sessions.keys()].reduce(
      (sum, session) => addStats(sum, session.stats()),
      this.#past,
    )!;
  }

  renew(): void {
    this.#current!.renew();
    this.#ask();
  }

  keep(): void {
    this.#kept = true;
    this.#current!.keep();
  }

  close(code = 1000, reason = ''): void {
    if (this.#state === 'closing' || this.#state === 'closed') return;
    this.#stop();
    this.#enter('closing');
    if (this.#sessions.size === 0) this.#end({ code, reason });
    for (const session of this.#sessions.keys()) session.close(code, reason);
  }

  #dial(relay: Relay): void {
    const attempt = (relay.attempt = new AbortController());
    relay.open(attempt.signal).then(
      (session) => {
        if (relay.attempt !== attempt) return session.close();
        relay.attempt = undefined;
        relay.failures = 0;
        this.#join(session, relay);
      },
      (error: unknown) => {
        if (relay.attempt !== attempt) return;
        relay.attempt = undefined;
        relay.error = error;
        this.#failed(relay);
      },
    );
  }

  #join(session: SessionTransport, relay: Relay): void {
    this.#current ??= session;
    this.#sessions.set(session, relay);
    this.#listen(session);
    session.addEventListener('state', () => this.#look());
    for (const type of ['transport', 'relink'])
      session.addEventListener(type, () => {
        if (session === this.#current) this.dispatchEvent(new Event(type));
      });
    void session.closed.then((close) => this.#ended(session, close));
    this.#look();
    if (this.#kept) this.dispatchEvent(new Event('relink'));
    else this.#late ??= setTimeout(() => this.#opened.resolve(), LATE_SECONDS * 1000);
    this.#openWhenAll();
  }

  #failed(relay: Relay): void {
    if (this.#kept) {
      const pause = Math.min(RETRY_SECONDS * 2 ** relay.failures++, RETRY_MOST_SECONDS);
      relay.timer = setTimeout(() => this.#dial(relay), pauseMs(pause, relay.error));
    } else if (this.#sessions.size > 0) this.#openWhenAll();
    else if (this.#areTried) {
      if (this.#last) this.#end(this.#last);
      this.#opened.reject(ConnectError.ofAll(this.#relays.map(({ error }) => error)));
    }
  }

  /** True when all relays have been opened, or cannot be. */
  get #areTried(): boolean {
    return this.#relays.every(({ attempt }) => !attempt);
  }

  #openWhenAll(): void {
    if (this.#areTried) this.#opened.resolve();
  }

  #listen(session: SessionTransport): void {
    session.ondrop = (datagram) => session === this.#current && this.ondrop?.(datagram);
    session.ondatagram =
      this.#handler &&
      ((datagram) => {
        if (this.#asks) this.#settle(session);
        if (session === this.#current) this.#handler?.(datagram);
      });
  }

  /** Asks the other relays, because nothing comes by this one any more. */
  #ask(): void {
    if (this.#asks || !this.#kept) return;
    this.#asks = true;
    const own = this.#sessions.get(this.#current!);
    for (const relay of this.#relays) if (relay !== own) this.#dial(relay);
  }

  /** Goes on over this session alone. */
  #settle(winner: SessionTransport): void {
    const old = this.#current!;
    const { kind } = old;
    this.#stop();
    this.#asks = false;
    this.#current = winner;
    if (this.#kept) winner.keep();
    for (const session of this.#sessions.keys()) if (session !== winner) session.close();
    if (winner.kind !== kind) this.dispatchEvent(new Event('transport'));
    this.#look();
  }

  #ended(session: SessionTransport, close: TransportClose): void {
    const relay = this.#sessions.get(session)!;
    this.#past = addStats(this.#past, session.stats());
    this.#sessions.delete(session);
    const [next] = this.#sessions.keys();
    if (session === this.#current && next) this.#current = next;
    this.#last = close;
    if (!next && (this.#areTried || !this.#asks)) this.#end(close);
    else if (this.#kept && this.#asks) this.#failed(relay);
  }

  /** Takes over the state of the sessions: one that is open is enough. */
  #look(): void {
    if (this.#state === 'closing' || this.#state === 'closed') return;
    const isOpen = [...this.#sessions.keys()].some(({ state }) => state === 'open');
    if (this.#current!.state === 'reconnecting') this.#ask();
    this.#enter(isOpen ? 'open' : 'reconnecting');
  }

  #enter(state: TransportState): void {
    if (state === this.#state) return;
    this.#state = state;
    this.dispatchEvent(new Event('state'));
  }

  /** Gives up the attempts to open other relays. */
  #stop(): void {
    clearTimeout(this.#late);
    for (const relay of this.#relays) {
      clearTimeout(relay.timer);
      relay.attempt?.abort();
      relay.attempt = undefined;
    }
  }

  #end(close: TransportClose): void {
    this.#stop();
    this.#enter('closed');
    this.#closed.resolve(close);
  }
}
