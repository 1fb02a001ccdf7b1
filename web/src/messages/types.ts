import type {
  congestionLimits,
  congestionModes,
  congestionReasons,
  congestionStates,
} from '../generated.js';
import type { EndpointConfig, EndpointStats } from '../endpoint.js';
import type { Channel } from './channels.js';
import type { AnswerValue, QuestionValue, RequestName } from './request.js';
import type { MessageBlock, MessageName, MessageValue, Schema } from './schema.js';

/** The options of congestion control. The two ends may differ. */
export interface CongestionConfig {
  /**
   * `DELAY`, the default, keeps the queue of the slowest link short, and holds only blocks and large messages back.
   * `BINARY` sends at one of two rates, chosen by the round trip time. `NONE` holds nothing back.
   */
  readonly mode?: keyof typeof congestionModes;
  /** The longest that the queue may be in the mode `DELAY`, above 0. Default 0.03. */
  readonly targetSeconds?: number;
  /** The round trip time from which on the mode `BINARY` sends at the bad rate. Default 0.25. */
  readonly rttThresholdSeconds?: number;
  /** The good rate of the mode `BINARY`. Default 30. */
  readonly goodPacketsPerSecond?: number;
  /** Its bad rate, at most the good one. Default 10. */
  readonly badPacketsPerSecond?: number;
}

/** The options of a connection: those on which both ends agree, and the limits of each end. */
export interface ConnectionConfig {
  /** The channels of the connection. Default: those that the schema's messages need; 0 is reliable, 1 is unreliable. */
  readonly channels?: readonly Channel[];
  /**
   * The options of packets. Packets that are sent are filled up to `fragmentAbove`, by default 1064, so that each is
   * one datagram; packets of the other end are received up to `maxPacketSize`, by default 8192, whole or in fragments.
   * `maxReassemblies` is 3 by default; the other defaults are those of an endpoint alone.
   */
  readonly endpoint?: EndpointConfig;
  /** The options of congestion control, which is on by default. */
  readonly congestion?: CongestionConfig;
  /** Messages sent and not acked, 1 to 32768. No channel can take them all. Default 256. */
  readonly maxMessages?: number;
  /**
   * Messages received and not taken, 1 to 32768. With more, the other end is held back, and the oldest unreliable
   * messages are dropped. Default half of `maxMessages`.
   */
  readonly maxReceivedMessages?: number;
  /**
   * Requests of this end that may be open, and of the other end that may be unanswered, 1 to 64. Default 32 where the
   * schema has a request.
   */
  readonly maxRequests?: number;
  /** Datagrams in one round, 1 to 256. Default 128. */
  readonly maxPacketsPerUpdate?: number;
  /**
   * The longest time without a packet when there is nothing to send, from 0 (a packet in each round) to 10. Default
   * 0.5.
   */
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
    /** The index of the channel on which the message came. */
    readonly channel: number;
    /** The block of the message, if its type carries one. */
    readonly block: BlockOf<MessageBlock<Of, Name>>;
  };
}[MessageName<Of>];

/**
 * The fate of a message: it arrived, or, if it was unreliable, most likely did not. A `lost` message that arrives after
 * all is not reported again.
 */
export type Fate = 'acked' | 'lost';

/** A question of the other end. `type` is the name of the request, and tells what `value` is. */
export type Question<Of extends Schema> = {
  readonly [Name in RequestName<Of>]: {
    readonly type: Name;
    readonly value: QuestionValue<Of, Name>;
    /** The index of the channel on which the question came, and on which the answer goes. */
    readonly channel: number;
  };
}[RequestName<Of>];

/** The reasons for which a request is not answered: its time is over, the other end refused, the connection has ended. */
export type Unanswered = 'timedOut' | 'refused' | 'closed';

/** Something that happened on a connection. */
export type ConnectionEvent<Of extends Schema = Schema> =
  /** A message of the other end arrived. */
  | { readonly type: 'message'; readonly message: Message<Of> }
  /** The fate of a message that was sent with this receipt is known. */
  | { readonly type: Fate; readonly receipt: number }
  /** The other end asks a question; `request` is the number to answer with. */
  | { readonly type: 'request'; readonly request: number; readonly question: Question<Of> }
  /** The request of this number is answered. */
  | {
      readonly type: 'answer';
      readonly request: number;
      readonly value: AnswerValue<Of, RequestName<Of>>;
    }
  /** The request of this number will not be answered; `code` is that of a refusal, otherwise 0. */
  | {
      readonly type: 'unanswered';
      readonly request: number;
      readonly reason: Unanswered;
      readonly code: number;
    };

/** The limits by which congestion control holds packets back. */
export type CongestionLimit = (typeof congestionLimits)[keyof typeof congestionLimits];

/** The state of the binary mode of congestion control. */
export interface BinaryStats {
  /** `NONE` in other modes, in which all that follows says nothing. */
  readonly congestionState: 'NONE' | (typeof congestionStates)[keyof typeof congestionStates];
  /**
   * The reason for this state. Bad: there is no round-trip time yet (`NO_RTT`), it is above the threshold (`HIGH_RTT`),
   * or it is good, but not yet for the penalty time (`PENALTY`). Good: `RECOVERED`.
   */
  readonly congestionReason: (typeof congestionReasons)[keyof typeof congestionReasons];
  /** The rate that is allowed now. */
  readonly packetsPerSecond: number;
  /** The round-trip time less the usual wait at an end that sends rarely, in seconds. */
  readonly judgedRtt: number;
  /** A longer `judgedRtt` is bad. */
  readonly rttThresholdSeconds: number;
  /** The time for which the round-trip time must be good to end the bad state. */
  readonly penaltySeconds: number;
  /** The time for which the good state has lasted, or the good round-trip time in the bad one. */
  readonly goodSeconds: number;
}

/** A connection's statistics of the path, and of what it dropped. */
export interface ConnectionStats extends EndpointStats, BinaryStats {
  /** Bytes of bulk data, mostly blocks, that may be in flight. */
  readonly congestionWindowBytes: number;
  /** Bytes of bulk data that are in flight. */
  readonly bytesInFlight: number;
  /**
   * The limit that held the latest round back: none (`NONE`), the window, the pacing within the window, or the rate of
   * the binary mode.
   */
  readonly limited: CongestionLimit;
  /** Packets received whose messages could not be kept; they come again. */
  readonly packetsRefused: number;
  /** Packets received that were malformed inside. */
  readonly packetsInvalid: number;
  /** Messages that are sent and not acked, or received and not taken. */
  readonly messagesInUse: number;
}

/** The statistics of the messages of one channel. */
export interface ChannelStats {
  /** Messages that `send` has accepted. */
  readonly sent: number;
  /** Messages and parts of blocks that were sent once more. */
  readonly resent: number;
  /** Messages known to have arrived, on a reliable channel. */
  readonly delivered: number;
  /** Messages that arrived and were kept, each once. */
  readonly received: number;
  /** Messages of an unreliable channel that found no room when sent, or made room for later ones after they arrived. */
  readonly dropped: number;
  /** Messages that wait for their first packet. */
  readonly queued: number;
  /** Messages that were sent and are not known to have arrived, on a reliable channel. */
  readonly inFlight: number;
  /** Messages that could be sent now: more do not fit into the queue, or into `maxMessages`. */
  readonly room: number;
  /** The value of `room` when nothing waits. */
  readonly capacity: number;
  /** Seconds from send to the ack, smoothed, on a reliable channel. */
  readonly deliveryLatencySeconds: number;
}
