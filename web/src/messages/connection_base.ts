import { CoreObject, type Core } from '../core.js';
import {
  channelStatsFields,
  connectionEvents,
  connectionNews,
  connectionNumberFields,
  congestionLimits,
  connectionStatsFields,
  createdFields,
  createdMessage,
  endpointNumberFields,
  endpointStatsFields,
} from '../generated.js';
import { numbersOf } from '../memory.js';
import { channelNumbers, defaultChannels } from './channels.js';
import { CoreSchema } from './codec.js';
import type { MessageName, MessageValue, Schema } from './schema.js';
import type {
  ChannelStats,
  ConnectionConfig,
  ConnectionEvent,
  ConnectionStats,
  Message,
} from './types.js';

/** Where the module says how much room a channel has. */
const ROOM = channelStatsFields.find(([name]) => name === 'room')![2];

/** Calls a function of the module that takes the config of a connection. */
export const withConfig = <Result>(
  core: Core,
  schema: CoreSchema,
  config: ConnectionConfig,
  use: (schema: number, numbers: number, channelCount: number) => Result,
): Result => {
  const { channels = defaultChannels } = config;
  const numbers = [
    ...numbersOf(endpointNumberFields, config.endpoint ?? {}),
    ...numbersOf(connectionNumberFields, config),
    ...channelNumbers(channels),
  ];
  return core.withNumbers(numbers, (address) => use(schema.pointer, address, channels.length));
};

/** How the module makes an object with a connection, which then has its address in the scratch area. */
type Create = (schema: number, numbers: number, channelCount: number) => number;

/** What `Connection` and `Client` have in common: messages in, messages out, without I/O. */
export abstract class ConnectionBase<Of extends Schema> extends CoreObject {
  readonly #schema: CoreSchema;
  readonly #channelCount: number;

  protected constructor(
    core: Core,
    schema: Of,
    config: ConnectionConfig,
    create: Create,
    destroy: (address: number) => void,
  ) {
    const types = new CoreSchema(core, schema);
    try {
      core.check(withConfig(core, types, config, create));
    } catch (error) {
      types.destroy();
      throw error;
    }
    // The connection uses the schema to its end, so the one goes with the other.
    super(core, core.memory.struct(core.scratch, createdFields).object, (address) => {
      destroy(address);
      types.destroy();
    });
    this.#schema = types;
    this.#channelCount = (config.channels ?? defaultChannels).length;
  }

  /** Where the connection is in the module. @internal */
  protected abstract get connection(): number;

  /**
   * Sends a message on a channel, in one of the next datagrams.
   * @param receipt unless 0, what becomes of the message is told under this number, from 1 to 2^32 - 1, by
   *   {@link next}
   * @throws RangeError or TypeError that names the channel or field that does not fit; {@link CoreError}
   *   `QUEUE_FULL`, `POOL_EMPTY`, `MESSAGE_TOO_LARGE`, `RECEIPTS_FULL`, `BLOCK_...`,
   *   `INVALID_ARGUMENT` for null. Nothing is sent then.
   */
  send<Name extends MessageName<Of>>(
    channel: number,
    type: Name,
    value: MessageValue<Of, Name>,
    now: number,
    block?: Uint8Array,
    receipt = 0,
  ): void {
    const { core, connection } = this;
    this.#checkChannel(channel);
    const number = this.#schema.number(type);
    core.check(core.exports.connection_create_message(connection, number));
    const message = core.memory.u32(core.scratch + createdMessage.message);
    const data = core.memory.u32(core.scratch + createdMessage.data);
    try {
      this.#schema.write(number, data, value);
      if (block) this.#attach(message, block);
      core.check(core.exports.connection_send(connection, channel, message, receipt, now));
    } catch (error) {
      core.exports.message_release(message);
      throw error;
    }
  }

  #checkChannel(channel: number): void {
    if (Number.isInteger(channel) && channel >= 0 && channel < this.#channelCount) return;
    const last = this.#channelCount - 1;
    throw new RangeError(`${String(channel)} is no channel; there are 0 to ${last}`);
  }

  #attach(message: number, block: Uint8Array): void {
    const place = this.core.exports.message_attach(message, block.length);
    if (place === 0) throw this.core.error('NO_MEMORY');
    this.core.memory.bytes.set(block, place);
  }

  /**
   * Takes the next event, `undefined` when there is none. Receipts come before messages; of the channels
   * that have messages each comes in turn.
   */
  next(): ConnectionEvent<Of> | undefined {
    const { exports, memory, scratch } = this.core;
    switch (exports.connection_next(this.connection)) {
      case connectionEvents.MESSAGE:
        return { type: 'message', message: this.#take() };
      case connectionEvents.ACKED:
        return { type: 'acked', receipt: memory.u32(scratch + connectionNews.receipt) };
      case connectionEvents.LOST:
        return { type: 'lost', receipt: memory.u32(scratch + connectionNews.receipt) };
      default:
        return undefined;
    }
  }

  /** The message that the module has just given. */
  #take(): Message<Of> {
    const { exports, memory, scratch } = this.core;
    const number = memory.u32(scratch + connectionNews.type);
    const block = memory.u32(scratch + connectionNews.block);
    const message = memory.u32(scratch + connectionNews.message);
    try {
      const type = this.#schema.name(number);
      const value = this.#schema.read(number, memory.u32(scratch + connectionNews.data));
      const channel = memory.u32(scratch + connectionNews.channel);
      if (block === 0) return { type, value, channel } as unknown as Message<Of>;
      const size = memory.u32(scratch + connectionNews.blockSize);
      return { type, value, channel, block: memory.copy(block, size) } as unknown as Message<Of>;
    } finally {
      exports.message_release(message);
    }
  }

  /** The share of its capacity that the fullest channel has free, from 0 to 1. */
  get room(): number {
    let least = 1;
    for (let channel = 0; channel < this.#channelCount; channel++) {
      const { room, capacity } = this.channelStats(channel);
      least = Math.min(least, room / capacity);
    }
    return least;
  }

  /** Whether a channel takes no message now. */
  isFull(channel: number): boolean {
    const { exports, memory, scratch } = this.core;
    exports.connection_channel_stats(this.connection, channel);
    return memory.u32(scratch + ROOM) === 0;
  }

  /** Whether the next event is `acked` or `lost`, for those who leave messages waiting. */
  get receiptWaits(): boolean {
    return this.core.exports.connection_receipt_waits(this.connection) !== 0;
  }

  /** Longest datagram that {@link transmit} gives, in bytes. */
  abstract readonly maxDatagramSize: number;

  /** Takes a datagram that arrived; false when it was dropped, which is counted. */
  abstract receive(datagram: Uint8Array, now: number): boolean;

  /** Lets time pass and opens a round of datagrams. Call it once per tick, then {@link transmit}. */
  abstract update(now: number): void;

  /** The next datagram of this round, `undefined` when it is over. */
  abstract transmit(now: number): Uint8Array<ArrayBuffer> | undefined;

  /** What the path is like now. */
  stats(): ConnectionStats {
    const { exports, memory, scratch } = this.core;
    exports.connection_stats(this.connection);
    const { limited, ...counts } = memory.struct(scratch, connectionStatsFields);
    return {
      ...memory.struct(scratch, endpointStatsFields),
      ...counts,
      limited: congestionLimits[`${limited}` as keyof typeof congestionLimits],
    };
  }

  /**
   * What became of the messages of a channel.
   * @throws RangeError when there is no such channel.
   */
  channelStats(channel: number): ChannelStats {
    const { core } = this;
    this.#checkChannel(channel);
    core.check(core.exports.connection_channel_stats(this.connection, channel));
    return core.memory.struct(core.scratch, channelStatsFields);
  }
}
