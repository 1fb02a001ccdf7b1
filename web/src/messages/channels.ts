import { channelKinds, channelNumberFields } from '../generated.js';
import { numbersOf } from '../memory.js';

/** What a channel can be told. Both ends must agree on all but the sender's own settings. */
export interface ChannelConfig {
  /** Messages in one packet at most, 1 to 256. Default 256. */
  readonly maxMessagesPerPacket?: number;
  /**
   * Messages that the receiver holds until they are taken, a power of two. Default 256. One more waits
   * at the sender or, unreliable, takes the place of the oldest.
   */
  readonly receiveQueueSize?: number;
  /** Whether messages may carry a block. Default false. */
  readonly blocks?: boolean;
  /** Longest block in bytes. Default 262144. */
  readonly maxBlockSize?: number;
  /** Bytes of a block that go into one packet. Default 1024. */
  readonly blockFragmentSize?: number;
  /**
   * Reliable: while packets are being lost, they also carry combinations of all unacked messages, from which the
   * receiver rebuilds lost ones without a round trip. An extension of the wire, which the server's channel needs
   * too. For a few small messages a tick; it does not pay where losses come in long bursts. Default false.
   */
  readonly repair?: boolean;
  /**
   * The sender's own: messages that may wait or be unacked, a power of two. Default 256, of which a channel gets what the
   * others leave it of `maxMessages`: 240 of two channels.
   */
  readonly sendQueueSize?: number;
  /** The sender's own: bytes that this channel may take of one packet, 1 or more. Default all. */
  readonly packetBudget?: number;
  /** The sender's own: share of a packet that cannot hold all, 1 to 1000. Default 1. */
  readonly weight?: number;
  /** The sender's own: copies of each new message in later packets while there is loss, 0 to 3. Default 0. */
  readonly redundancy?: number;
  /** The sender's own: bytes of such copies in one packet; 0: none. Default 512. */
  readonly redundancyBudget?: number;
}

const kinds = {
  reliable: channelKinds.RELIABLE_ORDERED,
  unreliable: channelKinds.UNRELIABLE,
  unreliableSequenced: channelKinds.UNRELIABLE_SEQUENCED,
  reliableUnordered: channelKinds.RELIABLE_UNORDERED,
};

/**
 * A channel of a connection, made with {@link reliable}, {@link unreliable}, {@link unreliableSequenced} or
 * {@link reliableUnordered}.
 */
export interface Channel extends ChannelConfig {
  readonly kind: keyof typeof kinds;
}

/** A channel on which every message arrives, once, in the order of sending. */
export const reliable = (config: ChannelConfig = {}): Channel => ({ ...config, kind: 'reliable' });

/** A channel on which a message is sent once and may be lost or overtaken. */
export const unreliable = (config: ChannelConfig = {}): Channel => ({
  ...config,
  kind: 'unreliable',
});

/**
 * An unreliable channel on which a message that is older than one that has arrived is dropped. yojimbo does not have
 * it, so the server must be built with Causeway.
 */
export const unreliableSequenced = (config: ChannelConfig = {}): Channel => ({
  ...config,
  kind: 'unreliableSequenced',
});

/**
 * A channel on which every message arrives, once, as soon as its packet does: one that is lost holds up no other,
 * unless it is `receiveQueueSize` messages behind. Give blocks a channel of their own. yojimbo does not have it, so
 * the server must be built with Causeway.
 */
export const reliableUnordered = (config: ChannelConfig = {}): Channel => ({
  ...config,
  kind: 'reliableUnordered',
});

/** What a connection has when nothing else is said: 0 is reliable, 1 is not. */
export const defaultChannels: readonly Channel[] = [reliable(), unreliable()];

/** The numbers of channels as the module takes them. */
export const channelNumbers = (channels: readonly Channel[]): number[] =>
  channels.flatMap((channel) =>
    numbersOf(channelNumberFields, {
      ...channel,
      kind: kinds[channel.kind],
      blocks: channel.blocks ? 1 : 0,
      repair: channel.repair ? 1 : 0,
    }),
  );
