import { Abort, reasonOf } from '../abort.js';
import { ClosedError, CoreError, HandshakeError, type HandshakeCode } from '../errors.js';
import { CLIENT_FAREWELL_MS, DEFAULT_DATAGRAM_SIZE } from '../generated.js';
import type { Schema } from '../messages/schema.js';
import type { Client, ClientStats } from '../secure/client.js';
import type { ClientState } from '../secure/core_client.js';
import type { Policy } from '../secure/policy.js';
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
import { endingOf, type DisconnectReason } from './ending.js';
import { reasonFor, refusal, transportEnd } from './refusal.js';
import { endsForServer, openServer } from './servers.js';
import type { Tokens } from './token.js';

/** Statistics of a client: of the connection, of its encrypted packets, and of the transport. */
export interface ClientHostStats extends HostStats {
  readonly secure: ClientStats;
}

/** The steps by which a client gets to its server, each time that it connects. */
export interface Access {
  readonly tokens: Tokens;
  /** @param server the server that the relay is asked for */
  open(signal: AbortSignal, server: string): Promise<SessionTransport>;
  through(transport: Transport): Transport;
}

const states: Partial<Record<ClientState, ClientHostState>> = {
  SENDING_REQUEST: 'requesting',
  SENDING_RESPONSE: 'responding',
  CONNECTED: 'connected',
};

/** One attempt to connect, and the connection that it becomes. */
class Attempt {
  /** Ends the attempt. */
  readonly abort: Abort;
  /** The servers of its token, under the names that a relay expects. */
  servers: readonly string[] = [];
  /** The session with the server that is being tried, or that has taken the client. */
  session: SessionTransport | undefined;
  /** The session, or what the application has put before it. */
  carrier: Transport | undefined;
  resolve!: () => void;
  reject!: (reason: unknown) => void;
  /** Settles when the server has taken the client, or there will be no connection. */
  readonly connected = new Promise<void>((resolve, reject) => {
    this.resolve = resolve;
    this.reject = reject;
  });

  constructor(signal?: AbortSignal) {
    this.abort = new Abort(signal);
    this.abort.signal.addEventListener('abort', () => this.reject(reasonOf(this.abort.signal)));
    // This handles a rejection before anything awaits the promise.
    this.connected.catch(() => {});
  }
}

/**
 * A connection with a game server, encrypted and authenticated from end to end. {@link connect} makes one. Messages
 * that arrive go to the listeners of `message` events; while there is none they wait to be taken by `for await`, one by
 * one with `next`, or by the next listener. When the way to the server breaks, it is replaced: the state is
 * `reconnecting`, and messages and statistics go on.
 */
export class ClientHost<Of extends Schema = Schema> extends Host<
  Of,
  ClientHostEvents<Of>,
  Client<Of>
> {
  readonly #access: Access;
  readonly #policy: Policy;
  readonly #interval: number;
  #state: ClientHostState = 'disconnected';
  #attempt: Attempt | undefined;
  #closed!: Promise<Disconnect>;
  #resolveClosed!: (how: Disconnect) => void;
  /** Tells the server of the end when the page goes, because its transports go with it. */
  readonly #pageGoes = (): void => {
    this.disconnect();
    if (this.#access.tokens.renewable) globalThis.addEventListener?.('pageshow', this.#pageComes);
  };
  readonly #pageComes = (event: Event): void => {
    globalThis.removeEventListener?.('pageshow', this.#pageComes);
    if (!(event as PageTransitionEvent).persisted || this.#state !== 'disconnected') return;
    this.#begin();
    this.#policy.start(true);
    void this.#comeBack('client', 'the page was left');
  };

  /** @internal */
  constructor(client: Client<Of>, policy: Policy, access: Access, interval: number) {
    super(client);
    this.#policy = policy;
    this.#access = access;
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
    this.#policy.start(false);
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
    this.#attempt?.abort.abort(new ClosedError());
    this.#end('client', 'this side has disconnected');
  }

  protected override arrived(datagram: Uint8Array<ArrayBuffer>): boolean {
    // A transport that is being left may still bring datagrams, which belong to no connection.
    if (!this.#attempt?.carrier) return false;
    const taken = super.arrived(datagram);
    if (taken && states[this.connection.state]) this.#heard();
    // The answer for the next step of the handshake need not wait for the tick.
    if (this.#follow()) this.transmit();
    return taken;
  }

  protected override tick(): void {
    this.#policy.update();
    super.tick();
    this.#follow();
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
    const attempt = new Attempt(signal);
    const { abort } = attempt;
    this.#attempt = attempt;
    this.#enter('opening');
    try {
      const token = await Promise.race([this.#access.tokens.next(), attempt.connected]);
      if (!token) throw new ClosedError();
      attempt.servers = token.servers;
      this.#policy.token(token.servers.length, token.expireTime);
      await this.#approach(attempt, token.bytes);
      await attempt.connected;
    } catch (error) {
      if (this.#attempt === attempt) {
        const isSchema = error instanceof HandshakeError && error.code === 'SCHEMA';
        this.#policy.fail(isSchema ? 'SCHEMA' : 'REQUEST_TIMED_OUT');
        this.#part();
      }
      throw error;
    } finally {
      abort.release();
    }
  }

  /**
   * Opens the way to the server that the policy tries, or to one behind it.
   * @param token the token to begin with, unless the client has one already
   */
  async #approach(attempt: Attempt, token?: Uint8Array): Promise<void> {
    this.#enter('opening');
    const open = (server: string): Promise<SessionTransport> =>
      this.#access.open(attempt.abort.signal, server);
    const session = await openServer(this.#policy, attempt.servers, open);
    if (this.#attempt !== attempt) return session.close();
    attempt.session = session;
    const carrier = (attempt.carrier = this.#access.through(session));
    const needed = Math.max(DEFAULT_DATAGRAM_SIZE, this.connection.maxDatagramSize);
    fitsTransport(needed, carrier);
    if (token) this.connection.connect(token, seconds());
    this.connection.tryServer(this.#policy.server, seconds());
    this.#policy.link(true);
    this.#enter('requesting');
    this.#carry(attempt, session, carrier);
  }

  /** Lets the session carry the connection, or the attempt. */
  #carry(attempt: Attempt, session: SessionTransport, carrier: Transport): void {
    const isCurrent = (): boolean => this.#attempt === attempt && attempt.session === session;
    session.addEventListener('transport', () => {
      if (isCurrent()) this.dispatchEvent(new TransportEvent(session.kind));
    });
    session.addEventListener('state', () => {
      if (!isCurrent()) return;
      this.#policy.link(session.state === 'open');
      const isLost = session.state === 'reconnecting' && this.#state === 'connected';
      if (isLost) this.#enter('reconnecting');
    });
    // The relay may have another session now, which the server knows nothing of.
    session.addEventListener('relink', () => {
      if (!isCurrent() || !this.open) return;
      this.connection.move(seconds());
      this.transmit();
    });
    void carrier.closed.then((close) => {
      if (isCurrent()) this.#lost(attempt, close);
    });
    this.start(carrier, this.#interval);
    this.transmit();
  }

  /** Goes from the server that has not taken the client to the one that the policy tries. */
  #leave(attempt: Attempt): void {
    const { carrier } = attempt;
    attempt.carrier = attempt.session = undefined;
    this.stop();
    carrier!.ondatagram = null;
    carrier!.close();
    this.#approach(attempt).catch((error: unknown) => attempt.reject(error));
  }

  #heard(): void {
    this.#policy.hear();
    if (this.#state === 'reconnecting' && this.#attempt?.session?.state === 'open')
      this.#enter('connected');
  }

  /** Takes over the core's state. Returns true when it is a new one and not the end. */
  #follow(): boolean {
    const attempt = this.#attempt;
    if (!attempt?.carrier) return false;
    this.connection.tell(this.#policy);
    if (!this.#act(attempt)) return false;
    const state = states[this.connection.state];
    const isSame = state === 'connected' ? this.open : state === this.#state;
    if (!state || isSame) return false;
    this.#enter(state);
    if (state === 'connected') {
      attempt.session?.keep();
      attempt.resolve();
    }
    return true;
  }

  /** Does what the policy says, and returns whether the way to the server is still the same. */
  #act(attempt: Attempt): boolean {
    switch (this.#policy.next()) {
      case 'OPEN':
        this.#leave(attempt);
        return false;
      case 'RENEW':
        attempt.session?.renew();
        this.#enter('reconnecting');
        return true;
      case 'END':
        this.#ended(attempt);
        return false;
      default:
        return true;
    }
  }

  /** Handles the end of the connection, or of the attempt. */
  #ended(attempt: Attempt): void {
    const { connection, open } = this;
    const loss = attempt.session?.loss;
    if (!open && loss) return this.#refuseWith(loss);
    if (!open) return this.#refuse(connection.state as HandshakeCode, connection.explain());
    const { reason, message } =
      connection.state === 'CONNECTED'
        ? { reason: 'timeout' as const, message: 'the server does not know this client any more' }
        : endingOf(connection);
    if (reason === 'timeout' || this.#policy.returns) this.#timedOut(reason, message);
    else this.#end(reason, message);
  }

  #enter(state: ClientHostState): void {
    if (state === this.#state) return;
    this.#state = state;
    this.dispatchEvent(new StateEvent(state));
  }

  /** Handles a server that has been silent for too long. A page that did not run meanwhile begins anew if it can. */
  #timedOut(reason: DisconnectReason, message: string): void {
    const { absence, returns } = this.#policy;
    const loss = this.#attempt?.session?.loss;
    if (absence > 0) {
      const what = `the page did not run for ${absence.toFixed(0)} s, and ${message}`;
      if (returns) void this.#comeBack(reason, what);
      else this.#end(reason, what);
    } else if (loss) {
      const { message: what } = transportEnd(this.transport, loss);
      this.#end('transport', `${what}, and cannot be reached any more: ${message}`);
    } else {
      this.#end(reason, message);
    }
  }

  /** Connects anew after an absence, during which the network may have gone too. */
  async #comeBack(reason: DisconnectReason, message: string): Promise<void> {
    const { closed } = this;
    // The application may disconnect meanwhile, and even connect again.
    const isOver = (): boolean => this.#closed !== closed || this.#state === 'disconnected';
    this.#part();
    do {
      this.#enter('reconnecting');
      await this.#policy.pause(isOver);
      if (isOver()) return;
      try {
        return await this.#join();
      } catch {
        if (isOver()) return;
      }
    } while (this.#policy.returns);
    this.#end(reason, message);
  }

  /** Handles the end of the transport, which broke or was closed by the relay. */
  #lost(attempt: Attempt, close: TransportClose): void {
    if (this.#state === 'disconnected') return;
    if (this.open) return this.#end('transport', transportEnd(this.transport, close).message);
    if (endsForServer(close) && this.#policy.skip()) this.#leave(attempt);
    else this.#refuseWith(close);
  }

  #refuseWith(close: TransportClose): void {
    const { code, message } = transportEnd(this.transport, close);
    this.#refuse(code, message);
  }

  /** Rejects the attempt: there will be no connection. */
  #refuse(code: HandshakeCode, message: string): void {
    const answers = this.#state === 'responding' || code === 'RESPONSE_TIMED_OUT';
    const stage = answers ? 'response' : 'request';
    this.#attempt!.reject(refusal(code, stage, message, this.#policy));
  }

  /** Leaves the server and the transport; no connection is left. */
  #part(): void {
    if (!this.#attempt) return;
    const { session, carrier = session } = this.#attempt;
    this.#attempt = undefined;
    this.connection.disconnect();
    if (!carrier) return;
    this.transmit(true);
    this.stop();
    setTimeout(() => carrier.close(), CLIENT_FAREWELL_MS);
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
