import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { createServer } from 'node:net';

/** Returns a port of loopback, of 'tcp' or 'udp', that nobody has: for what must be told its port. */
export async function freePort(kind) {
  const socket =
    kind === 'tcp'
      ? createServer().listen(0, '127.0.0.1')
      : createSocket('udp4').bind(0, '127.0.0.1');
  await once(socket, 'listening');
  const { port } = socket.address();
  await new Promise((resolve) => socket.close(resolve));
  return port;
}
