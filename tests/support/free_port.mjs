import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { createServer } from 'node:net';

/** Ports that the system gives to nobody who asks for any: hundreds of sockets of other tests may ask at the same time. */
const [FIRST, COUNT] = [20_000, 12_000];

/**
 * Returns a port of loopback, of 'tcp' or 'udp', that nobody has: for what must be told its port, and for what comes
 * back to it.
 */
export async function freePort(kind) {
  for (;;) {
    const port = FIRST + Math.floor(Math.random() * COUNT);
    const socket = kind === 'tcp' ? createServer() : createSocket('udp4');
    if (kind === 'tcp') socket.listen(port, '127.0.0.1');
    else socket.bind(port, '127.0.0.1');
    const isFree = await once(socket, 'listening').catch(() => false);
    if (isFree) await new Promise((resolve) => socket.close(resolve));
    if (isFree) return port;
  }
}
