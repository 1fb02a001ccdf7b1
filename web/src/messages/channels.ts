import type { Core } from '../core.js';
import {
  MAX_CHANNELS,
  channelConfigStruct,
  channelKinds,
  type recoveryKinds,
} from '../generated.js';
import type { MessageName, MessageValue, Schema } from './schema.js';

/** The options of a channel. Both ends must agree on all except those that are called the sender's own. */
export interface ChannelConfig {
  /** Messages in one packet at most, 1 to 256. Default 256. */
  readonly maxMessagesPerPacket?: number;
  /**
   * Messages that the receiver holds until they are taken, a power of two. Default 256. One more waits at the sender,
   * or takes the place of the oldest on an unreliable channel.
   */
  readonly receiveQueueSize?: number;
  /** True when messages may carry a block. Default false. */
  readonly blocks?: boolean;
  /** Longest block in bytes. Default 262144. */
  readonly maxBlockSize?: number;
  /** Bytes of a block or of a large message that go into one packet. Default 1024. */
  readonly blockFragmentSize?: number;
  /**
   * Longest message in bytes, with its block. Messages that do not fit into a packet go in fragments among the others.
   * This extends the wire format, so the server's channel needs it too. 0 stands for none; at most `receiveQueueSize`
   * times `blockFragmentSize`. Default: what the schema's fields need; its blocks are not counted.
   */
  readonly maxMessageSize?: number;
  /**
   * The way in which a reliable channel acts before it knows that a message was lost. It does the more, the more
   * packets are lost and the more a loss costs. Default `RESEND`: nothing, a message is sent again after a round trip.
   * `COPIES` sends messages again in the following packets. `CODED` sends combinations of all unacked messages, from
   * which the receiver rebuilds lost ones; messages above 256 bytes are copied. It extends the wire format, so the
   * server's channel needs it too.
   */
  readonly recovery?: keyof typeof recoveryKinds;
  /**
   * Messages that may wait or be unacked, a power of two; the sender's own. Default 256, of which a channel gets what
   * the other channels leave of `maxMessages`: 240 when there are two.
   */
  readonly sendQueueSize?: number;
  /** Bytes that this channel may take of one packet, 1 or more; the sender's own. Default all. */
  readonly packetBudget?: number;
  /** The channel's relative share of a packet that cannot hold everything, 1 to 1000; the sender's own. Default 1. */
  readonly weight?: number;
  /** The most that `recovery` adds to the bytes of messages, in percent, 1 to 400; the sender's own. Default 100. */
  readonly extraBytes?: number;
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

/** Makes a channel on which every message arrives, once, in the order of sending. */
export const reliable = (config: ChannelConfig = {}): Channel => ({ ...config, kind: 'reliable' });

/** Makes a channel on which a message is sent once and may be lost or overtaken. */
export const unreliable = (config: ChannelConfig = {}): Channel => ({
  ...config,
  kind: 'unreliable',
});

/**
 * Makes an unreliable channel on which a message that is older than one that has arrived is dropped. yojimbo does not
 * have it, so the server must be built with Causeway.
 */
export const unreliableSequenced = (config: ChannelConfig = {}): Channel => ({
  ...config,
  kind: 'unreliableSequenced',
});

/**
 * Makes a channel on which every message arrives, once, as soon as its packet does. A message that is lost holds up no
 * other, unless it is `receiveQueueSize` messages behind. Give blocks a channel of their own. yojimbo does not have it,
 * so the server must be built with Causeway.
 */
export const reliableUnordered = (config: ChannelConfig = {}): Channel => ({
  ...config,
  kind: 'reliableUnordered',
});

/** The way of a type of messages: a kind of channel, a reliable channel for messages with blocks, or a channel's number. */
export type Delivery = keyof typeof kinds | 'blocks' | number;

/** The channels that a connection has for its messages, in this order: the first two always, others if a type needs them. */
const derived: readonly (readonly [Delivery, Channel])[] = [
  ['reliable', reliable()],
  ['unreliable', unreliable()],
  ['reliableUnordered', reliableUnordered()],
  ['unreliableSequenced', unreliableSequenced()],
  ['blocks', reliable({ blocks: true })],
];

/** Returns the config with the channels that the types of messages need, if it has none. */
export const withChannels = <Config extends { readonly channels?: readonly Channel[] }>(
  schema: Schema,
  config: Config,
): Config & { readonly channels: readonly Channel[] } => {
  // The module refuses later what is no schema.
  const { types = [] } = (schema ?? {}) as Partial<Schema>;
  const needed = derived.filter(
    ([way], i) => i < 2 || types.some(({ delivery }) => delivery === way),
  );
  const { channels = needed.map(([, channel]) => channel) } = config;
  return { ...config, channels };
};

/** The channels of a connection, and which of them is that of each type of messages. */
export class MessageChannels {
  readonly count: number;
  readonly #numbers = new Map<string, number>();

  constructor({ types }: Schema, channels: readonly Channel[]) {
    this.count = channels.length;
    const fits = (way: Delivery, { kind, blocks }: Channel): boolean =>
      way === 'blocks' ? kind === 'reliable' && Boolean(blocks) : kind === way;
    for (const { name, delivery } of types)
      this.#numbers.set(
        name,
        typeof delivery === 'number'
          ? delivery
          : channels.findIndex((channel) => fits(delivery, channel)),
      );
  }

  /** @throws RangeError when the schema has no such type, or the connection no channel of the kind that it needs */
  of(type: string): number {
    const number = this.#numbers.get(type);
    if (number === undefined) throw new RangeError(`the schema has no message ${type}`);
    if (number < 0)
      throw new RangeError(
        `${type}: the connection has no channel of its kind; declare the message with a \`channel\``,
      );
    return number;
  }
}

/**
 * Returns a message as its sender gave it, from the channel or from the type on, with the channel on which it goes; `end`
 * knows those of the types.
 */
export const placed = <Of extends Schema>(
  message: readonly unknown[],
  end: { channelOf(type: MessageName<Of>): number },
) =>
  (typeof message[0] === 'string'
    ? [end.channelOf(message[0] as MessageName<Of>), ...message]
    : message) as readonly [
    channel: number,
    type: MessageName<Of>,
    value: MessageValue<Of, MessageName<Of>>,
    block?: Uint8Array,
  ];

/** No kind of channel, so that an unknown one is refused. */
const NO_KIND = 2 ** 31 - 1;

/** Writes channels to an array of structs, as many as there can be. */
export function writeChannels(core: Core, at: number, channels: readonly Channel[]): void {
  const { exports, memory } = core;
  channels.slice(0, MAX_CHANNELS).forEach((channel, i) => {
    const place = at + i * channelConfigStruct.size;
    const kind = kinds[channel.kind] ?? NO_KIND;
    exports.cw_channel_config_default(place, kind);
    const { blocks = false } = channel;
    const values = {
      ...channel,
      kind,
      blocks: Boolean(blocks),
    };
    memory.setConfig(place, channelConfigStruct, values);
  });
}
