import type {
  AnswerValue,
  Answerer,
  QuestionValue,
  RequestName,
  RequestOptions,
} from '../messages/request.js';
import type { MessageArguments, MessageName, Schema } from '../messages/schema.js';
import type { ConnectionStats, Fate, Message } from '../messages/types.js';
import type { TransportStats } from '../transports/transport.js';
import { standInOf, wasHandled } from './listeners.js';
import type { AnyAnswerer } from './requests.js';

/** Statistics of a connection, and of the transport that carries it. */
export interface HostStats extends ConnectionStats {
  readonly transport: TransportStats;
}

/** A message has arrived. */
export class ReceivedEvent<Of extends Schema = Schema> extends Event {
  constructor(readonly message: Message<Of>) {
    super('message');
  }
}

/** The messages of one end of a connection; `Sent` is the result of sending one. @internal */
export interface HostMessages<Of extends Schema, Sent> {
  isWritable(): boolean;
  send(message: readonly unknown[]): Sent;
  track(message: readonly unknown[]): Promise<Fate>;
  request<Name extends RequestName<Of>>(
    type: Name,
    value: QuestionValue<Of, Name>,
    options: RequestOptions,
  ): Promise<AnswerValue<Of, Name>>;
  /** Takes the next message that arrived, `undefined` when there is none now. */
  take(): Message<Of> | undefined;
}

/**
 * A host is the end of a connection that an application sees. It sends messages, and hands over those that arrive. They
 * go to the listeners of `message` events; while there is none they wait to be taken by `for await`, one by one with
 * `next`, or by the next listener. An application that takes none holds the sender back; nothing is lost and no memory
 * grows. Messages that have arrived can still be taken when the connection has ended.
 */
export abstract class Host<
  Of extends Schema,
  Events extends { message: ReceivedEvent<Of> },
  Sent = void,
> extends EventTarget {
  /** @internal */
  protected abstract readonly messages: HostMessages<Of, Sent>;
  /** A message for which there was no listener; it is the next to be taken. */
  #unhandled: Message<Of> | undefined;
  #handing = false;
  #ended = false;
  /** The event that tells of the end, after the last message. */
  #last: Event | undefined;
  /** The loops that wait for a message. */
  #waiting: (() => void)[] = [];
  /** The functions that answer requests, by the requests' names. */
  readonly #answerers = new Map<string, AnyAnswerer>();

  /** True when each channel takes a message now. A `drain` event tells that all are half empty again. */
  get writable(): boolean {
    return this.messages.isWritable();
  }

  /**
   * Sends a message with the next datagrams, within a tick: `send('say', { text })`. It goes as its declaration says. For a
   * message whose type carries a block, the bytes that go along follow the value.
   * @throws {@link ConnectionError} `QUEUE_FULL`, `POOL_EMPTY`, `CLOSED` when the connection has ended; RangeError or
   *   TypeError that names the channel or field that does not fit; {@link MisuseError} `MESSAGE_TOO_LARGE`, `BLOCK_...`,
   *   `INVALID_ARGUMENT` for null. Nothing is sent then.
   */
  send<Name extends MessageName<Of>>(...message: MessageArguments<Of, Name>): Sent;
  /** Sends a message on the channel of this number. */
  send<Name extends MessageName<Of>>(channel: number, ...message: MessageArguments<Of, Name>): Sent;
  send(...message: unknown[]): Sent {
    return this.messages.send(message);
  }

  /**
   * Sends a message like {@link send}, and resolves with what became of it. A reliable one is `lost` only
   * when the connection ended before it was acked.
   * @throws what {@link send} throws, and {@link ConnectionError} `RECEIPTS_FULL` when the fate of 256 earlier
   *   messages is still open
   */
  track<Name extends MessageName<Of>>(...message: MessageArguments<Of, Name>): Promise<Fate>;
  track<Name extends MessageName<Of>>(
    channel: number,
    ...message: MessageArguments<Of, Name>
  ): Promise<Fate>;
  track(...message: unknown[]): Promise<Fate> {
    return this.messages.track(message);
  }

  /**
   * Asks the other end a question, and resolves with the value of its answer: `request('lookup', { name })`.
   * @throws {@link ConnectionError} `TIMED_OUT`; `REFUSED`; `CLOSED` when the connection has ended, also while the answer
   *   was waited for; `REQUESTS_FULL` when `maxRequests` are open; the reason of `signal`; and what {@link send} throws. The promise rejects with all of these.
   */
  request<Name extends RequestName<Of>>(
    type: Name,
    value: QuestionValue<Of, Name>,
    options: RequestOptions = {},
  ): Promise<AnswerValue<Of, Name>> {
    return this.messages.request(type, value, options);
  }

  /**
   * Answers the requests of this type that come from the other end: the function gets the value of each question and
   * returns that of the answer, or a promise of it. To refuse, it calls {@link refuse}. Any error refuses
   * too, and is then an unhandled rejection. A type has one function; `null` takes it away. Questions for which there is
   * none are refused at once. Questions wait behind messages that nobody takes.
   */
  answer<Name extends RequestName<Of>>(type: Name, answerer: Answerer<Of, Name> | null): void {
    if (answerer) this.#answerers.set(type, answerer as AnyAnswerer);
    else this.#answerers.delete(type);
  }

  /** Returns the function that answers requests of this type. @internal */
  answererOf(type: string): AnyAnswerer | undefined {
    return this.#answerers.get(type);
  }

  /** Takes the next message that arrived, `undefined` when there is none now. */
  next(): Message<Of> | undefined {
    const unheard = this.#unhandled;
    this.#unhandled = undefined;
    return unheard ?? this.messages.take();
  }

  /** Takes messages as they arrive, until the connection ends. */
  async *[Symbol.asyncIterator](): AsyncGenerator<Message<Of>, void> {
    for (;;) {
      for (let message = this.next(); message; message = this.next()) yield message;
      if (this.#ended) return;
      await new Promise<void>((resolve) => this.#waiting.push(resolve));
    }
  }

  override addEventListener<Type extends keyof Events>(
    type: Type,
    listener: (event: Events[Type]) => void,
    options?: boolean | AddEventListenerOptions,
  ): void;
  override addEventListener(...of: Parameters<EventTarget['addEventListener']>): void;
  override addEventListener(
    ...[type, listener, options]: Parameters<EventTarget['addEventListener']>
  ): void {
    super.addEventListener(type, type === 'message' ? standInOf(listener) : listener, options);
    this.hand();
  }

  override removeEventListener<Type extends keyof Events>(
    type: Type,
    listener: (event: Events[Type]) => void,
    options?: boolean | EventListenerOptions,
  ): void;
  override removeEventListener(...of: Parameters<EventTarget['removeEventListener']>): void;
  override removeEventListener(
    ...[type, listener, options]: Parameters<EventTarget['removeEventListener']>
  ): void {
    super.removeEventListener(type, type === 'message' ? standInOf(listener) : listener, options);
  }

  /** Begins a connection; messages of an earlier one are gone. @internal */
  protected begin(): void {
    this.#unhandled = undefined;
    this.#ended = false;
  }

  /**
   * Ends the loops over messages when they have taken the last one.
   * @param last follows then
   * @internal
   */
  protected finish(last?: Event): void {
    this.#ended = true;
    this.#last = last;
    this.hand();
  }

  /**
   * Hands messages to listeners while there are some, and says to loops that there may be messages.
   * @internal
   */
  protected hand(): void {
    // A listener may cause another call. Its messages follow later in this loop, so that all stay in order.
    if (this.#handing) return;
    this.#handing = true;
    try {
      while (this.#handNext());
    } finally {
      this.#handing = false;
    }
    const waiting = this.#waiting;
    this.#waiting = [];
    waiting.forEach((wake) => wake());
    const last = this.#last;
    this.#last = undefined;
    if (last) this.dispatchEvent(last);
  }

  /** Hands over one message; returns false when there is none, or no listener for it. */
  #handNext(): boolean {
    const message = this.next();
    if (!message) return false;
    const event = new ReceivedEvent(message);
    this.dispatchEvent(event);
    if (!wasHandled(event)) this.#unhandled = message;
    return wasHandled(event);
  }
}
