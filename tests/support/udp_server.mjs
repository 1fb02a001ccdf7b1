// A UDP server in the place of a game server.
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { isIPv6 } from 'node:net';
import { own } from './fixture.mjs';

/**
 * Starts a server that answers every datagram with what `answer(data, from)` returns: a datagram, a list of them, or
 * nothing. Without `answer` it sends back the same bytes.
 */
export async function startUdpServer(
  t,
  { host = '127.0.0.1', port = 0, answer = (data) => data } = {},
) {
  const socket = createSocket({
    type: isIPv6(host) ? 'udp6' : 'udp4',
    recvBufferSize: 1 << 20,
  });
  const addresses = new Map();
  const received = [];
  socket.on('message', (data, from) => {
    addresses.set(from.port, from);
    received.push({ data, port: from.port, address: from.address });
    for (const reply of [answer(data, from) || []].flat())
      socket.send(reply, from.port, from.address);
  });
  socket.bind(port, host);
  await once(socket, 'listening');
  let open = true;
  const close = () => open && ((open = false), new Promise((resolve) => socket.close(resolve)));
  own(t, close);
  const address = socket.address();
  return {
    port: address.port,
    upstream: isIPv6(host) ? `[${host}]:${address.port}` : `${host}:${address.port}`,
    /** The addresses of its clients, by port. */
    addresses,
    received,
    send: (data, to, done) => socket.send(data, to.port, to.address, done),
    close,
  };
}
