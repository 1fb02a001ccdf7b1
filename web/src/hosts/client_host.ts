import { Abort, reasonOf } from '../abort.js';
import { ClosedError, CoreError, type HandshakeCode } from '../errors.js';
import { DEFAULT_DATAGRAM_SIZE } from '../generated.js';
import type { Schema } from '../messages/schema.js';
import type { Client, ClientStats } from '../secure/client.js';
import type { ClientState } from '../secure/core_client.js';
import type { SessionTransport } from '../transports/links.js';
import type { Transport, TransportClose } from '../transports/transport.js';
import {
  DisconnectedEvent,
  StateEvent,
  TransportEvent,
  type ClientHostEvents,
  type ClientHostState,
  type Disconnect,
} from './client_events.js';
import { Host, fitsTransport, type HostStats } from './host.js';
import { seconds } from './message_peer.js';
import { Presence } from './presence.js';
import { endingOf, type DisconnectReason } from './ending.js';
import { reasonFor, refusal, transportEnd } from './refusal.js';
import { Servers } from './servers.js';
import type { Tokens } from './token.js';

/** Statistics of a client: of the connection, of its encrypted packets, and of the transport. */
export interface ClientHostStats extends HostStats {
  readonly secure: ClientStats;
}

/** How a client gets to its server, each time that it connects. */
export interface Way {
  readonly tokens: Tokens;
  /** @param server that the relay is asked for */
  open(signal: AbortSignal, server: string): Promise<SessionTransport>;
  through(transport: Transport): Transport;
}

/** Milliseconds that a transport stays open for the packets that tell the server of the end. */
export const FAREWELL = 100;

/** Pauses in milliseconds between the attempts of a page that is back after an absence. */
const COMEBACKS = [0, 500, 1000, 2000, 4000, 8000];

const states: Partial<Record<ClientState, ClientHostState>> = {
  SENDING_REQUEST: 'requesting',
  SENDING_RESPONSE: 'responding',
  CONNECTED: 'connected',
};

/** One connection, from the attempt to its end. */
class Life {
  /** Ends the attempt. */
  readonly attempt: Abort;
  readonly presence = new Presence(seconds());
  servers!: Servers;
  /** With the server that is being tried, or that has taken the client. */
  session: SessionTransport | undefined;
  /** The session, or what the application has put before it. */
  carrier: Transport | undefined;
  /** When its token expires, by the clock of the world, in seconds. */
  expireTime = Infinity;
  resolve!: () => void;
  reject!: (reason: unknown) => void;
  /** Settles when the server has taken the client, or there will be no connection. */
  readonly connected = new Promise<void>((resolve, reject) => {
    this.resolve = resolve;
    this.reject = reject;
  });

  constructor(signal?: AbortSignal) {
    this.attempt = new Abort(signal);
    this.attempt.signal.addEventListener('abort', () => this.reject(reasonOf(this.attempt.signal)));
    // If something else is awaited first, this is asked later.
    this.connected.catch(() => {});
  }
}

/**
 * A connection with a game server, encrypted and authenticated from end to end. {@link connect} makes
 * one. Messages that arrive go to the listeners of `message` events; while there is none they wait to be
 * taken by `for await`, one by one with `next`, or by the next listener. A way to the server that breaks
 * is replaced: the state is `reconnecting`, and messages and statistics go on.
 */
export class ClientHost<Of extends Schema = Schema> extends Host<
  Of,
  ClientHostEvents<Of>,
  Client<Of>
> {
  readonly #way: Way;
  readonly #interval: number;
  #state: ClientHostState = 'disconnected';
  #life: Life | undefined;
  #closed!: Promise<Disconnect>;
  #resolveClosed!: (how: Disconnect) => void;
  /** A page takes its transports along, so the server must hear of the end before. */
  readonly #pageGoes = (): void => {
    this.disconnect();
    if (this.#way.tokens.renewable) globalThis.addEventListener?.('pageshow', this.#pageComes);
  };
  readonly #pageComes = (event: Event): void => {
    globalThis.removeEventListener?.('pageshow', this.#pageComes);
    if (!(event as PageTransitionEvent).persisted || this.#state !== 'disconnected') return;
    this.#begin();
    void this.#comeBack('client', 'the page was left');
  };

  /** @internal */
  constructor(client: Client<Of>, way: Way, interval: number) {
    super(client);
    this.#way = way;
    this.#interval = interval;
  }

  get state(): ClientHostState {
    return this.#state;
  }

  /** Resolves when the connection has ended, for whatever reason; never rejects. */
  get closed(): Promise<Disconnect> {
    return this.#closed;
  }

  /** While connected: the number of this client on the server, from 0, and how many there can be. */
  get slot(): { readonly index: number; readonly count: number } {
    return this.connection.slot();
  }

  protected override get open(): boolean {
    return this.#state === 'connected' || this.#state === 'reconnecting';
  }

  override stats(): ClientHostStats {
    return { ...super.stats(), secure: this.connection.clientStats() };
  }

  /**
   * Connects again after the end, as a new client of the server, with a new token: `connect` must have
   * been given a function as `token`. Messages of the old connection that nobody took are gone.
   * @param options `signal` gives the attempt up when it is aborted
   * @throws what {@link connect} throws; {@link CoreError} `CONNECTED` before the end, `TOKEN_USED` when
   *   there is no function to ask for a token
   */
  async reconnect(options: { readonly signal?: AbortSignal } = {}): Promise<void> {
    if (this.#state !== 'disconnected')
      throw new CoreError(
        'CONNECTED',
        'the client is connected or connecting; disconnect it first',
      );
    this.#begin();
    try {
      await this.#join(options.signal);
    } catch (error) {
      this.#end(reasonFor(error), error instanceof Error ? error.message : String(error));
      throw error;
    }
  }

  /**
   * Ends the connection and tells the server. Nothing can be sent afterwards. A page that is left or
   * closed does this by itself, over WebRTC and WebSocket; but Firefox breaks WebSockets off before it
   * tells the page, and a page that crashes tells nobody: then the server waits for its timeout.
   */
  disconnect(): void {
    this.#life?.attempt.abort(new ClosedError());
    this.#end('client', 'this side has disconnected');
  }

  protected override arrived(datagram: Uint8Array<ArrayBuffer>): boolean {
    // What a transport still brings that is being left is of no connection.
    if (!this.#life?.carrier) return false;
    this.#look();
    const taken = super.arrived(datagram);
    if (taken && states[this.connection.state]) this.#heard();
    // What the next step of the handshake asks for need not wait for the tick.
    if (this.#follow()) this.transmit();
    return taken;
  }

  protected override tick(): void {
    this.#look();
    super.tick();
    this.#follow();
    this.#listen();
  }

  #begin(): void {
    this.#closed = new Promise((resolve) => {
      this.#resolveClosed = resolve;
    });
    globalThis.removeEventListener?.('pageshow', this.#pageComes);
    globalThis.addEventListener?.('pagehide', this.#pageGoes);
  }

  /** Becomes a client of the server. */
  async #join(signal?: AbortSignal): Promise<void> {
    const life = new Life(signal);
    const { attempt } = life;
    this.#life = life;
    this.#enter('opening');
    try {
      const token = await Promise.race([this.#way.tokens.next(), life.connected]);
      if (!token) throw new ClosedError();
      life.expireTime = token.expireTime;
      life.servers = new Servers(token.servers, (server) => this.#way.open(attempt.signal, server));
      await this.#approach(life, 0, token.bytes);
      await life.connected;
    } catch (error) {
      if (this.#life === life) this.#part();
      throw error;
    } finally {
      attempt.release();
    }
  }

  /**
   * Opens the way to the server of this index, or to one behind it.
   * @param token to begin with
   */
  async #approach(life: Life, index: number, token?: Uint8Array): Promise<void> {
    this.#enter('opening');
    const session = await life.servers.open(index);
    if (this.#life !== life) return session.close();
    life.session = session;
    const carrier = (life.carrier = this.#way.through(session));
    const needed = Math.max(DEFAULT_DATAGRAM_SIZE, this.connection.maxDatagramSize);
    fitsTransport(needed, carrier);
    if (token) this.connection.connect(token, seconds());
    this.connection.tryServer(life.servers.index, seconds());
    this.#enter('requesting');
    this.#carry(life, session, carrier);
  }

  /** The session carries the connection, or the attempt. */
  #carry(life: Life, session: SessionTransport, carrier: Transport): void {
    const isCurrent = (): boolean => this.#life === life && life.session === session;
    session.addEventListener('transport', () => {
      if (isCurrent()) this.dispatchEvent(new TransportEvent(session.kind));
    });
    session.addEventListener('state', () => {
      const isLost = session.state === 'reconnecting' && this.#state === 'connected';
      if (isCurrent() && isLost) this.#enter('reconnecting');
    });
    // The relay may have another session now, which the server knows nothing of.
    session.addEventListener('relink', () => {
      if (!isCurrent() || !this.open) return;
      this.connection.move(seconds());
      this.transmit();
    });
    void carrier.closed.then((close) => {
      if (isCurrent()) this.#lost(life, close);
    });
    this.start(carrier, this.#interval);
    this.transmit();
  }

  /** Goes from the server that has not taken the client to the one of this index. */
  #leave(life: Life, index: number): void {
    const { carrier } = life;
    life.carrier = life.session = undefined;
    this.stop();
    carrier!.ondatagram = null;
    carrier!.close();
    this.#approach(life, index).catch((error: unknown) => life.reject(error));
  }

  #heard(): void {
    this.#life?.presence.heard(seconds());
    if (this.#state === 'reconnecting' && this.#life?.session?.state === 'open')
      this.#enter('connected');
  }

  #look(): void {
    const { session, presence } = this.#life ?? {};
    presence?.look(seconds(), session?.state === 'open');
  }

  /** Looks after the way to the server. */
  #listen(): void {
    const { session, presence } = this.#life ?? {};
    if (!session || !presence || !this.open) return;
    const now = seconds();
    if (session.state === 'open' && presence.isSilent(now)) {
      session.renew();
      this.#enter('reconnecting');
    } else if (presence.isForgotten(now) && this.#way.tokens.renewable) {
      this.#timedOut('the server does not know this client any more');
    }
  }

  /** Takes over the core's state; true when it is another one and not the end. */
  #follow(): boolean {
    const { serverIndex, state: now } = this.connection;
    const state = states[now] ?? 'disconnected';
    const isSame = state === 'connected' ? this.open : state === this.#state;
    const life = this.#life;
    if (life?.carrier && state === 'requesting' && serverIndex !== life.servers.index) {
      this.#leave(life, serverIndex);
      return false;
    }
    if (isSame || this.#state === 'disconnected') return false;
    if (state === 'disconnected') {
      const { reason, message } = endingOf(this.connection);
      const loss = this.#life?.session?.loss;
      if (!this.open && loss) this.#refuseWith(loss);
      else if (!this.open) this.#refuse(now as HandshakeCode, this.connection.explain());
      else if (reason === 'timeout') this.#timedOut(message);
      else this.#end(reason, message);
      return false;
    }
    this.#enter(state);
    if (state === 'connected') {
      this.#life?.session?.keep();
      this.#life?.resolve();
    }
    return true;
  }

  #enter(state: ClientHostState): void {
    if (state === this.#state) return;
    this.#state = state;
    this.dispatchEvent(new StateEvent(state));
  }

  /** Nothing has come for too long. A page that did not run meanwhile begins anew if it can. */
  #timedOut(message: string): void {
    const { presence, session } = this.#life!;
    const { absence } = presence;
    if (absence > 0) {
      const what = `the page did not run for ${absence.toFixed(0)} s, and ${message}`;
      if (this.#way.tokens.renewable) void this.#comeBack('timeout', what);
      else this.#end('timeout', what);
    } else if (session?.loss) {
      const { message: what } = transportEnd(this.transport, session.loss);
      this.#end('transport', `${what}, and cannot be reached any more: ${message}`);
    } else {
      this.#end('timeout', message);
    }
  }

  /** Connects anew after an absence, during which the network may have gone too. */
  async #comeBack(reason: DisconnectReason, message: string): Promise<void> {
    const { closed } = this;
    // Somebody may disconnect meanwhile, and even connect again.
    const isOver = (): boolean => this.#closed !== closed || this.#state === 'disconnected';
    this.#part();
    for (const pause of COMEBACKS) {
      this.#enter('reconnecting');
      await new Promise((resolve) => setTimeout(resolve, pause));
      if (isOver()) return;
      try {
        return await this.#join();
      } catch {
        if (isOver()) return;
      }
    }
    this.#end(reason, message);
  }

  /** The transport has ended, by itself or because the relay closed it. */
  #lost(life: Life, close: TransportClose): void {
    if (this.#state === 'disconnected') return;
    if (this.open) return this.#end('transport', transportEnd(this.transport, close).message);
    const next = life.servers.after(close);
    if (next === undefined) this.#refuseWith(close);
    else this.#leave(life, next);
  }

  #refuseWith(close: TransportClose): void {
    const { code, message } = transportEnd(this.transport, close);
    this.#refuse(code, message);
  }

  /** There will be no connection. */
  #refuse(code: HandshakeCode, message: string): void {
    const answers = this.#state === 'responding' || code === 'RESPONSE_TIMED_OUT';
    const stage = answers ? 'response' : 'request';
    this.#life!.reject(refusal(code, stage, message, this.#life!.expireTime));
  }

  /** Leaves the server and the transport; no connection is left. */
  #part(): void {
    if (!this.#life) return;
    const { session, carrier = session } = this.#life;
    this.#life = undefined;
    this.connection.disconnect();
    if (!carrier) return;
    this.transmit(true);
    this.stop();
    setTimeout(() => carrier.close(), FAREWELL);
  }

  #end(reason: DisconnectReason, message: string): void {
    if (this.#state === 'disconnected') return;
    const how = { reason, message, ...this.connection.farewell() };
    this.#part();
    globalThis.removeEventListener?.('pagehide', this.#pageGoes);
    this.#enter('disconnected');
    this.finish(new DisconnectedEvent(how));
    this.#resolveClosed(how);
  }
}
