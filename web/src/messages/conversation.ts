import { CoreObject, type Core } from '../core.js';
import { LONGER_THAN_ANY_HEADER, type EndpointStats } from '../endpoint.js';
import {
  channelStatsFields,
  connectionStatsFields,
  endpointStatsFields,
  errorCodes,
} from '../generated.js';
import { channelNumbers, defaultChannels, type Channel } from './channels.js';
import { CoreSchema } from './codec.js';
import type { MessageName, MessageValue, Schema } from './schema.js';

/** What both ends of a conversation agree on, and what a connection may hold. */
export interface ConversationConfig {
  /** Default: 0 is reliable, 1 is unreliable. */
  readonly channels?: readonly Channel[];
  /** Messages sent and not acked, or received and not taken, 1 to 65536. Default 256. */
  readonly maxMessages?: number;
  /** Datagrams in one round, 1 to 64. Default 4. */
  readonly maxPacketsPerUpdate?: number;
}

/** A message that arrived. `type` tells what `value` is. */
export type Message<Of extends Schema> = {
  readonly [Name in MessageName<Of>]: {
    readonly type: Name;
    readonly value: MessageValue<Of, Name>;
    /** The index of the channel on which it came. */
    readonly channel: number;
    /** What was attached to it, if its type carries blocks. */
    readonly block?: Uint8Array<ArrayBuffer>;
  };
}[MessageName<Of>];

/** What a connection has seen of the path, and what it dropped. */
export interface ConversationStats extends EndpointStats {
  /** Packets received whose messages could not be kept; they come again. */
  readonly packetsRefused: number;
  /** Packets received that were malformed inside. */
  readonly packetsInvalid: number;
  /** Messages of the pool that are in use now. */
  readonly messagesInUse: number;
}

/** What became of the messages of one channel. */
export interface ChannelStats {
  /** Messages that `send` has accepted. */
  readonly sent: number;
  /** Messages and parts of blocks that were sent once more. */
  readonly resent: number;
  /** Reliable: messages known to have arrived. */
  readonly delivered: number;
  /** Messages that arrived, each once. */
  readonly received: number;
  /** Unreliable: messages that found no room. */
  readonly dropped: number;
  /** Messages that wait for their first packet. */
  readonly queued: number;
  /** Reliable: messages that were sent and are not known to have arrived. */
  readonly inFlight: number;
  /** Reliable: seconds from send to the ack, smoothed. */
  readonly deliveryLatency: number;
}

/** Puts the numbers of channels into the module for as long as `use` takes. */
const withChannels = <Result>(
  core: Core,
  channels: readonly Channel[],
  use: (address: number) => Result,
): Result => {
  const numbers = channelNumbers(channels);
  const address = core.allocate(Math.max(8, numbers.length * 8));
  try {
    numbers.forEach((value, i) => core.memory.view.setFloat64(address + 8 * i, value, true));
    return use(address);
  } finally {
    core.exports.release(address);
  }
};

/**
 * A number that two ends have in common when they agree on message types and channels, and practically
 * never else. A connect token carries it.
 */
export function fingerprint(
  core: Core,
  schema: Schema,
  channels: readonly Channel[] = defaultChannels,
): bigint {
  const types = new CoreSchema(core, schema);
  try {
    const value = withChannels(core, channels, (address) =>
      core.exports.connection_fingerprint(types.pointer, address, channels.length),
    );
    return BigInt.asUintN(64, value);
  } finally {
    types.destroy();
  }
}

/**
 * One end of a conversation in messages, without I/O and without a clock: bytes and the time, in
 * seconds that only go forward, come from the caller. `Connection` is this over a transport.
 */
export class Conversation<Of extends Schema = Schema> extends CoreObject {
  readonly #schema: CoreSchema;
  readonly #incoming: number;
  readonly #outgoing: number;
  readonly #size: number;

  /** @throws {@link CoreError} with a code that says which part of schema or config cannot work. */
  constructor(core: Core, schema: Of, config: ConversationConfig = {}) {
    const { exports, memory, scratch } = core;
    const { channels = defaultChannels } = config;
    const types = new CoreSchema(core, schema);
    try {
      const code = withChannels(core, channels, (address) =>
        exports.connection_create(
          types.pointer,
          address,
          channels.length,
          config.maxMessages ?? NaN,
          config.maxPacketsPerUpdate ?? NaN,
        ),
      );
      core.check(code);
    } catch (error) {
      types.destroy();
      throw error;
    }
    const size = memory.u32(scratch + 4);
    // The connection uses the schema to its end, so the one goes with the other.
    super(core, memory.u32(scratch), (address) => {
      exports.connection_destroy(address);
      types.destroy();
    });
    this.#schema = types;
    this.#size = size;
    this.#incoming = this.buffer(size + LONGER_THAN_ANY_HEADER);
    this.#outgoing = this.buffer(size);
  }

  /**
   * Sends a message on a channel, in one of the next datagrams.
   * @throws RangeError or TypeError that names the field whose value does not fit; {@link CoreError}
   *   `QUEUE_FULL`, `POOL_EMPTY`, `MESSAGE_TOO_LARGE`, `BLOCK_...`. Nothing is sent then.
   */
  send<Name extends MessageName<Of>>(
    channel: number,
    type: Name,
    value: MessageValue<Of, Name>,
    now: number,
    block?: Uint8Array,
  ): void {
    const { core, address } = this;
    const number = this.#schema.number(type);
    core.check(core.exports.connection_create_message(address, number));
    const message = core.memory.u32(core.scratch);
    try {
      this.#schema.write(number, core.memory.u32(core.scratch + 4), value);
      if (block) this.#attach(message, block);
      core.check(core.exports.connection_send(address, channel, message, now));
    } catch (error) {
      core.exports.message_release(message);
      throw error;
    }
  }

  #attach(message: number, block: Uint8Array): void {
    const place = this.core.exports.message_attach(message, block.length);
    if (place === 0) throw this.core.error('NO_MEMORY');
    this.core.memory.bytes.set(block, place);
  }

  /** Takes the next message that arrived, `undefined` when there is none. */
  next(): Message<Of> | undefined {
    const { exports, memory, scratch } = this.core;
    const message = exports.connection_next(this.address);
    if (message === 0) return undefined;
    const [channel, number, data, block, size] = [0, 4, 8, 12, 16].map((offset) =>
      memory.u32(scratch + offset),
    ) as [number, number, number, number, number];
    try {
      return {
        type: this.#schema.name(number),
        value: this.#schema.read(number, data),
        channel,
        ...(block !== 0 && { block: memory.copy(block, size) }),
      } as unknown as Message<Of>;
    } finally {
      exports.message_release(message);
    }
  }

  /** Takes a datagram that arrived; false when it was dropped, which {@link stats} counts. */
  receive(datagram: Uint8Array, now: number): boolean {
    const { core, address } = this;
    const size = Math.min(datagram.length, this.#size + LONGER_THAN_ANY_HEADER);
    core.memory.bytes.set(datagram.subarray(0, size), this.#incoming);
    return errorCodes[core.exports.connection_receive(address, this.#incoming, size, now)] === 'OK';
  }

  /** Lets time pass and opens a round of datagrams. Call it once per tick, then {@link transmit}. */
  update(now: number): void {
    this.core.exports.connection_update(this.address, now);
  }

  /** The next datagram of this round, `undefined` when it is over. */
  transmit(now: number): Uint8Array<ArrayBuffer> | undefined {
    const { exports, memory } = this.core;
    const size = exports.connection_transmit(this.address, this.#outgoing, this.#size, now);
    return size > 0 ? memory.copy(this.#outgoing, size) : undefined;
  }

  /** What the path is like now. */
  stats(): ConversationStats {
    const { exports, memory, scratch } = this.core;
    exports.connection_stats(this.address);
    return {
      ...memory.struct(scratch, endpointStatsFields),
      ...memory.struct(scratch, connectionStatsFields),
    };
  }

  /** What became of the messages of a channel. */
  channelStats(channel: number): ChannelStats {
    const { core } = this;
    core.check(core.exports.connection_channel_stats(this.address, channel));
    return core.memory.struct(core.scratch, channelStatsFields);
  }
}
