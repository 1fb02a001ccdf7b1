// The UDP socket below a server: what the system refuses is counted, and goes on.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { UdpSocket } from '../../web/dist/server/socket.js';
import { until } from '../support/node_server.mjs';

test('what the system does not send is counted', async (t) => {
  const socket = await UdpSocket.open('127.0.0.1', 0);
  t.after(() => socket.close());
  const arrived = [];
  socket.listen({ datagram: (bytes, ...from) => arrived.push([[...bytes], ...from]), error() {} });
  for (const host of ['255.255.255.255', '203.0.113.1', 'not an address', 'fe80::1%eth0'])
    socket.send(new Uint8Array([1]), host, 9);
  socket.send(new Uint8Array(70_000), '127.0.0.1', 9);
  socket.send(new Uint8Array([1]), '127.0.0.1', 0);
  await until(() => socket.stats().sendErrors === 6);
  socket.send(new Uint8Array([7]), '127.0.0.1', socket.port);
  await until(() => arrived.length > 0);
  assert.deepEqual(arrived, [[[7], '127.0.0.1', socket.port]]);
  assert.deepEqual(socket.stats(), { sendErrors: 6, droppedBacklog: 0 });
});
