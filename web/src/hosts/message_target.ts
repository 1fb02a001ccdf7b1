import type { Schema } from '../messages/schema.js';
import type { Message } from '../messages/types.js';
import { standInOf, wasHandled } from './listeners.js';

/** A message has arrived. */
export class ReceivedEvent<Of extends Schema = Schema> extends Event {
  readonly message: Message<Of>;

  constructor(message: Message<Of>) {
    super('message');
    this.message = message;
  }
}

/**
 * The base of classes at which messages arrive. Messages go to the listeners of `message` events; while there is none
 * they wait to be taken by `for await`, one by one with `next`, or by the next listener.
 */
export abstract class MessageTarget<
  Of extends Schema,
  Events extends { message: ReceivedEvent<Of> },
> extends EventTarget {
  /** A message for which there was no listener; it is the next to be taken. */
  #unhandled: Message<Of> | undefined;
  #handing = false;
  #ended = false;
  /** The event that tells of the end, after the last message. */
  #last: Event | undefined;
  /** The loops that wait for a message. */
  #waiting: (() => void)[] = [];

  /** The next message that arrived and was not taken. @internal */
  protected abstract take(): Message<Of> | undefined;

  /** Takes the next message that arrived, `undefined` when there is none now. */
  next(): Message<Of> | undefined {
    const unheard = this.#unhandled;
    this.#unhandled = undefined;
    return unheard ?? this.take();
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
    super.addEventListener(type, type === 'message' ? standInOf(listener) : listener, options);
    this.hand();
  }

  override removeEventListener<Type extends keyof Events>(
    type: Type,
    listener: (event: Events[Type]) => void,
    options?: boolean | EventListenerOptions,
  ): void;
  override removeEventListener(
    type: string,
    listener: EventListenerOrEventListenerObject | null,
    options?: boolean | EventListenerOptions,
  ): void;
  override removeEventListener(
    type: string,
    listener: EventListenerOrEventListenerObject | null,
    options?: boolean | EventListenerOptions,
  ): void {
    super.removeEventListener(type, type === 'message' ? standInOf(listener) : listener, options);
  }

  /** Begins a connection; messages of an earlier one are gone. @internal */
  protected begin(): void {
    this.#unhandled = undefined;
    this.#ended = false;
  }

  /** Ends the loops over messages when they have taken the last one. @internal */
  protected finish(last: Event): void {
    this.#ended = true;
    this.#last = last;
    this.hand();
  }

  /**
   * Hands messages to listeners while there are some, and says to loops that there may be messages.
   * @internal
   */
  protected hand(): void {
    // A listener that causes another call would put messages out of order, so its messages follow later in this loop.
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
