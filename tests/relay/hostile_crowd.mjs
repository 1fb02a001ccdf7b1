// The connections of a stranger: there are many, from several addresses, and each is replaced when the relay closes it.
import net from 'node:net';
import { until } from '../support/patience.mjs';
import { own } from '../support/fixture.mjs';

const TICK_MS = 20;

/**
 * Keeps `count` connections to the relay open, from so many `addresses` in turn, and opens at most `perSecond` new ones
 * a second. `begin(socket)` is called for each connected socket. The addresses are `from(0)` and so on; `host` is the
 * address of the relay as seen from there.
 */
export function startCrowd(
  t,
  relay,
  {
    count,
    addresses = 1,
    perSecond = 500,
    begin = () => {},
    host = '127.0.0.1',
    from = (i) => `127.3.0.${1 + i}`,
  },
) {
  const sockets = new Set();
  let opened = 0;
  const open = () => {
    const localAddress = from(opened++ % addresses);
    const socket = net.connect({ port: relay.port, host, localAddress });
    sockets.add(socket);
    socket.on('error', () => {});
    socket.once('connect', () => begin(socket));
    socket.once('close', () => sockets.delete(socket));
  };
  const timer = setInterval(() => {
    for (let left = (perSecond * TICK_MS) / 1000; left > 0 && sockets.size < count; left--) open();
  }, TICK_MS);
  const crowd = {
    /** Returns the number of connections opened so far, including the replaced ones. */
    opened: () => opened,
    /** Resolves when `total` connections have been opened. */
    reached: (total = count) =>
      until(`connection ${total} of a crowd`, () => opened >= total, TICK_MS),
    stop() {
      clearInterval(timer);
      for (const socket of sockets) socket.destroy();
    },
  };
  own(t, crowd.stop);
  return crowd;
}
