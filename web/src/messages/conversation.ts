import type { Core } from '../core.js';
import { LONGER_THAN_ANY_HEADER, type EndpointConfig, type EndpointStats } from '../endpoint.js';
import { errorCodes } from '../generated.js';
import type { Channel } from './channels.js';
import { CoreSchema } from './codec.js';
import { MessagePeer, withConfig } from './peer.js';
import type { MessageBlock, MessageName, MessageValue, Schema } from './schema.js';

/** What both ends of a conversation agree on, and what a connection may hold. */
export interface ConversationConfig {
  /** Default: 0 is reliable, 1 is unreliable. */
  readonly channels?: readonly Channel[];
  /**
   * Packets. Those that are sent are filled up to `fragmentAbove`, by default 1064, so that each is one
   * datagram; those of the other end are received up to `maxPacketSize`, by default 8192, whole or in
   * fragments. `maxReassemblies` is 3 by default, all else as for an endpoint alone.
   */
  readonly endpoint?: EndpointConfig;
  /** Messages sent and not acked, 1 to 32768. Default 256. */
  readonly maxMessages?: number;
  /**
   * Messages received and not taken, 1 to 32768. With more the other end is held back, and of unreliable
   * ones the oldest are dropped. Default 0: half of `maxMessages`.
   */
  readonly maxReceivedMessages?: number;
  /** Datagrams in one round, 1 to 64. Default 4. */
  readonly maxPacketsPerUpdate?: number;
}

type BlockOf<Rest extends readonly unknown[]> = Rest extends []
  ? undefined
  : Rest extends [unknown]
    ? Uint8Array<ArrayBuffer>
    : Uint8Array<ArrayBuffer> | undefined;

/** A message that arrived. `type` tells what `value` is. */
export type Message<Of extends Schema> = {
  readonly [Name in MessageName<Of>]: {
    readonly type: Name;
    readonly value: MessageValue<Of, Name>;
    /** The index of the channel on which it came. */
    readonly channel: number;
    /** What was attached to it, if its type carries a block. */
    readonly block: BlockOf<MessageBlock<Of, Name>>;
  };
}[MessageName<Of>];

/**
 * What became of a message: it arrived, or, if it was unreliable, it has most likely not. That it arrived
 * after all is not told any more.
 */
export type Fate = 'acked' | 'lost';

/** News of a message that was sent with a receipt. */
export interface Receipt {
  /** The number that it was sent with. */
  readonly receipt: number;
  readonly fate: Fate;
}

/** What a connection has seen of the path, and what it dropped. */
export interface ConversationStats extends EndpointStats {
  /** Packets received whose messages could not be kept; they come again. */
  readonly packetsRefused: number;
  /** Packets received that were malformed inside. */
  readonly packetsInvalid: number;
  /** Messages that are sent and not acked, or received and not taken. */
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
  /** Messages that arrived and were kept, each once. */
  readonly received: number;
  /** Unreliable: messages that found no room when sent, or made room for later ones after they arrived. */
  readonly dropped: number;
  /** Messages that wait for their first packet. */
  readonly queued: number;
  /** Reliable: messages that were sent and are not known to have arrived. */
  readonly inFlight: number;
  /** Reliable: seconds from send to the ack, smoothed. */
  readonly deliveryLatency: number;
}

/**
 * A number that two ends have in common when they agree on message types, channels and what the config
 * of their endpoints says of both, and practically never else. A connect token carries it.
 */
export function fingerprint(
  core: Core,
  schema: Schema,
  channels?: readonly Channel[],
  endpoint?: EndpointConfig,
): bigint {
  const types = new CoreSchema(core, schema);
  try {
    const config = { ...(channels && { channels }), ...(endpoint && { endpoint }) };
    const { connection_fingerprint } = core.exports;
    return BigInt.asUintN(64, withConfig(core, types, config, connection_fingerprint));
  } finally {
    types.destroy();
  }
}

/**
 * One end of a conversation in messages, without I/O and without a clock: bytes and the time, in
 * seconds that only go forward, come from the caller. `Connection` is this over a transport.
 */
export class Conversation<Of extends Schema = Schema> extends MessagePeer<Of> {
  override readonly maxDatagramSize: number;
  readonly #incoming: number;
  readonly #incomingSize: number;
  readonly #outgoing: number;

  /** @throws {@link CoreError} with a code that says which part of schema or config cannot work. */
  constructor(core: Core, schema: Of, config: ConversationConfig = {}) {
    const { connection_create, connection_destroy } = core.exports;
    super(core, schema, config, connection_create, connection_destroy);
    const [maxDatagramSize, maxPacketSize] = [4, 8].map((at) =>
      core.memory.u32(core.scratch + at),
    ) as [number, number];
    this.maxDatagramSize = maxDatagramSize;
    this.#incomingSize = maxPacketSize + LONGER_THAN_ANY_HEADER;
    this.#incoming = this.buffer(this.#incomingSize);
    this.#outgoing = this.buffer(maxDatagramSize);
  }

  protected override get connection(): number {
    return this.address;
  }

  /** Takes a datagram that arrived; false when it was dropped, which {@link stats} counts. */
  override receive(datagram: Uint8Array, now: number): boolean {
    const { core, address } = this;
    const size = Math.min(datagram.length, this.#incomingSize);
    core.memory.bytes.set(datagram.subarray(0, size), this.#incoming);
    return errorCodes[core.exports.connection_receive(address, this.#incoming, size, now)] === 'OK';
  }

  /** Lets time pass and opens a round of datagrams. Call it once per tick, then {@link transmit}. */
  override update(now: number): void {
    this.core.exports.connection_update(this.address, now);
  }

  /** The next datagram of this round, `undefined` when it is over. */
  override transmit(now: number): Uint8Array<ArrayBuffer> | undefined {
    const { core, maxDatagramSize } = this;
    const { exports, memory } = core;
    const size = exports.connection_transmit(this.address, this.#outgoing, maxDatagramSize, now);
    return size > 0 ? memory.copy(this.#outgoing, size) : undefined;
  }
}
