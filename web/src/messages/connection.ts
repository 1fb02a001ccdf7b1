import type { Core } from '../core.js';
import { ClosedError } from '../errors.js';
import type {
  Transport,
  TransportClose,
  TransportKind,
  TransportState,
  TransportStats,
} from '../transports/transport.js';
import {
  Conversation,
  type ChannelStats,
  type ConversationConfig,
  type ConversationStats,
  type Message,
} from './conversation.js';
import type { MessageName, MessageValue, Schema } from './schema.js';

/** What a {@link Connection} can be told. */
export interface ConnectionConfig extends ConversationConfig {
  /** Rounds of datagrams in a second. Default 60. */
  readonly tickRate?: number;
}

/** A message has arrived. */
export class MessageEvent<Of extends Schema = Schema> extends Event {
  readonly message: Message<Of>;

  constructor(message: Message<Of>) {
    super('message');
    this.message = message;
  }
}

/** The connection has ended. */
export class CloseEvent extends Event implements TransportClose {
  readonly code: number;
  readonly reason: string;

  constructor({ code, reason }: TransportClose) {
    super('close');
    this.code = code;
    this.reason = reason;
  }
}

/** The events of a connection. */
export interface ConnectionEvents<Of extends Schema> {
  message: MessageEvent<Of>;
  close: CloseEvent;
}

/** Statistics of a connection, and of the transport that carries it. */
export interface ConnectionStats extends ConversationStats {
  readonly transport: TransportStats;
}

const seconds = (): number => performance.now() / 1000;

/**
 * A conversation in messages with a game server over a transport, which it takes over. Messages that
 * arrive are taken in one of three ways: by listeners of `message` events, by `for await`, or one by one
 * with `next`. Who takes none holds the sender back; nothing is lost and no memory grows. What has arrived
 * can still be taken when the connection has ended.
 */
export class Connection<Of extends Schema = Schema> extends EventTarget {
  /** Resolves when the connection has ended, for whatever reason; never rejects. */
  readonly closed: Promise<TransportClose>;
  readonly #transport: Transport;
  readonly #conversation: Conversation<Of>;
  readonly #timer: ReturnType<typeof setInterval>;
  /** Whether messages go to listeners, which they do from the first listener on. */
  #events = false;
  #ended = false;
  #wake: (() => void) | undefined;

  /** @throws {@link CoreError} with a code that says which part of schema or config cannot work. */
  constructor(core: Core, schema: Of, transport: Transport, config: ConnectionConfig = {}) {
    super();
    this.#conversation = new Conversation(core, schema, config);
    this.#transport = transport;
    this.#timer = setInterval(() => this.#tick(), 1000 / (config.tickRate ?? 60));
    transport.ondatagram = (datagram) => {
      this.#conversation.receive(datagram, seconds());
      this.#hand();
    };
    this.closed = transport.closed.then((close) => this.#end(close));
  }

  /** Over which kind of transport it goes. */
  get transport(): TransportKind {
    return this.#transport.kind;
  }

  get state(): TransportState {
    return this.#transport.state;
  }

  /**
   * Sends a message on a channel: with the next datagrams, within a tick.
   * @param block bytes to go along, if the message's type and the channel carry blocks
   * @throws RangeError or TypeError that names the field whose value does not fit; {@link CoreError}
   *   `QUEUE_FULL`, `POOL_EMPTY`, `MESSAGE_TOO_LARGE`, `BLOCK_...`; {@link ClosedError} when the
   *   connection has ended. Nothing is sent then.
   */
  send<Name extends MessageName<Of>>(
    channel: number,
    type: Name,
    value: MessageValue<Of, Name>,
    block?: Uint8Array,
  ): void {
    if (this.state !== 'open') throw new ClosedError();
    this.#conversation.send(channel, type, value, seconds(), block);
  }

  /** Takes the next message that arrived, `undefined` when there is none now. */
  next(): Message<Of> | undefined {
    return this.#conversation.next();
  }

  /** Takes messages as they arrive, until the connection ends. */
  async *[Symbol.asyncIterator](): AsyncGenerator<Message<Of>, void> {
    for (;;) {
      for (let message = this.next(); message; message = this.next()) yield message;
      if (this.#ended) return;
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
  }

  stats(): ConnectionStats {
    return { ...this.#conversation.stats(), transport: this.#transport.stats() };
  }

  channelStats(channel: number): ChannelStats {
    return this.#conversation.channelStats(channel);
  }

  /** Ends the connection; `closed` resolves when it has ended. Nothing can be sent afterwards. */
  close(code?: number, reason?: string): void {
    this.#transport.close(code, reason);
  }

  override addEventListener<Type extends keyof ConnectionEvents<Of>>(
    type: Type,
    listener: (event: ConnectionEvents<Of>[Type]) => void,
    options?: boolean | AddEventListenerOptions,
  ): void;
  override addEventListener(
    type: string,
    listener: EventListenerOrEventListenerObject | null,
    options?: boolean | AddEventListenerOptions,
  ): void;
  override addEventListener(
    type: string,
    listener: EventListenerOrEventListenerObject | null,
    options?: boolean | AddEventListenerOptions,
  ): void {
    super.addEventListener(type, listener, options);
    this.#events ||= type === 'message';
    this.#hand();
  }

  /** Hands messages to listeners, or says to a loop that there are some. */
  #hand(): void {
    if (this.#events)
      for (let message = this.next(); message; message = this.next())
        this.dispatchEvent(new MessageEvent(message));
    this.#wake?.();
    this.#wake = undefined;
  }

  #tick(): void {
    const now = seconds();
    const conversation = this.#conversation;
    conversation.update(now);
    for (let out = conversation.transmit(now); out; out = conversation.transmit(now))
      this.#transport.send(out);
  }

  #end(close: TransportClose): TransportClose {
    clearInterval(this.#timer);
    this.#ended = true;
    this.#hand();
    this.dispatchEvent(new CloseEvent(close));
    return close;
  }
}
