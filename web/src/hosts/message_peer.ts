import { ClosedError } from '../errors.js';
import type { MessageEnd } from '../messages/message_end.js';
import type { MessageBlock, MessageName, MessageValue, Schema } from '../messages/schema.js';
import type { ChannelStats, Fate, Message } from '../messages/types.js';
import { MessageTarget, type ReceivedEvent } from './message_target.js';

export const seconds = (): number => performance.now() / 1000;

/** One end of a connection, for messages: the end of a client, or the server's end for one of its clients. */
export abstract class MessagePeer<
  Of extends Schema,
  Events extends { message: ReceivedEvent<Of>; drain: Event },
  End extends MessageEnd<Of>,
> extends MessageTarget<Of, Events> {
  /** @internal */
  protected readonly connection: End;
  /** True since a channel was full, until a `drain` event has told of free room. */
  #full = false;
  readonly #tracked = new Map<number, (fate: Fate) => void>();
  #receipt = 0;

  protected constructor(connection: End) {
    super();
    this.connection = connection;
  }

  /** True when messages can be sent. @internal */
  protected abstract get open(): boolean;

  /** True when each channel takes a message now. A `drain` event tells that all are half empty again. */
  get writable(): boolean {
    return this.open && this.connection.room > 0;
  }

  /**
   * Sends a message on a channel, with the next datagrams, within a tick.
   * @param block the bytes that go along, for a message whose type carries a block
   * @throws RangeError or TypeError that names the channel or field that does not fit; {@link CoreError}
   *   `QUEUE_FULL`, `POOL_EMPTY`, `MESSAGE_TOO_LARGE`, `BLOCK_...`, `INVALID_ARGUMENT` for null;
   *   {@link ClosedError} when the connection has ended. Nothing is sent then.
   */
  send<Name extends MessageName<Of>>(
    channel: number,
    type: Name,
    value: MessageValue<Of, Name>,
    ...block: MessageBlock<Of, Name>
  ): void {
    this.#send(channel, type, value, block[0]);
  }

  /**
   * Sends a message like {@link send}, and resolves with what became of it. A reliable one is `lost` only
   * when the connection ended before it was acked.
   * @throws what {@link send} throws, and {@link CoreError} `RECEIPTS_FULL` when the fate of 256 earlier
   *   messages is still open
   */
  track<Name extends MessageName<Of>>(
    channel: number,
    type: Name,
    value: MessageValue<Of, Name>,
    ...block: MessageBlock<Of, Name>
  ): Promise<Fate> {
    const receipt = (this.#receipt % 0xffffffff) + 1;
    this.#send(channel, type, value, block[0], receipt);
    this.#receipt = receipt;
    return new Promise((resolve) => this.#tracked.set(receipt, resolve));
  }

  #send<Name extends MessageName<Of>>(
    channel: number,
    type: Name,
    value: MessageValue<Of, Name>,
    block?: Uint8Array,
    receipt?: number,
  ): void {
    if (!this.open) throw new ClosedError();
    const room = this.connection.send(channel, type, value, seconds(), block, receipt);
    this.#full ||= room === 0;
  }

  /** @internal */
  protected override take(): Message<Of> | undefined {
    this.settle();
    const event = this.connection.next();
    return event?.type === 'message' ? event.message : undefined;
  }

  channelStats(channel: number): ChannelStats {
    return this.connection.channelStats(channel);
  }

  protected override begin(): void {
    super.begin();
    this.#full = false;
  }

  /** Reports all messages that have not been acked as lost. @internal */
  protected giveUp(): void {
    this.settle();
    this.#tracked.forEach((resolve) => resolve('lost'));
    this.#tracked.clear();
  }

  /** Tells what became of a tracked message. @internal */
  protected tell(receipt: number, fate: Fate): void {
    this.#tracked.get(receipt)?.(fate);
    this.#tracked.delete(receipt);
  }

  /** Dispatches one `drain` event when there is room again, and not one for every message that has left. @internal */
  protected tellOfRoom(): void {
    if (!this.#full || !this.open || this.connection.room < 0.5) return;
    this.#full = false;
    this.dispatchEvent(new Event('drain'));
  }

  /** Reports what became of tracked messages, even if nobody takes the messages that have arrived. @internal */
  protected settle(): void {
    while (this.connection.receiptWaits) {
      const event = this.connection.next();
      if (!event || event.type === 'message') return;
      this.tell(event.receipt, event.type);
    }
  }
}
