import { Deferred } from '../deferred.js';
import { closedError } from '../errors.js';
import { Host, type ReceivedEvent } from '../hosts/host.js';
import { Messages } from '../hosts/messages.js';
import type { AnyAnswerer } from '../hosts/requests.js';
import type { MessageArguments, MessageName, Schema } from '../messages/schema.js';
import type { ChannelStats, ConnectionEvent, ConnectionStats } from '../messages/types.js';
import type { SlotConnection } from './server.js';
import type { ServerClientInfo, ServerDisconnectReason } from './types.js';

/** The connection with a client has ended. */
export class ClientDisconnectedEvent extends Event {
  constructor(readonly reason: ServerDisconnectReason) {
    super('disconnect');
  }
}

/** The events of a {@link ServerClient}. */
export interface ServerClientEvents<Of extends Schema> {
  message: ReceivedEvent<Of>;
  drain: Event;
  disconnect: ClientDisconnectedEvent;
}

/** The options of a kick. */
export interface KickOptions {
  /** A number for the player's program. Default 0. */
  readonly code?: number;
  /** The seconds in which messages that were sent before may still arrive. Default 0: the connection ends at once. */
  readonly flushSeconds?: number;
}

/** Clients use this part of their server. @internal */
export interface ClientOwner<Of extends Schema> {
  info(slot: number): ServerClientInfo | undefined;
  kick(client: ServerClient<Of>, text: string, options: KickOptions): void;
  clients: ReadonlySet<ServerClient<Of>>;
  /** Returns the server's own function that answers such requests of this client. */
  answererOf(type: string, client: ServerClient<Of>): AnyAnswerer | undefined;
  broadcastTo(clients: Iterable<ServerClient<Of>>, message: readonly unknown[]): ServerClient<Of>[];
}

/**
 * A client that is connected to this server. Messages that it sends go to the listeners of `message` events; while
 * there is none they wait to be taken by `for await`, one by one with `next`, or by the next listener. An application
 * that takes none holds the client back; nothing is lost and no memory grows. Messages that have arrived can still be
 * taken when the connection has ended.
 */
export class ServerClient<Of extends Schema = Schema> extends Host<Of, ServerClientEvents<Of>> {
  /** The client's place in the server, from 0; another client gets the place later. */
  readonly slot: number;
  readonly #connection: SlotConnection<Of>;
  /** @internal */
  protected override readonly messages: Messages<Of>;
  readonly #owner: ClientOwner<Of>;
  #info: ServerClientInfo;
  #open = true;
  /** True when the slot belongs to another client. */
  #gone = false;
  readonly #closed = new Deferred<ServerDisconnectReason>();
  /** Resolves when the connection has ended, for whatever reason; never rejects. */
  readonly closed = this.#closed.promise;

  /** @internal */
  constructor(connection: SlotConnection<Of>, slot: number, owner: ClientOwner<Of>) {
    super();
    this.#connection = connection;
    this.messages = new Messages(connection, this, () => this.#open);
    this.slot = slot;
    this.#owner = owner;
    this.#info = owner.info(slot)!;
  }

  /** The number of the player, which the backend has put into the token. */
  get id(): bigint {
    return this.#info.id;
  }

  /** The id of the token that it connected with, see `connectTokenId`. */
  get tokenId(): string {
    return this.#info.tokenId;
  }

  /** The address that its datagrams come from: `'203.0.113.7:50000'`. It may change. */
  get address(): string {
    return this.#fresh().address;
  }

  /** Datagrams of this client that were dropped because more came than the server's `clientDatagramsPerSecond`. */
  get datagramsRefused(): number {
    return this.#fresh().datagramsRefused;
  }

  /** The 256 bytes that the backend has put into the token. */
  get userData(): Uint8Array<ArrayBuffer> {
    return this.#info.userData;
  }

  get state(): 'connected' | 'disconnected' {
    return this.#open ? 'connected' : 'disconnected';
  }

  /**
   * Ends the connection: the player's client is told `'kicked'`, with the code and this text, of which at most 128
   * bytes are sent. Nothing can be sent to it afterwards.
   * @throws RangeError for a code that is no whole number of 32 bits
   */
  kick(text = '', options: KickOptions = {}): void {
    if (!this.#open) return;
    this.#owner.kick(this, text, options);
    this.#open = false;
  }

  /**
   * Sends a message to all other clients.
   * @returns the clients that had no room for it
   * @throws what {@link send} throws because of the message. Nothing is sent then.
   */
  broadcast<Name extends MessageName<Of>>(
    ...message: MessageArguments<Of, Name>
  ): ServerClient<Of>[];
  broadcast<Name extends MessageName<Of>>(
    channel: number,
    ...message: MessageArguments<Of, Name>
  ): ServerClient<Of>[];
  broadcast(...message: unknown[]): ServerClient<Of>[] {
    const others = [...this.#owner.clients].filter((client) => client !== this);
    return this.#owner.broadcastTo(others, message);
  }

  /**
   * Returns the statistics of the path and the connection.
   * @throws {@link ConnectionError} when the connection has ended.
   */
  stats(): ConnectionStats {
    this.#look();
    return this.#connection.stats();
  }

  /** @throws {@link ConnectionError} when the connection has ended; RangeError when there is no such channel. */
  channelStats(channel: number): ChannelStats {
    this.#look();
    return this.#connection.channelStats(channel);
  }

  /** Returns the client's own function that answers requests of this type, or else the server's. @internal */
  override answererOf(type: string): AnyAnswerer | undefined {
    return super.answererOf(type) ?? this.#owner.answererOf(type, this);
  }

  /** Passes on what has arrived from the client. @internal */
  arrived(): void {
    this.messages.progress();
    this.hand();
  }

  /** Takes an event of the connection that came just before its end. @internal */
  leave(event: ConnectionEvent<Of>): void {
    this.messages.leave(event);
  }

  /**
   * Ends the connection, whose slot may go to another client.
   * @returns a function that tells the application
   * @internal
   */
  end(reason: ServerDisconnectReason): () => void {
    this.#open = false;
    this.#gone = true;
    this.messages.gone();
    return () => {
      this.messages.giveUp();
      this.#closed.resolve(reason);
      this.finish(new ClientDisconnectedEvent(reason));
    };
  }

  /** Returns what is known of the client now, or was when it left. */
  #fresh(): ServerClientInfo {
    if (!this.#gone) this.#info = this.#owner.info(this.slot) ?? this.#info;
    return this.#info;
  }

  #look(): void {
    if (this.#gone) throw closedError();
  }
}
