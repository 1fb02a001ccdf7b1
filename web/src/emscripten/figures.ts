import type { TransportKind, TransportStats } from '../transports/transport.js';
import type { DatagramSocket, SocketDrops } from './datagram_socket.js';

/** What all sockets of a page have done together. */
export interface SocketStats extends TransportStats, SocketDrops {
  /** What carries each of the sockets that are open; a socket that has reached no relay yet is not in it. */
  readonly transports: readonly TransportKind[];
}

const zero: Omit<SocketStats, 'transports'> = {
  datagramsSent: 0,
  bytesSent: 0,
  datagramsReceived: 0,
  bytesReceived: 0,
  datagramsWaiting: 0,
  droppedBacklog: 0,
  droppedClosed: 0,
  droppedForeign: 0,
  droppedUnread: 0,
  droppedSize: 0,
  droppedWaiting: 0,
  droppedFull: 0,
};

const open = new Set<DatagramSocket>();
/** Of those that are closed. */
let past = zero;

const add = (sum: typeof zero, more: Partial<typeof zero>): typeof zero =>
  Object.fromEntries(
    Object.entries(sum).map(([name, value]) => [
      name,
      value + (more[name as keyof typeof zero] ?? 0),
    ]),
  ) as unknown as typeof zero;

/** Counts what this socket does. */
export function count<Socket extends DatagramSocket>(socket: Socket): Socket {
  open.add(socket);
  socket.addEventListener('close', () => {
    open.delete(socket);
    past = add(past, socket.stats());
  });
  return socket;
}

/** What all sockets have done since the page was loaded. */
export function stats(): SocketStats {
  const sockets = [...open];
  return {
    ...sockets.reduce((sum, socket) => add(sum, socket.stats()), past),
    transports: sockets.flatMap(({ transport }) => transport ?? []),
  };
}
