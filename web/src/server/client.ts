import { ReceivedEvent } from '../hosts/message_target.js';
import { MessagePeer } from '../hosts/message_peer.js';
import { ClosedError } from '../errors.js';
import type { MessageBlock, MessageName, MessageValue, Schema } from '../messages/schema.js';
import type { ChannelStats, ConnectionEvent, ConnectionStats, Message } from '../messages/types.js';
import type { SlotConnection } from './server.js';
import type { ServerClientFacts, ServerDisconnectReason } from './types.js';

/** The connection with a client has ended. */
export class ClientDisconnectedEvent extends Event {
  readonly reason: ServerDisconnectReason;

  constructor(reason: ServerDisconnectReason) {
    super('disconnect');
    this.reason = reason;
  }
}

/** The events of a {@link ServerClient}. */
export interface ServerClientEvents<Of extends Schema> {
  message: ReceivedEvent<Of>;
  drain: Event;
  disconnect: ClientDisconnectedEvent;
}

/** How a client is kicked. */
export interface KickOptions {
  /** A number of yours, for the player's program. Default 0. */
  readonly code?: number;
  /** For how long what was sent before may still arrive. Default 0: it ends at once. */
  readonly flushSeconds?: number;
}

/** What the server does for one of its clients. @internal */
export interface ClientOwner<Of extends Schema> {
  facts(slot: number): ServerClientFacts | undefined;
  kick(client: ServerClient<Of>, text: string, options: KickOptions): void;
  clients: ReadonlySet<ServerClient<Of>>;
  broadcastTo<Name extends MessageName<Of>>(
    clients: Iterable<ServerClient<Of>>,
    channel: number,
    type: Name,
    value: MessageValue<Of, Name>,
    ...block: MessageBlock<Of, Name>
  ): ServerClient<Of>[];
}

/**
 * A client that is connected to this server. Messages that it sends go to the listeners of `message` events; while
 * there is none they wait to be taken by `for await`, one by one with `next`, or by the next listener. Who takes none
 * holds the client back; nothing is lost and no memory grows. What has arrived can still be taken when the
 * connection has ended.
 */
export class ServerClient<Of extends Schema = Schema> extends MessagePeer<
  Of,
  ServerClientEvents<Of>,
  SlotConnection<Of>
> {
  /** Its place in the server, from 0; another client has it later. */
  readonly slot: number;
  /** Resolves when the connection has ended, for whatever reason; never rejects. */
  readonly closed: Promise<ServerDisconnectReason>;
  readonly #owner: ClientOwner<Of>;
  #facts: ServerClientFacts;
  #open = true;
  /** Whether the slot is another's now. */
  #gone = false;
  /** What had arrived when the connection ended. */
  readonly #left: Message<Of>[] = [];
  #resolveClosed!: (reason: ServerDisconnectReason) => void;

  /** @internal */
  constructor(connection: SlotConnection<Of>, slot: number, owner: ClientOwner<Of>) {
    super(connection);
    this.slot = slot;
    this.#owner = owner;
    this.#facts = owner.facts(slot)!;
    this.closed = new Promise((resolve) => {
      this.#resolveClosed = resolve;
    });
  }

  /** Who the player is, as the backend numbers them. */
  get id(): bigint {
    return this.#facts.id;
  }

  /** Where its datagrams come from: `'203.0.113.7:50000'`. It may move. */
  get address(): string {
    return this.#fresh().address;
  }

  /** Datagrams of it that were dropped because more came than the server's `clientDatagramsPerSecond`. */
  get datagramsRefused(): number {
    return this.#fresh().datagramsRefused;
  }

  /** What the backend has put into the token, 256 bytes. */
  get userData(): Uint8Array<ArrayBuffer> {
    return this.#facts.userData;
  }

  get state(): 'connected' | 'disconnected' {
    return this.#open ? 'connected' : 'disconnected';
  }

  protected override get open(): boolean {
    return this.#open;
  }

  /**
   * Ends the connection: the player's client is told `'kicked'`, with this text, of which at most 128 bytes are sent,
   * and the code. Nothing can be sent to it afterwards.
   * @throws RangeError for a code that is no whole number of 32 bits
   */
  kick(text = '', options: KickOptions = {}): void {
    if (!this.#open) return;
    this.#owner.kick(this, text, options);
    this.#open = false;
  }

  /**
   * Sends a message to all others.
   * @returns the clients that had no room for it
   * @throws what {@link send} throws because of the message. Nothing is sent then.
   */
  broadcast<Name extends MessageName<Of>>(
    channel: number,
    type: Name,
    value: MessageValue<Of, Name>,
    ...block: MessageBlock<Of, Name>
  ): ServerClient<Of>[] {
    const others = [...this.#owner.clients].filter((client) => client !== this);
    return this.#owner.broadcastTo(others, channel, type, value, ...block);
  }

  /** What the path is like now. @throws {@link ClosedError} when the connection has ended. */
  stats(): ConnectionStats {
    this.#look();
    return this.connection.stats();
  }

  /** @throws {@link ClosedError} when the connection has ended; RangeError when there is no such channel. */
  override channelStats(channel: number): ChannelStats {
    this.#look();
    return super.channelStats(channel);
  }

  /** Something has arrived from it. @internal */
  arrived(): void {
    this.settle();
    this.tellOfRoom();
    this.hand();
  }

  /** What its connection told last. @internal */
  leave(event: ConnectionEvent<Of>): void {
    if (event.type === 'message') this.#left.push(event.message);
    else this.tell(event.receipt, event.type);
  }

  /** The slot is another's now. @returns what tells it @internal */
  end(reason: ServerDisconnectReason): () => void {
    this.#open = false;
    this.#gone = true;
    return () => {
      this.giveUp();
      this.#resolveClosed(reason);
      this.finish(new ClientDisconnectedEvent(reason));
    };
  }

  /** @internal */
  protected override take(): Message<Of> | undefined {
    return this.#gone ? this.#left.shift() : super.take();
  }

  /** @internal */
  protected override settle(): void {
    if (!this.#gone) super.settle();
  }

  /** What is known of it now, or was when it left. */
  #fresh(): ServerClientFacts {
    if (!this.#gone) this.#facts = this.#owner.facts(this.slot) ?? this.#facts;
    return this.#facts;
  }

  #look(): void {
    if (this.#gone) throw new ClosedError();
  }
}
