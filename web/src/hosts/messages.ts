import { seconds } from '../clock.js';
import { ClosedError } from '../errors.js';
import type { MessageEnd } from '../messages/message_end.js';
import type { MessageArguments, MessageName, Schema } from '../messages/schema.js';
import type { ConnectionEvent, Fate, Message } from '../messages/types.js';
import type { HostMessages } from './host.js';

/**
 * This class sends the messages of one end of a connection, tells what became of them, and takes those that arrived.
 */
export class Messages<Of extends Schema> implements HostMessages<Of, void> {
  readonly #end: MessageEnd<Of>;
  readonly #isOpen: () => boolean;
  readonly #target: EventTarget;
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
  constructor(end: MessageEnd<Of>, target: EventTarget, isOpen: () => boolean) {
    this.#end = end;
    this.#target = target;
    this.#isOpen = isOpen;
  }

  isWritable(): boolean {
    return this.#isOpen() && this.#end.room > 0;
  }

  send<Name extends MessageName<Of>>(...message: MessageArguments<Of, Name>): void {
    this.#send(message);
  }

  track<Name extends MessageName<Of>>(...message: MessageArguments<Of, Name>): Promise<Fate> {
    const receipt = (this.#receipt % 0xffffffff) + 1;
    this.#send(message, receipt);
    this.#receipt = receipt;
    return new Promise((resolve) => this.#tracked.set(receipt, resolve));
  }

  #send<Name extends MessageName<Of>>(
    [channel, type, value, block]: MessageArguments<Of, Name>,
    receipt?: number,
  ): void {
    if (!this.#isOpen()) throw new ClosedError();
    const room = this.#end.send(channel, type, value, seconds(), block, receipt);
    this.#full ||= room === 0;
  }

  take(): Message<Of> | undefined {
    if (this.#gone) return this.#left.shift();
    this.#settle();
    const event = this.#end.next();
    return event?.type === 'message' ? event.message : undefined;
  }

  /** Begins a connection. */
  begin(): void {
    this.#full = false;
  }

  /** Tells what has changed since a datagram came or left. */
  progress(): void {
    this.#settle();
    if (!this.#full || !this.#isOpen() || this.#end.room < 0.5) return;
    this.#full = false;
    this.#target.dispatchEvent(new Event('drain'));
  }

  /** Takes an event that came just before the end of the connection. */
  leave(event: ConnectionEvent<Of>): void {
    if (event.type === 'message') this.#left.push(event.message);
    else this.#tell(event.receipt, event.type);
  }

  /** Says that the end belongs to another connection from now on. */
  gone(): void {
    this.#gone = true;
  }

  /** Reports all messages that have not been acked as lost. */
  giveUp(): void {
    this.#settle();
    this.#tracked.forEach((resolve) => resolve('lost'));
    this.#tracked.clear();
  }

  /** Reports what became of tracked messages, even if nobody takes the messages that have arrived. */
  #settle(): void {
    while (!this.#gone && this.#end.receiptWaits) {
      const event = this.#end.next();
      if (!event || event.type === 'message') return;
      this.#tell(event.receipt, event.type);
    }
  }

  /** Tells what became of a tracked message. */
  #tell(receipt: number, fate: Fate): void {
    this.#tracked.get(receipt)?.(fate);
    this.#tracked.delete(receipt);
  }
}
