import type { Core } from '../core.js';
import { Deferred } from '../deferred.js';
import { DEFAULT_DATAGRAM_SIZE } from '../generated.js';
import type { Schema } from '../messages/schema.js';
import type { ChannelStats } from '../messages/types.js';
import type { Client, ClientStats } from '../secure/client.js';
import type { TransportKind } from '../transports/transport.js';
import { fitsTransport } from './carrier.js';
import {
  DisconnectedEvent,
  StateEvent,
  TransportEvent,
  type GameClientEvents,
  type GameClientState,
  type Disconnect,
} from './client_events.js';
import { ClientRunner, type Access } from './client_runner.js';
import { Host, type HostStats } from './host.js';
import { Messages } from './messages.js';

/** Statistics of a client: of the connection, of its encrypted packets, and of the transport. */
export interface GameClientStats extends HostStats {
  readonly secure: ClientStats;
  /** The id of its connect token, see `connectTokenId`. */
  readonly tokenId: string | undefined;
}

/**
 * A connection with a game server, encrypted and authenticated from end to end. {@link connect} makes one. Messages
 * that arrive go to the listeners of `message` events; while there is none they wait to be taken by `for await`, one by
 * one with `next`, or by the next listener. When the way to the server breaks, it is replaced: the state is
 * `reconnecting`, and messages and statistics go on.
 */
export class GameClient<Of extends Schema = Schema> extends Host<Of, GameClientEvents<Of>> {
  readonly #client: Client<Of>;
  readonly #runner: ClientRunner;
  /** @internal */
  protected override readonly messages: Messages<Of>;
  #closed!: Deferred<Disconnect>;

  /** @internal */
  constructor(core: Core, client: Client<Of>, access: Access) {
    super();
    this.#client = client;
    const messages = (this.messages = new Messages(client, this, () => this.#runner.isOpen));
    this.#runner = new ClientRunner(core, client, access, {
      begun: () => {
        this.#closed = new Deferred();
      },
      carried: (transport) => {
        fitsTransport(Math.max(DEFAULT_DATAGRAM_SIZE, client.maxDatagramSize), transport);
        this.begin();
        messages.begin();
      },
      entered: (state) => this.dispatchEvent(new StateEvent(state)),
      switched: (kind) => this.dispatchEvent(new TransportEvent(kind)),
      received: () => {
        messages.progress();
        this.hand();
      },
      ticked: () => messages.progress(),
      stopped: () => messages.giveUp(),
      ended: (reason, message, _close, awaited) => {
        const how = { reason, message, ...client.farewell() };
        this.finish(awaited ? undefined : new DisconnectedEvent(how));
        this.#closed.resolve(how);
      },
    });
  }

  get state(): GameClientState {
    return this.#runner.state;
  }

  /** The kind of transport that carries the connection. */
  get transport(): TransportKind {
    return this.#runner.transport.kind;
  }

  /** Resolves when the connection has ended, for whatever reason; never rejects. */
  get closed(): Promise<Disconnect> {
    return this.#closed.promise;
  }

  /** While connected: the number of this client on the server, from 0, and how many there can be. */
  get slot(): { readonly index: number; readonly count: number } {
    return this.#client.slot();
  }

  stats(): GameClientStats {
    const client = this.#client;
    const { transport, tokenId } = this.#runner;
    return {
      ...client.stats(),
      transport: transport.stats(),
      secure: client.clientStats(),
      tokenId,
    };
  }

  channelStats(channel: number): ChannelStats {
    return this.#client.channelStats(channel);
  }

  /**
   * Connects again after the end, as a new client of the server, with a new token: `connect` must have
   * been given a function as `token`. Messages of the old connection that nobody took are gone.
   * @param options `signal` gives the attempt up when it is aborted
   * @throws what {@link connect} throws; {@link MisuseError} `CONNECTED` before the end, `TOKEN_USED` when
   *   there is no function to ask for a token
   */
  reconnect(options: { readonly signal?: AbortSignal } = {}): Promise<void> {
    return this.#runner.connect(options.signal);
  }

  /**
   * Ends the connection and tells the server. Nothing can be sent afterwards. A page that is left or
   * closed does this by itself, over WebRTC and WebSocket; but Firefox breaks WebSockets off before it
   * tells the page, and a page that crashes tells nobody: then the server waits for its timeout.
   */
  disconnect(): void {
    this.#runner.disconnect();
  }

  /** Gives the memory back, which nothing may use any more. @internal */
  destroy(): void {
    this.#runner.destroy();
  }
}
