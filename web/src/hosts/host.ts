import { ClosedError } from '../errors.js';
import type { ConnectionBase } from '../messages/connection_base.js';
import type { MessageBlock, MessageName, MessageValue, Schema } from '../messages/schema.js';
import type { ChannelStats, ConnectionStats, Fate, Message } from '../messages/types.js';
import type { Transport, TransportKind, TransportStats } from '../transports/transport.js';
import { MessageTarget, type ReceivedEvent } from './message_target.js';
import { Ticks } from './ticks.js';

/** Statistics of a connection, and of the transport that carries it. */
export interface HostStats extends ConnectionStats {
  readonly transport: TransportStats;
}

export const seconds = (): number => performance.now() / 1000;

/** Milliseconds from tick to tick, at a rate per second that the user may have given. */
export const tickInterval = (ticksPerSecond = 60): number => {
  if (!(ticksPerSecond > 0 && ticksPerSecond <= 1000))
    throw new RangeError(`ticksPerSecond: ${ticksPerSecond} is not above 0 and at most 1000`);
  return 1000 / ticksPerSecond;
};

/** @throws RangeError when a transport does not take datagrams of so many bytes. */
export const fitsTransport = (size: number, { maxDatagramSize }: Transport): void => {
  if (maxDatagramSize < size)
    throw new RangeError(
      `maxDatagramSize: the transport takes ${maxDatagramSize} bytes of the ${size} that are needed; ` +
        'raise it, or lower fragmentAbove of the endpoint',
    );
};

/**
 * One end of a connection over a transport, which it takes over, with a tick of its own. Messages that arrive go to the
 * listeners of `message` events; while there is none they wait to be taken by `for await`, one by one
 * with `next`, or by the next listener. Who takes none holds the sender back; nothing is lost and no
 * memory grows. What has arrived can still be taken when the connection has ended.
 */
export abstract class Host<
  Of extends Schema,
  Events extends { message: ReceivedEvent<Of>; drain: Event },
  End extends ConnectionBase<Of> = ConnectionBase<Of>,
> extends MessageTarget<Of, Events> {
  /** @internal */
  protected readonly connection: End;
  /** What carries the connection. @internal */
  protected carrier!: Transport;
  #ticks: Ticks | undefined;
  /** Since a channel was full. */
  #full = false;
  readonly #tracked = new Map<number, (fate: Fate) => void>();
  #receipt = 0;

  protected constructor(connection: End) {
    super();
    this.connection = connection;
  }

  /**
   * Begins to tick and to take what arrives over a transport, also what arrived before.
   * @internal
   */
  protected start(carrier: Transport, interval: number): void {
    this.carrier = carrier;
    this.begin();
    this.#full = false;
    const ticks = (this.#ticks = new Ticks(interval, () => this.tick()));
    carrier.ondatagram = (datagram) => {
      this.arrived(datagram);
      ticks.catchUp();
    };
  }

  /** Over which kind of transport it goes. */
  get transport(): TransportKind {
    return this.carrier.kind;
  }

  /** Whether messages can be sent. @internal */
  protected abstract get open(): boolean;

  /** Whether each channel takes a message now. A `drain` event tells that all are half empty again. */
  get writable(): boolean {
    return this.open && this.connection.room > 0;
  }

  /**
   * Sends a message on a channel: with the next datagrams, within a tick.
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
    this.connection.send(channel, type, value, seconds(), block, receipt);
    this.#full ||= this.connection.isFull(channel);
  }

  /** @internal */
  protected override take(): Message<Of> | undefined {
    this.#settle();
    const event = this.connection.next();
    return event?.type === 'message' ? event.message : undefined;
  }

  stats(): HostStats {
    return { ...this.connection.stats(), transport: this.carrier.stats() };
  }

  channelStats(channel: number): ChannelStats {
    return this.connection.channelStats(channel);
  }

  /** A datagram arrived; says whether it was one of this connection. @internal */
  protected arrived(datagram: Uint8Array<ArrayBuffer>): boolean {
    const taken = this.connection.receive(datagram, seconds());
    this.#tellOfRoom();
    this.hand();
    return taken;
  }

  /** @internal */
  protected tick(): void {
    this.connection.update(seconds());
    this.#settle();
    this.transmit();
    this.#tellOfRoom();
  }

  /** Sends the datagrams that are due; says whether they are the last. @internal */
  protected transmit(last = false): void {
    const now = seconds();
    for (let out = this.connection.transmit(now); out; out = this.connection.transmit(now))
      this.carrier.send(out, last);
  }

  /** No more ticks; what has not been acked is lost. @internal */
  protected stop(): void {
    this.#ticks?.stop();
    this.#settle();
    this.#tracked.forEach((resolve) => resolve('lost'));
    this.#tracked.clear();
  }

  /** Stops; loops over messages end when they have taken the last one. @internal */
  protected override finish(last: Event): void {
    this.stop();
    super.finish(last);
  }

  /** Tells once that there is room again, and not for every message that has left. */
  #tellOfRoom(): void {
    if (!this.#full || !this.open || this.connection.room < 0.5) return;
    this.#full = false;
    this.dispatchEvent(new Event('drain'));
  }

  /** Says what became of tracked messages, whether or not anybody takes those that have arrived. */
  #settle(): void {
    while (this.connection.receiptWaits) {
      const event = this.connection.next();
      if (!event || event.type === 'message') return;
      this.#tracked.get(event.receipt)?.(event.type);
      this.#tracked.delete(event.receipt);
    }
  }
}
