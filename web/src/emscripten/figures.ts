import type { TransportKind, TransportStats } from '../transports/transport.js';
import type { DatagramSocket, SocketDrops } from './datagram_socket.js';

/** The figures of all sockets of a page together. */
export interface SocketStats extends TransportStats, SocketDrops {
  /** The transports of the open sockets, without those sockets that have reached no relay yet. */
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
/** The sums of the sockets that are closed. */
let past = zero;

const add = (sum: typeof zero, more: Partial<typeof zero>): typeof zero =>
  Object.fromEntries(
    Object.entries(sum).map(([name, value]) => [
      name,
      value + (more[name as keyof typeof zero] ?? 0),
    ]),
  ) as unknown as typeof zero;

/** Includes a socket in the figures. */
export function count<Socket extends DatagramSocket>(socket: Socket): Socket {
  open.add(socket);
  socket.addEventListener('close', () => {
    open.delete(socket);
    past = add(past, socket.stats());
  });
  return socket;
}

/** Returns the figures of all sockets since the page was loaded. */
export function stats(): SocketStats {
  const sockets = [...open];
  return {
    ...sockets.reduce((sum, socket) => add(sum, socket.stats()), past),
    transports: sockets.flatMap(({ transport }) => transport ?? []),
  };
}
