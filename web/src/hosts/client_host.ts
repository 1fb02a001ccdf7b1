import { ClosedError, type HandshakeCode, type HandshakeStage } from '../errors.js';
import type { Schema } from '../messages/schema.js';
import type { Client, ClientStats } from '../secure/client.js';
import type { ClientState, Farewell } from '../secure/core_client.js';
import type { Transport, TransportClose } from '../transports/transport.js';
import { endingOf, type DisconnectReason } from './ending.js';
import { Host, type HostStats, type ReceivedEvent } from './host.js';
import { refusal } from './refusal.js';

/**
 * Where a client is: its transport is being opened, it asks the server for a connection, it answers the
 * server's challenge, it is connected, it is not or no more.
 */
export type ClientHostState =
  'opening' | 'requesting' | 'responding' | 'connected' | 'disconnected';

/** How a connection ended; code and text are the game server's, of `cw_server_disconnect`. */
export interface Disconnect extends Farewell {
  readonly reason: DisconnectReason;
  /** One sentence about it, for people. */
  readonly message: string;
}

/** The connection has ended. */
export class DisconnectedEvent extends Event implements Disconnect {
  readonly reason: DisconnectReason;
  readonly message: string;
  readonly code: number;
  readonly text: string;

  constructor({ reason, message, code, text }: Disconnect) {
    super('disconnect');
    this.reason = reason;
    this.message = message;
    this.code = code;
    this.text = text;
  }
}

/** The client is in another state. */
export class StateEvent extends Event {
  readonly state: ClientHostState;

  constructor(state: ClientHostState) {
    super('state');
    this.state = state;
  }
}

/** The events of a {@link ClientHost}. */
export interface ClientHostEvents<Of extends Schema> {
  message: ReceivedEvent<Of>;
  drain: Event;
  state: StateEvent;
  disconnect: DisconnectedEvent;
}

/** Statistics of a client: of the connection, of its encrypted packets, and of the transport. */
export interface ClientHostStats extends HostStats {
  readonly secure: ClientStats;
}

/** Milliseconds that a transport stays open for the packets that tell the server of the end. */
export const FAREWELL = 100;

const states: Partial<Record<ClientState, ClientHostState>> = {
  SENDING_REQUEST: 'requesting',
  SENDING_RESPONSE: 'responding',
  CONNECTED: 'connected',
};

/**
 * A connection with a game server, encrypted and authenticated from end to end. {@link connect} makes
 * one. Messages that arrive go to the listeners of `message` events; while there is none they wait to be
 * taken by `for await`, one by one with `next`, or by the next listener.
 */
export class ClientHost<Of extends Schema = Schema> extends Host<
  Of,
  ClientHostEvents<Of>,
  Client<Of>
> {
  /** Resolves when the connection has ended, for whatever reason; never rejects. */
  readonly closed: Promise<Disconnect>;
  /** Resolves when the server has taken the client. @internal */
  readonly connected: Promise<void>;
  #state: ClientHostState = 'requesting';
  /** When the token expires, by the clock of the world, in seconds. */
  readonly #expireTime: number;
  #resolveConnected!: () => void;
  #rejectConnected!: (reason: unknown) => void;
  #resolveClosed!: (how: Disconnect) => void;
  /** A page takes its transports along, so the server must hear of the end before. */
  readonly #pageGoes = (): void => this.abort(new ClosedError());

  /** @internal */
  constructor(client: Client<Of>, transport: Transport, expireTime: number, interval: number) {
    super(client, transport);
    this.#expireTime = expireTime;
    this.closed = new Promise((resolve) => {
      this.#resolveClosed = resolve;
    });
    this.connected = new Promise((resolve, reject) => {
      this.#resolveConnected = resolve;
      this.#rejectConnected = reject;
    });
    void transport.closed.then((close) => this.#lost(close));
    globalThis.addEventListener?.('pagehide', this.#pageGoes);
    this.transmit();
    this.start(interval);
  }

  get state(): ClientHostState {
    return this.#state;
  }

  /** While connected: the number of this client on the server, from 0, and how many there can be. */
  get slot(): { readonly index: number; readonly count: number } {
    return this.connection.slot();
  }

  protected override get open(): boolean {
    return this.#state === 'connected';
  }

  override stats(): ClientHostStats {
    return { ...super.stats(), secure: this.connection.clientStats() };
  }

  /**
   * Ends the connection and tells the server. Nothing can be sent afterwards. A page that is left or
   * closed does this by itself, over WebRTC and WebSocket; but Firefox breaks WebSockets off before it
   * tells the page, and a page that crashes tells nobody: then the server waits for its timeout.
   */
  disconnect(): void {
    this.#leave('client', 'this side has disconnected');
  }

  /** Ends the attempt to connect. @internal */
  abort(reason: unknown): void {
    this.#rejectConnected(reason);
    this.disconnect();
  }

  protected override arrived(datagram: Uint8Array<ArrayBuffer>): void {
    if (this.#state === 'disconnected') return;
    super.arrived(datagram);
    // What the next step of the handshake asks for need not wait for the tick.
    if (this.#follow()) this.transmit();
  }

  protected override tick(): void {
    super.tick();
    this.#follow();
  }

  /** Takes over the core's state; true when it is another one and not the end. */
  #follow(): boolean {
    const now = this.connection.state;
    const state = states[now] ?? 'disconnected';
    if (state === this.#state) return false;
    if (state === 'disconnected') {
      const ending = endingOf(this.connection);
      if (this.#state === 'connected') this.#end(ending.reason, ending.message);
      else this.#refuse(now as HandshakeCode, this.connection.explain());
      return false;
    }
    this.#enter(state);
    if (state === 'connected') this.#resolveConnected();
    return true;
  }

  #enter(state: ClientHostState): void {
    this.#state = state;
    this.dispatchEvent(new StateEvent(state));
  }

  /** The transport has ended, by itself or because the relay closed it. */
  #lost({ code, reason }: TransportClose): void {
    if (this.#state === 'disconnected') return;
    const message = `the relay ended the ${this.transport} transport (${[code, reason].filter(Boolean).join(' ')})`;
    if (this.#state !== 'connected') this.#refuse('TRANSPORT_CLOSED', message);
    else this.#leave('transport', message);
  }

  /** There will be no connection. */
  #refuse(code: HandshakeCode, message: string): void {
    const stage: HandshakeStage = this.#state === 'responding' ? 'response' : 'request';
    this.abort(refusal(code, stage, message, this.#expireTime));
  }

  #leave(reason: DisconnectReason, message: string): void {
    if (this.#state === 'disconnected') return;
    this.connection.disconnect();
    this.#end(reason, message);
  }

  #end(reason: DisconnectReason, message: string): void {
    const how = { reason, message, ...this.connection.farewell() };
    this.transmit(true);
    setTimeout(() => this.carrier.close(), FAREWELL);
    globalThis.removeEventListener?.('pagehide', this.#pageGoes);
    this.#enter('disconnected');
    this.finish(new DisconnectedEvent(how));
    this.#resolveClosed(how);
  }
}
