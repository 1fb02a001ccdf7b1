import { CoreObject, type Core } from '../core.js';
import {
  channelStatsStruct,
  congestionLimits,
  congestionReasons,
  congestionStates,
  connectionEventAt,
  connectionStatsStruct,
  endpointStatsStruct,
} from '../generated.js';
import type { MessageChannels } from './channels.js';
import type { CoreSchema } from './codec.js';
import { checkChannel, fillMessage, handedOver, readEvent } from './passing.js';
import type { AnswerValue, QuestionValue, RequestName } from './request.js';
import type { MessageName, MessageValue, Schema } from './schema.js';
import type { ChannelStats, ConnectionEvent, ConnectionStats } from './types.js';

/** An object in the module that has connections. */
export interface End {
  readonly address: number;
  readonly destroy: (address: number) => void;
  readonly schema: CoreSchema;
  readonly channels: MessageChannels;
}

/** All ends of connections have this base, which sends messages, takes those that arrive, and has statistics. */
export abstract class MessageEnd<Of extends Schema> extends CoreObject {
  readonly #schema: CoreSchema;
  readonly #channels: MessageChannels;

  protected constructor(core: Core, { address, destroy, schema, channels }: End) {
    super(core, address, destroy);
    this.#schema = schema;
    this.#channels = channels;
  }

  /** The address of the connection in the module. @internal */
  protected abstract get connection(): number;

  /** Returns the number of the channel on which messages of this type go when none is named. @internal */
  channelOf(type: MessageName<Of>): number {
    return this.#channels.of(type);
  }

  /**
   * Sends a message on a channel, in one of the next datagrams.
   * @param receipt a number from 1 to 2^32 - 1, under which {@link next} tells what becomes of the message; 0 for none
   * @returns how many more messages the channel takes now
   * @throws RangeError or TypeError that names the channel or field that does not fit; {@link ConnectionError}
   *   `QUEUE_FULL`, `POOL_EMPTY`, `RECEIPTS_FULL`; {@link MisuseError} `MESSAGE_TOO_LARGE`, `BLOCK_...`,
   *   `INVALID_ARGUMENT` for null. Nothing is sent then.
   */
  send<Name extends MessageName<Of>>(
    channel: number,
    type: Name,
    value: MessageValue<Of, Name>,
    now: number,
    block?: Uint8Array,
    receipt = 0,
  ): number {
    const { core, connection } = this;
    checkChannel(channel, this.#channels.count);
    const message = this.#make(type, value, block, receipt);
    const result = core.exports.message_send(connection, channel, message, now);
    return handedOver(core, message, result);
  }

  /**
   * Asks a question on a channel. One of two events of {@link next} tells how it ended: `answer`, or `unanswered`, the
   * latter after `timeoutSeconds` at the latest.
   * @returns the number of the request in that event
   * @throws what {@link send} throws, and {@link ConnectionError} `REQUESTS_FULL` when `maxRequests` are
   *   open; {@link MisuseError} `NOT_A_REQUEST`, `INVALID_ARGUMENT` for a time that is not above 0 and at most 3600. Nothing is sent then.
   */
  request<Name extends RequestName<Of>>(
    channel: number,
    type: Name,
    value: QuestionValue<Of, Name>,
    now: number,
    timeoutSeconds: number,
  ): number {
    const { core, connection } = this;
    const { exports, scratch } = core;
    checkChannel(channel, this.#channels.count);
    const made = this.#make(type, { ...value, cw_request: 0 });
    const error = exports.cw_connection_request(
      connection,
      channel,
      made,
      timeoutSeconds,
      now,
      scratch,
    );
    handedOver(core, made, -error);
    return core.memory.u32(scratch);
  }

  /** Forgets a request of this end: no event tells of it any more. Nothing happens when it has ended. */
  cancel(request: number): void {
    this.core.exports.cw_connection_cancel(this.connection, request);
  }

  /**
   * Answers the question of a `request` event.
   * @throws RangeError or TypeError that names the field that does not fit; {@link ConnectionError} `POOL_EMPTY` when too
   *   many messages are not acked yet; {@link MisuseError} `MESSAGE_TOO_LARGE`, and `NOT_ASKED` when it was answered before or the other
   *   end no longer waits for it
   */
  answer<Name extends RequestName<Of>>(
    request: number,
    type: Name,
    value: AnswerValue<Of, Name>,
    now: number,
  ): void {
    const { core, connection } = this;
    const made = this.#make(`${type}_answer`, { ...value, cw_answer: 0 });
    handedOver(core, made, -core.exports.cw_connection_answer(connection, request, made, now));
  }

  /**
   * Refuses the question of a `request` event; the code is from 0 to 65535.
   * @throws {@link ConnectionError} `NOT_CONNECTED`; {@link MisuseError} `NOT_ASKED`, `INVALID_ARGUMENT`
   */
  refuse(request: number, code: number, now: number): void {
    this.core.check(this.core.exports.cw_connection_refuse(this.connection, request, code, now));
  }

  /**
   * Takes the next event, `undefined` when there is none. Receipts and answers come before messages and requests of the
   * other end; the channels that have some take turns.
   */
  next(): ConnectionEvent<Of> | undefined {
    const { core } = this;
    if (!core.exports.cw_connection_next(this.connection, core.scratch)) return undefined;
    return readEvent(core, this.#schema, connectionEventAt);
  }

  /** Makes a message in the module, which belongs to the caller, and returns its address. */
  #make(type: string, value: object, block?: Uint8Array, receipt?: number): number {
    const { core, connection } = this;
    const number = this.#schema.number(type);
    core.check(core.exports.cw_connection_create_message(connection, number, core.scratch));
    return fillMessage(core, this.#schema, number, value, block, receipt);
  }

  /** The share of its capacity that the fullest channel has free, from 0 to 1. */
  get room(): number {
    let least = 1;
    for (let channel = 0; channel < this.#channels.count; channel++) {
      const { room, capacity } = this.channelStats(channel);
      least = Math.min(least, room / capacity);
    }
    return least;
  }

  /**
   * True when the next event is `acked`, `lost`, `answer` or `unanswered`, so that these can be taken while messages
   * wait.
   */
  get receiptWaits(): boolean {
    return this.core.exports.cw_connection_receipt_waits(this.connection) !== 0;
  }

  /** Returns the statistics of the path and the connection. */
  stats(): ConnectionStats {
    const { exports, memory, scratch } = this.core;
    exports.cw_connection_get_stats(this.connection, scratch);
    const { limited, congestionState, congestionReason, ...counts } = memory.struct(
      scratch,
      connectionStatsStruct.fields,
    );
    return {
      ...memory.struct(scratch, endpointStatsStruct.fields),
      ...counts,
      limited: congestionLimits[`${limited}` as keyof typeof congestionLimits],
      congestionState: counts.rttThresholdSeconds
        ? congestionStates[`${congestionState}` as keyof typeof congestionStates]
        : 'NONE',
      congestionReason: congestionReasons[`${congestionReason}` as keyof typeof congestionReasons],
    };
  }

  /**
   * Returns what became of the messages of a channel.
   * @throws RangeError when there is no such channel.
   */
  channelStats(channel: number): ChannelStats {
    const { core, connection } = this;
    checkChannel(channel, this.#channels.count);
    return core.read(channelStatsStruct, (out) =>
      core.check(core.exports.cw_connection_get_channel_stats(connection, channel, out)),
    );
  }
}

/** An end with a path of its own, over which a host carries its datagrams. */
export interface DatagramEnd<Of extends Schema> extends MessageEnd<Of> {
  /** Longest datagram that {@link transmit} gives, in bytes. */
  readonly maxDatagramSize: number;

  /** Takes a datagram that arrived; returns false when it was dropped, which is counted. */
  receive(datagram: Uint8Array, now: number): boolean;

  /** Lets time pass and opens a round of datagrams. Call it once per tick, then {@link transmit}. */
  update(now: number): void;

  /** Returns the next datagram of this round, `undefined` when it is over. */
  transmit(now: number): Uint8Array<ArrayBuffer> | undefined;

  /** Does the same as {@link transmit}, but the datagram is gone after the next call into the module. @internal */
  transmitView(now: number): Uint8Array<ArrayBuffer> | undefined;
}
