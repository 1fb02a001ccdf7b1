import type { Core } from '../core.js';
import type { DatagramEnd } from '../messages/message_end.js';
import type { Schema } from '../messages/schema.js';
import { packetAt } from './generated.js';
import type { Packet } from './packet_row.js';

/** The newest packet of each end. */
export interface Packets {
  readonly sent?: Packet;
  readonly received?: Packet;
}

/** Tells the newest packets until it is stopped. */
export interface Watch {
  readonly packets: () => Packets | Promise<Packets>;
  readonly stop: () => void;
}

/** An end of a connection with the members that only the package itself uses. */
interface End extends Pick<DatagramEnd<Schema>, 'receive' | 'transmitView' | 'channelStats'> {
  readonly core: Core;
  readonly connection: number;
}

/** A client of the package, with such members: the end of its connection, or the packets that its Worker has seen. */
interface Inside {
  readonly messages?: { readonly end?: End };
  packets?(): Promise<Packets>;
}

type Head = Pick<Packet, 'sequence' | 'ack' | 'ackBits'>;

/** The state of a connection that tells of its packets. */
interface State {
  /** The newest packet sent, with what the next one will ack: what this one does, as long as nothing has come. */
  readonly sent: Head;
  /** The newest packet received, with the newest acks. */
  readonly received: Head;
  /** Messages that have come, that wait for their first packet, and that were sent again. */
  readonly read: number;
  readonly queued: number;
  readonly resent: number;
}

/** Returns the number before one of 16 bits. */
const before = (number: number): number => (number - 1) & 0xffff;

/**
 * Reads the state in the core's memory. The core keeps no heads of packets for an inspector, for which every page would
 * pay.
 */
function stateOf(end: End): State {
  const { memory } = end.core;
  const at = (place: keyof typeof packetAt): number => endpoint + packetAt[place];
  const u16 = (place: keyof typeof packetAt): number => memory.view.getUint16(at(place), true);
  const endpoint = memory.u32(end.connection + packetAt.endpoint);
  const theirs = before(u16('theirNext'));
  const sent = { sequence: before(u16('next')), ack: theirs, ackBits: memory.u32(at('ackBits')) };
  const received = {
    sequence: theirs,
    ack: u16('theirAck'),
    ackBits: memory.u32(at('theirAckBits')),
  };
  const read = memory.u32(end.connection + packetAt.messagesRead);
  let [queued, resent] = [0, 0];
  for (let i = memory.u32(end.connection + packetAt.channels); i-- > 0;) {
    const stats = end.channelStats(i);
    queued += stats.queued;
    resent += stats.resent;
  }
  return { sent, received, read, queued, resent };
}

/** Watches an end of a connection, each time that it sends a datagram or takes one. */
function watchEnd(end: End): Watch {
  const { transmitView, receive } = end;
  const packets: { -readonly [Way in keyof Packets]: Packets[Way] } = {};
  end.transmitView = (now) => {
    const last = stateOf(end);
    const datagram = transmitView.call(end, now);
    const { sent, queued, resent } = stateOf(end);
    if (datagram && sent.sequence !== last.sent.sequence) {
      const again = resent - last.resent;
      const messages = last.queued - queued + again;
      packets.sent = { ...sent, size: datagram.length, messages, resent: again };
    }
    return datagram;
  };
  end.receive = (datagram, now) => {
    const last = stateOf(end);
    const taken = receive.call(end, datagram, now);
    const { received, read } = stateOf(end);
    // Only the other end knows which of its messages it has sent before.
    if (received.sequence !== last.received.sequence)
      packets.received = {
        ...received,
        size: datagram.length,
        messages: read - last.read,
        resent: 0,
      };
    return taken;
  };
  return { packets: () => packets, stop: () => Object.assign(end, { transmitView, receive }) };
}

/** Watches the packets of a client. One that is not of this package has none. */
export function watchPackets(client: object): Watch {
  const inside = client as Inside;
  if (inside.messages?.end) return watchEnd(inside.messages.end);
  return { packets: () => inside.packets?.() ?? {}, stop: () => {} };
}
