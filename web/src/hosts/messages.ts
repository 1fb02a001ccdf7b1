import { seconds } from '../clock.js';
import { closedError } from '../errors.js';
import type { MessageEnd } from '../messages/message_end.js';
import type {
  AnswerValue,
  QuestionValue,
  RequestName,
  RequestOptions,
} from '../messages/request.js';
import { placed } from '../messages/channels.js';
import type { Schema } from '../messages/schema.js';
import type { ConnectionEvent, Fate, Message } from '../messages/types.js';
import type { HostMessages } from './host.js';
import { Requests, type Target } from './requests.js';

/**
 * This class sends the messages of one end of a connection, tells what became of them, and takes those that arrived.
 */
export class Messages<Of extends Schema> implements HostMessages<Of, void> {
  /** @internal */
  readonly end: MessageEnd<Of>;
  readonly #isOpen: () => boolean;
  readonly #target: Target;
  readonly #requests: Requests<Of>;
  /** True since a channel was full, until there is free room again. */
  #full = false;
  readonly #tracked = new Map<number, (fate: Fate) => void>();
  #receipt = 0;
  /** These messages had arrived before the connection ended. */
  readonly #left: Message<Of>[] = [];
  /** True when the end belongs to another connection by now. */
  #gone = false;

  /**
   * @param target gets one `drain` event when there is room again, and not one for every message that has left
   * @param isOpen returns whether messages can be sent
   */
  constructor(end: MessageEnd<Of>, target: Target, isOpen: () => boolean) {
    this.end = end;
    this.#target = target;
    this.#requests = new Requests(end, target);
    this.#isOpen = isOpen;
  }

  isWritable(): boolean {
    return this.#isOpen() && this.end.room > 0;
  }

  send(message: readonly unknown[], receipt?: number): void {
    if (!this.#isOpen()) throw closedError();
    const [channel, type, value, block] = placed<Of>(message, this.end);
    const room = this.end.send(channel, type, value, seconds(), block, receipt);
    this.#full ||= room === 0;
  }

  track(message: readonly unknown[]): Promise<Fate> {
    const receipt = (this.#receipt % 0xffffffff) + 1;
    this.send(message, receipt);
    this.#receipt = receipt;
    return new Promise((resolve) => this.#tracked.set(receipt, resolve));
  }

  async request<Name extends RequestName<Of>>(
    type: Name,
    value: QuestionValue<Of, Name>,
    options: RequestOptions,
  ): Promise<AnswerValue<Of, Name>> {
    if (!this.#isOpen()) throw closedError();
    return this.#requests.ask(type, value, options);
  }

  take(): Message<Of> | undefined {
    // The function that answers a question may end the connection.
    while (!this.#gone) {
      const event = this.end.next();
      if (!event) return undefined;
      if (event.type === 'message') return event.message;
      this.#tell(event);
    }
    return this.#left.shift();
  }

  /** Begins a connection. */
  begin(): void {
    this.#full = false;
  }

  /** Tells what has changed since a datagram came or left. */
  progress(): void {
    this.#settle();
    this.#requests.progress();
    if (!this.#full || !this.#isOpen() || this.end.room < 0.5) return;
    this.#full = false;
    this.#target.dispatchEvent(new Event('drain'));
  }

  /** Takes an event that came just before the end of the connection. */
  leave(event: ConnectionEvent<Of>): void {
    if (event.type === 'message') this.#left.push(event.message);
    else if (event.type !== 'request') this.#tell(event);
  }

  /** Says that the end belongs to another connection from now on. */
  gone(): void {
    this.#gone = true;
  }

  /** Reports all messages that have not been acked as lost, and ends all requests. */
  giveUp(): void {
    this.#settle();
    this.#requests.giveUp();
    this.#tracked.forEach((resolve) => resolve('lost'));
    this.#tracked.clear();
  }

  /** Reports what became of tracked messages and of requests, even if nobody takes the messages that have arrived. */
  #settle(): void {
    while (!this.#gone && this.end.receiptWaits) {
      const event = this.end.next();
      if (!event || event.type === 'message') return;
      this.#tell(event);
    }
  }

  /** Tells what became of a tracked message or of a request, or has a question answered. */
  #tell(event: Exclude<ConnectionEvent<Of>, { readonly type: 'message' }>): void {
    if ('request' in event) return this.#requests.take(event);
    this.#tracked.get(event.receipt)?.(event.type);
    this.#tracked.delete(event.receipt);
  }
}
