import type { congestionLimits } from '../generated.js';
import type { EndpointConfig, EndpointStats } from '../endpoint.js';
import type { Channel } from './channels.js';
import type { MessageBlock, MessageName, MessageValue, Schema } from './schema.js';

/** What both ends of a connection agree on, and what each may hold. */
export interface ConnectionConfig {
  /** Default: 0 is reliable, 1 is unreliable. */
  readonly channels?: readonly Channel[];
  /**
   * Packets. Those that are sent are filled up to `fragmentAbove`, by default 1064, so that each is one
   * datagram; those of the other end are received up to `maxPacketSize`, by default 8192, whole or in
   * fragments. `maxReassemblies` is 3 by default, all else as for an endpoint alone.
   */
  readonly endpoint?: EndpointConfig;
  /** Messages sent and not acked, 1 to 32768. No channel can take them all. Default 256. */
  readonly maxMessages?: number;
  /**
   * Messages received and not taken, 1 to 32768. With more the other end is held back, and of unreliable
   * ones the oldest are dropped. Default half of `maxMessages`.
   */
  readonly maxReceivedMessages?: number;
  /** Datagrams in one round, 1 to 64. Default 32. */
  readonly maxPacketsPerUpdate?: number;
  /** How long to send nothing when there is nothing to say, 0 (never) to 10. Default 0.1. */
  readonly idleIntervalSeconds?: number;
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

/** Something that happened on a connection. */
export type ConnectionEvent<Of extends Schema = Schema> =
  /** A message of the other end arrived. */
  | { readonly type: 'message'; readonly message: Message<Of> }
  /** What became of a message that was sent with this receipt. */
  | { readonly type: Fate; readonly receipt: number };

/** What congestion control holds packets back by. */
export type CongestionLimit = (typeof congestionLimits)[keyof typeof congestionLimits];

/** What a connection has seen of the path, and what it dropped. */
export interface ConnectionStats extends EndpointStats {
  /** Bytes of bulk data, mostly blocks, that may be in flight. */
  readonly congestionWindowBytes: number;
  /** How many of them are. */
  readonly bytesInFlight: number;
  /**
   * What held the latest round back: nothing (`NONE`), the window, the pacing of what the window lets go, or
   * the rate of the binary mode.
   */
  readonly limited: CongestionLimit;
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
  /** Messages that could be sent now: more do not fit into the queue, or into `maxMessages`. */
  readonly room: number;
  /** The room when nothing waits. */
  readonly capacity: number;
  /** Reliable: seconds from send to the ack, smoothed. */
  readonly deliveryLatencySeconds: number;
}
