import { CoreObject, type Core } from './core.js';
import {
  endpointConfigAt,
  endpointConfigStruct,
  endpointEventAt,
  endpointEvents,
  endpointStatsStruct,
  errorCodes,
} from './generated.js';

/** The options of an {@link Endpoint}. Both ends must agree on the first two. */
export interface EndpointConfig {
  /** Longest payload in bytes, at most 256 fragments. Default 4096. */
  readonly maxPacketSize?: number;
  /** Payload bytes in a fragment. Default 1024. */
  readonly fragmentSize?: number;
  /** The longest payload that is sent, in bytes, 1 or more; the sender's own choice. Default `maxPacketSize`. */
  readonly maxSendSize?: number;
  /** Longer payloads are sent in fragments; the sender's own choice. Default 1024. */
  readonly fragmentAbove?: number;
  /** Packets remembered until acked or lost, a power of two from 32 to 16384. Default 256. */
  readonly sentWindow?: number;
  /** Packets in which duplicates are recognised, a power of two from 32 to 16384. Default 256. */
  readonly receivedWindow?: number;
  /** Packets that can be incomplete at the same time, 1 to 64. Default 4. */
  readonly maxReassemblies?: number;
  /** The weight of a new sample in `rtt`, above 0, at most 1. Default 0.1. */
  readonly rttSmoothing?: number;
  /** The least seconds that pass before a packet is reported lost. Default 0.1. */
  readonly minLossTimeoutSeconds?: number;
}

/** Something that happened to a packet. */
export type EndpointEvent =
  /** A packet of the other end arrived, to be accepted. The receiver may keep the payload. */
  | {
      readonly type: 'packet';
      readonly sequence: number;
      readonly payload: Uint8Array<ArrayBuffer>;
    }
  /** A packet of ours arrived at the other end. */
  | { readonly type: 'acked'; readonly sequence: number }
  /** A packet of ours has most likely not arrived. An `acked` may still follow when it was only late. */
  | { readonly type: 'lost'; readonly sequence: number };

/** The fate of a datagram: taken, or the reason why it was dropped. */
export type ReceiveResult = 'ok' | 'malformed' | 'stale' | 'duplicate';

/** An endpoint's statistics of the path. Times are in seconds, shares from 0 to 1. */
export interface EndpointStats {
  /** Packets sent; each counts once, however many fragments it has. */
  readonly packetsSent: number;
  /** Packets that the application accepted. */
  readonly packetsReceived: number;
  /** Packets of ours that are known to have arrived. */
  readonly packetsAcked: number;
  /** Packets of ours that were reported lost and not acked since. */
  readonly packetsLost: number;
  /** Packets of the other end that are missing although later ones have arrived. */
  readonly packetsMissed: number;
  /** Packets that arrived again and were dropped. */
  readonly packetsDuplicate: number;
  /** Packets that arrived too late for the window and were dropped. */
  readonly packetsStale: number;
  /** Datagrams that are not of this protocol and were dropped. */
  readonly packetsMalformed: number;
  /** Packets of the other end that were given up with fragments missing. */
  readonly packetsAbandoned: number;
  /** Fragments sent. */
  readonly fragmentsSent: number;
  /** Fragments received, without duplicates. */
  readonly fragmentsReceived: number;
  /** Datagrams sent. */
  readonly datagramsSent: number;
  /** All datagrams that `receive` was given. */
  readonly datagramsReceived: number;
  /** Bytes of datagrams sent, without UDP and IP headers. */
  readonly bytesSent: number;
  /** Bytes of datagrams received, dropped ones included. */
  readonly bytesReceived: number;
  /**
   * Seconds from `send` to the `receive` that brought the first ack, smoothed. The time for which the
   * other end waited before it sent its next packet is part of it. 0 before the first sample.
   */
  readonly rtt: number;
  /** Smallest sample of the round trip so far. */
  readonly rttMin: number;
  /** Mean distance of the samples from `rtt`. */
  readonly rttDeviation: number;
  /** Mean difference between one sample and the next. */
  readonly jitter: number;
  /** Share of our latest packets that were lost. */
  readonly lossSent: number;
  /** Share of the other end's latest packets that did not arrive. */
  readonly lossReceived: number;
  /** Bytes per second sent over about the last second, without UDP and IP headers. */
  readonly sentBytesPerSecond: number;
  /** Bytes per second received, counted in the same way. */
  readonly receivedBytesPerSecond: number;
  /** Bytes per second of our packets that arrived, counted in the same way. */
  readonly ackedBytesPerSecond: number;
}

/**
 * A datagram that is this many bytes longer than any packet is dropped anyway, so its other bytes need not be copied.
 */
export const LONGER_THAN_ANY_HEADER = 16;

/**
 * One end of a path for packets: sequence numbers, acks, fragments and statistics of the path. Nothing is sent again: a
 * packet is reported acked or lost.
 *
 * It does no I/O and has no clock: bytes and the time, in seconds that only go forward, come from the
 * caller (`performance.now() / 1000` will do).
 */
export class Endpoint extends CoreObject {
  /** Longest payload of a packet, in bytes. */
  readonly maxPacketSize: number;
  /** Longest datagram that `transmit` gives, in bytes. */
  readonly maxDatagramSize: number;
  readonly #incoming: number;
  readonly #incomingSize: number;
  readonly #outgoing: number;
  /** Size of the first datagram of the latest packet, 0 when it has been taken. */
  #first = 0;

  /** @throws {@link MisuseError} `CONFIG`, with the `field` that cannot work. */
  constructor(core: Core, config: EndpointConfig = {}) {
    const { exports, memory } = core;
    const defaults = exports.cw_endpoint_config_default;
    const options = core.configure(endpointConfigStruct, config, defaults);
    const made = core.made((out) => exports.cw_endpoint_create(options, out));
    super(core, made, exports.cw_endpoint_destroy);
    this.maxPacketSize = memory.u32(options + endpointConfigAt.maxPacketSize);
    this.maxDatagramSize = exports.cw_endpoint_max_datagram_size(made);
    this.#outgoing = this.buffer(this.maxDatagramSize);
    this.#incomingSize =
      Math.max(this.maxPacketSize, this.maxDatagramSize) + LONGER_THAN_ANY_HEADER;
    this.#incoming = this.buffer(this.#incomingSize);
  }

  /** The sequence number of the next packet. */
  get nextSequence(): number {
    return this.core.exports.cw_endpoint_next_sequence(this.address);
  }

  /**
   * Makes a packet of `payload`; then take its datagrams with {@link transmit}.
   * @returns the sequence number by which the packet is reported acked or lost.
   * @throws {@link MisuseError} `PACKET_TOO_LARGE` above `maxSendSize`; `TRANSMIT_PENDING` when datagrams
   *   of the packet before were not taken; `EVENTS_PENDING` when {@link next} was not called for too long.
   */
  send(payload: Uint8Array, now: number): number {
    const { core, address, nextSequence } = this;
    const { length } = payload;
    if (this.#first > 0) throw core.error('TRANSMIT_PENDING');
    const { exports, memory } = core;
    const place = core.made((out) =>
      exports.cw_endpoint_begin(address, length, this.#outgoing, this.maxDatagramSize, out),
    );
    memory.bytes.set(payload, place);
    this.#first = exports.cw_endpoint_commit(address, length, now, 0);
    return nextSequence;
  }

  /** Returns the next datagram to put on the wire, or `undefined` when there is none. */
  transmit(now: number): Uint8Array<ArrayBuffer> | undefined {
    const { exports, memory } = this.core;
    const size =
      this.#first ||
      exports.cw_endpoint_transmit(this.address, this.#outgoing, this.maxDatagramSize, now);
    this.#first = 0;
    return size > 0 ? memory.copy(this.#outgoing, size) : undefined;
  }

  /**
   * Takes a datagram that arrived. Take the events with {@link next} before the following one, and
   * {@link accept} the packet.
   * @throws {@link MisuseError} `EVENTS_PENDING` when the packet before was not taken; then the datagram has not been
   *   looked at.
   */
  receive(datagram: Uint8Array, now: number): ReceiveResult {
    const { core, address } = this;
    const size = core.memory.put(datagram, this.#incoming, this.#incomingSize);
    const code = core.exports.cw_endpoint_receive(address, this.#incoming, size, now);
    switch (errorCodes[code]) {
      case 'OK':
        return 'ok';
      case 'MALFORMED':
        return 'malformed';
      case 'STALE':
        return 'stale';
      case 'DUPLICATE':
        return 'duplicate';
      default:
        throw core.error(code);
    }
  }

  /** Lets time pass: reports packets lost whose time is up. Call it once per tick. */
  update(now: number): void {
    this.core.exports.cw_endpoint_update(this.address, now);
  }

  /** Takes the next event, `undefined` when there is none. */
  next(): EndpointEvent | undefined {
    const { exports, memory, scratch } = this.core;
    if (!exports.cw_endpoint_next(this.address, scratch)) return undefined;
    const type = memory.u32(scratch + endpointEventAt.type);
    const sequence = memory.view.getUint16(scratch + endpointEventAt.sequence, true);
    if (type === endpointEvents.ACKED) return { type: 'acked', sequence };
    if (type === endpointEvents.LOST) return { type: 'lost', sequence };
    const payload = memory.u32(scratch + endpointEventAt.payload);
    const size = memory.u32(scratch + endpointEventAt.size);
    return { type: 'packet', sequence, payload: memory.copy(payload, size) };
  }

  /** Takes all events, so that a loop can go over them: `for (const event of endpoint.events())`. */
  *events(): Generator<EndpointEvent, void> {
    for (let event = this.next(); event; event = this.next()) yield event;
  }

  /**
   * Accepts the packet that arrived last: from now on it is acked, and not delivered again. A packet that the
   * application cannot use is not accepted. Call this before the following `receive`.
   */
  accept(sequence: number): void {
    this.core.exports.cw_endpoint_accept(this.address, sequence);
  }

  /** Returns the statistics of the path. */
  stats(): EndpointStats {
    const { core, address } = this;
    return core.read(endpointStatsStruct, (out) =>
      core.exports.cw_endpoint_get_stats(address, out),
    );
  }

  /** Goes back to the state after the constructor. */
  reset(): void {
    this.#first = 0;
    this.core.exports.cw_endpoint_reset(this.address);
  }
}
