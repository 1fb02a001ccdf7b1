import { Abort, reasonOf } from '../abort.js';
import { seconds } from '../clock.js';
import type { Core } from '../core.js';
import { Deferred } from '../deferred.js';
import { ConnectError, MisuseError, closedError, type HandshakeCode } from '../errors.js';
import { CLIENT_FAREWELL_MS } from '../generated.js';
import type { ClientState } from '../secure/core_client.js';
import type { PayloadClient } from '../secure/payload_client.js';
import { Policy } from '../secure/policy.js';
import type { Session } from '../transports/links.js';
import type { Transport, TransportClose, TransportKind } from '../transports/transport.js';
import { Carrier } from './carrier.js';
import type { GameClientState } from './client_events.js';
import { endingOf, type DisconnectReason } from './ending.js';
import { PageVisit } from './page_visit.js';
import { reasonFor, refusal, transportEnd } from './refusal.js';
import { endsForServer, openServer, saysDown } from './servers.js';
import type { ReadToken, Tokens } from './token.js';

/** The steps by which a client gets to its server, each time that it connects. */
export interface Access {
  readonly tokens: Tokens;
  /** True when the client connects anew by itself after an absence, with another token. */
  readonly returns: boolean;
  /** True when it does so after every end that another token may mend. */
  readonly reconnects?: boolean;
  /**
   * @param server the server that the relay is asked for
   * @param relays the relays that came with the token
   */
  open(signal: AbortSignal, server: string, relays?: readonly URL[]): Promise<Session>;
  readonly through: ((transport: Transport) => Transport) | undefined;
  /** Milliseconds from tick to tick. */
  readonly interval: number;
}

/** The calls by which a runner tells what happens. */
interface ClientRunnerCalls {
  /** An attempt to connect the client has begun. It, or the connection, lasts until {@link ended}. */
  begun?(): void;
  /** Another transport is about to carry the attempt. An error ends it. */
  carried(transport: Transport): void;
  entered?(state: GameClientState): void;
  /** The connection goes over another kind of transport. */
  switched?(kind: TransportKind): void;
  /** A datagram has come. */
  received(): void;
  ticked?(): void;
  /** The connection with a server is over, with all that has not been acked. */
  stopped?(): void;
  /**
   * @param close the end of the transport, if that was the reason
   * @param awaited whether somebody waits for the attempt and gets an error
   */
  ended(
    reason: DisconnectReason,
    message: string,
    close: TransportClose | undefined,
    awaited: boolean,
  ): void;
}

/** The part of a client that a runner uses. */
type RunnableClient = Omit<PayloadClient, 'next' | 'send'>;

const states: Partial<Record<ClientState, GameClientState>> = {
  SENDING_REQUEST: 'requesting',
  SENDING_RESPONSE: 'responding',
  CONNECTED: 'connected',
};

const codeOf = (error: unknown): string => (error instanceof ConnectError ? error.code : '');

/** One attempt to connect, and the connection that it becomes. */
class Attempt {
  /** Ends the attempt. */
  readonly abort: Abort;
  token: ReadToken | undefined;
  /** The session with the server that is being tried, or that has taken the client. */
  session: Session | undefined;
  /** The carrier over the session, or over what the application has put before it. */
  carrier: Carrier | undefined;
  /** Settles when the server has taken the client, or there will be no connection. */
  readonly connected = new Deferred<void>();

  constructor(signal?: AbortSignal) {
    this.abort = new Abort(signal);
    this.abort.signal.addEventListener('abort', () =>
      this.connected.reject(reasonOf(this.abort.signal)),
    );
    // This handles a rejection before anything awaits the promise.
    this.connected.promise.catch(() => {});
  }
}

/**
 * Runs a client: gets it to a server and carries its datagrams, as its policy says. When the way to the server breaks,
 * the way is replaced.
 */
export class ClientRunner {
  readonly #client: RunnableClient;
  readonly #policy: Policy;
  readonly #access: Access;
  readonly #calls: ClientRunnerCalls;
  readonly #visit: PageVisit;
  #state: GameClientState = 'disconnected';
  #attempt: Attempt | undefined;
  /** The carrier of datagrams now, or the last one. */
  #carrier: Carrier | undefined;
  /** The number of times that the client was to be connected. */
  #runs = 0;
  /** True while the caller of {@link connect} waits, who gets the error. */
  #awaited = false;

  constructor(core: Core, client: RunnableClient, access: Access, calls: ClientRunnerCalls) {
    this.#client = client;
    this.#policy = new Policy(core, access.returns, access.reconnects ?? false);
    this.#access = access;
    this.#calls = calls;
    // The server is told of the end when the page goes, because its transports go with it.
    this.#visit = new PageVisit(
      () => this.disconnect(),
      access.returns ? () => this.#returned() : undefined,
    );
  }

  get state(): GameClientState {
    return this.#state;
  }

  get isOpen(): boolean {
    return this.#state === 'connected' || this.#state === 'reconnecting';
  }

  /** The id of the connect token of the connection, or of the attempt. */
  get tokenId(): string | undefined {
    return this.#attempt?.token?.id;
  }

  /** The transport that carries the connection now, or did until it ended. */
  get transport(): Transport {
    return this.#carrier!.transport;
  }

  /**
   * Connects, as a new client of the server with a new token.
   * @throws what `connect` throws; {@link MisuseError} `CONNECTED` before the end, `TOKEN_USED` without another token
   */
  async connect(signal?: AbortSignal): Promise<void> {
    if (this.#state !== 'disconnected')
      throw new MisuseError(
        'CONNECTED',
        'the client is connected or connecting; disconnect it first',
      );
    this.#begin();
    this.#awaited = true;
    this.#policy.start(false);
    try {
      await this.#joinInTime(signal);
    } catch (error) {
      this.#end(reasonFor(error), error instanceof Error ? error.message : String(error));
      throw error;
    }
  }

  /** Ends the connection or the attempt, and tells the server. */
  disconnect(): void {
    this.#attempt?.abort.abort(closedError());
    this.#end('client', 'this side has disconnected');
  }

  /** Sends the datagrams that are due, and returns whether the transport took them all. */
  transmit(): boolean {
    return this.#carrier!.transmit();
  }

  /** Returns whether a datagram of `size` bytes has to wait because too much is leaving already. */
  isBusy(size: number): boolean {
    return Boolean(this.#attempt?.session?.isBusy(size));
  }

  /** Gives the memory of the client and its policy back. */
  destroy(): void {
    this.#client.destroy();
    this.#policy.destroy();
  }

  #begin(): void {
    this.#runs++;
    this.#calls.begun?.();
    this.#visit.begin();
  }

  /** Comes back when the browser shows a page again that was left. */
  #returned(): void {
    if (this.#state !== 'disconnected') return;
    this.#begin();
    this.#awaited = false;
    this.#policy.start(true);
    void this.#comeBack('client', 'the page was left');
  }

  /** Becomes a client of the server, which may have to start first, or may ask for another token. */
  async #joinInTime(signal?: AbortSignal): Promise<void> {
    for (;;) {
      let isDown = false;
      try {
        return await this.#join(signal);
      } catch (error) {
        isDown = Boolean(this.#access.reconnects) && saysDown(error);
        if (!(isDown || codeOf(error) === 'NOT_YET') || !this.#policy.returns) throw error;
      }
      const { abort, connected } = (this.#attempt = new Attempt(signal));
      const pause = this.#policy.pause(() => abort.signal.aborted);
      await Promise.race([pause, connected.promise]).finally(() => abort.release());
      // The pauses do not grow: the relay itself gives a server some seconds before it says that there is none.
      if (isDown) this.#policy.start(false);
    }
  }

  /** Makes one attempt to become a client of the server. */
  async #join(signal?: AbortSignal): Promise<void> {
    const attempt = new Attempt(signal);
    const { abort } = attempt;
    this.#attempt = attempt;
    this.#enter('opening');
    try {
      const token = await Promise.race([this.#access.tokens.next(), attempt.connected.promise]);
      if (!token) throw closedError();
      attempt.token = token;
      this.#policy.token(token.servers.length, token.expireTime);
      await this.#approach(attempt, token.bytes);
      await attempt.connected.promise;
    } catch (error) {
      if (this.#attempt === attempt) {
        this.#policy.fail(codeOf(error) === 'SCHEMA' ? 'SCHEMA' : 'REQUEST_TIMED_OUT');
        this.#part();
      }
      if (error instanceof ConnectError) error.tokenId = attempt.token?.id;
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
    const { servers, relays } = attempt.token!;
    const open = (server: string): Promise<Session> =>
      this.#access.open(attempt.abort.signal, server, relays);
    const session = await openServer(this.#policy, servers, open);
    if (this.#attempt !== attempt) return session.close();
    attempt.session = session;
    const carrier = new Carrier(this.#client, this.#access.through?.(session) ?? session);
    attempt.carrier = this.#carrier = carrier;
    this.#calls.carried(carrier.transport);
    if (token) this.#client.connect(token, seconds());
    this.#client.tryServer(this.#policy.server, seconds());
    this.#policy.link(true);
    this.#enter('requesting');
    this.#carry(attempt, session, carrier);
  }

  /** Lets the session carry the connection, or the attempt. */
  #carry(attempt: Attempt, session: Session, carrier: Carrier): void {
    const isCurrent = (): boolean => this.#attempt === attempt && attempt.session === session;
    session.addEventListener('transport', () => {
      if (isCurrent()) this.#calls.switched?.(session.kind);
    });
    session.addEventListener('state', () => {
      if (!isCurrent()) return;
      this.#policy.link(session.state === 'open');
      const isLost = session.state === 'reconnecting' && this.#state === 'connected';
      if (isLost) this.#enter('reconnecting');
    });
    // The relay may have another session now, with an address that the server does not know.
    session.addEventListener('relink', () => {
      if (!isCurrent() || !this.isOpen) return;
      this.#client.move(seconds());
      carrier.transmit();
    });
    void carrier.transport.closed.then((close) => {
      if (isCurrent()) this.#lost(attempt, close);
    });
    const arrived = (datagram: Uint8Array): void => {
      // A transport that is being left may still bring datagrams, which belong to no connection.
      if (isCurrent()) this.#arrived(attempt, carrier, datagram);
    };
    carrier.start(this.#access.interval, arrived, () => this.#tick(carrier));
    carrier.transmit();
  }

  #arrived(attempt: Attempt, carrier: Carrier, datagram: Uint8Array): void {
    const taken = this.#client.receive(datagram, seconds());
    this.#calls.received();
    if (this.#attempt !== attempt) return;
    if (taken && states[this.#client.state]) this.#received();
    // The answer for the next step of the handshake need not wait for the tick.
    if (this.#follow()) carrier.transmit();
  }

  #tick(carrier: Carrier): void {
    this.#policy.update();
    this.#client.update(seconds());
    carrier.transmit();
    this.#calls.ticked?.();
    this.#follow();
  }

  /** Goes from the server that has not taken the client to the one that the policy tries. */
  #leave(attempt: Attempt): void {
    const { carrier } = attempt;
    attempt.carrier = attempt.session = undefined;
    this.#stop(carrier!);
    carrier!.transport.ondatagram = null;
    carrier!.transport.close();
    this.#approach(attempt).catch((error: unknown) => attempt.connected.reject(error));
  }

  #stop(carrier: Carrier): void {
    carrier.stop();
    this.#calls.stopped?.();
  }

  #received(): void {
    this.#policy.hear();
    if (this.#state === 'reconnecting' && this.#attempt?.session?.state === 'open')
      this.#enter('connected');
  }

  /** Takes over the core's state. Returns true when the state is new and is not the end. */
  #follow(): boolean {
    const attempt = this.#attempt;
    if (!attempt?.carrier) return false;
    this.#client.tell(this.#policy);
    if (!this.#act(attempt)) return false;
    const state = states[this.#client.state];
    const isSame = state === 'connected' ? this.isOpen : state === this.#state;
    if (!state || isSame) return false;
    this.#enter(state);
    if (state === 'connected') {
      this.#awaited = false;
      attempt.session?.keep();
      attempt.connected.resolve();
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
  #ended({ session }: Attempt): void {
    const client = this.#client;
    if (!this.isOpen && session?.loss) return this.#refuseWith(session.loss);
    if (!this.isOpen) return this.#refuse(client.state as HandshakeCode, client.explain());
    const { reason, message } = endingOf(client);
    if (reason === 'timeout' || this.#policy.returns) this.#timedOut(reason, message);
    else this.#end(reason, message);
  }

  #enter(state: GameClientState): void {
    if (state === this.#state) return;
    this.#state = state;
    this.#calls.entered?.(state);
  }

  /** Handles a server that has been silent for too long, or another end after which the client may come back. */
  #timedOut(reason: DisconnectReason, message: string): void {
    const { absence } = this.#policy;
    const loss = this.#attempt?.session?.loss;
    if (absence > 0) {
      this.#leaveOff(reason, `the page did not run for ${absence.toFixed(0)} s, and ${message}`);
    } else if (loss) {
      const { message: what } = transportEnd(this.transport.kind, loss);
      this.#leaveOff('transport', `${what}, and cannot be reached any more: ${message}`, loss);
    } else {
      this.#leaveOff(reason, message);
    }
  }

  /** Ends the connection, and begins anew if the policy says so. */
  #leaveOff(reason: DisconnectReason, message: string, close?: TransportClose): void {
    if (this.#policy.returns) void this.#comeBack(reason, message);
    else this.#end(reason, message, close);
  }

  /** Connects anew after an absence, during which the network may have gone too. */
  async #comeBack(reason: DisconnectReason, message: string): Promise<void> {
    const run = this.#runs;
    // Meanwhile the application may disconnect, and even connect again.
    const isOver = (): boolean => this.#runs !== run || this.#state === 'disconnected';
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
    if (this.isOpen) this.#brokenOff(close);
    else if (endsForServer(close) && this.#policy.skip()) this.#leave(attempt);
    else this.#refuseWith(close);
  }

  /** Handles the end of the transport of a connection. The relay may have ended it for good. */
  #brokenOff(close: TransportClose): void {
    const { code, message } = transportEnd(this.transport.kind, close);
    const isFinal = !new ConnectError(code, 'request', message).retryable;
    if (this.#access.reconnects) this.#policy.fail(isFinal ? 'KICKED' : 'TIMED_OUT');
    this.#leaveOff('transport', message, close);
  }

  #refuseWith(close: TransportClose): void {
    const { code, message } = transportEnd(this.transport.kind, close);
    this.#refuse(code, message);
  }

  /** Rejects the attempt: there will be no connection. */
  #refuse(code: HandshakeCode, message: string): void {
    const answers = this.#state === 'responding' || code === 'RESPONSE_TIMED_OUT';
    const stage = answers ? 'response' : 'request';
    this.#attempt!.connected.reject(refusal(code, stage, message, this.#policy));
  }

  /** Closes the transport when there is no connection any more. */
  #part(): void {
    if (!this.#attempt) return;
    const { session, carrier } = this.#attempt;
    this.#attempt = undefined;
    this.#client.disconnect();
    const transport = carrier?.transport ?? session;
    if (!transport) return;
    carrier?.transmit(true);
    if (carrier) this.#stop(carrier);
    setTimeout(() => transport.close(), CLIENT_FAREWELL_MS);
  }

  #end(reason: DisconnectReason, message: string, close?: TransportClose): void {
    if (this.#state === 'disconnected') return;
    this.#part();
    this.#visit.end();
    this.#enter('disconnected');
    this.#calls.ended(reason, message, close, this.#awaited);
  }
}
