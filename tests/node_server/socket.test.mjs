// The UDP socket below a server: a datagram that the system refuses is counted, and the server goes on.
import assert from 'node:assert/strict';
import { Socket } from 'node:dgram';
import { test } from 'node:test';
import { UdpSocket } from '../../web/dist/server/socket.js';
import { UdpTransport } from '../../web/dist/server/udp_transport.js';
import { own } from '../support/fixture.mjs';
import { until } from '../support/patience.mjs';

test('what the system does not send is counted', async (t) => {
  const socket = await UdpSocket.open('127.0.0.1', 0);
  own(t, () => socket.close());
  const arrived = [];
  socket.listen({ datagram: (bytes, ...from) => arrived.push([[...bytes], ...from]), error() {} });
  for (const host of ['255.255.255.255', '203.0.113.1', 'not an address', 'fe80::1%eth0'])
    socket.send(new Uint8Array([1]), host, 9);
  socket.send(new Uint8Array(70_000), '127.0.0.1', 9);
  socket.send(new Uint8Array([1]), '127.0.0.1', 0);
  await until('the errors', () => socket.stats().sendErrors === 6);
  socket.send(new Uint8Array([7]), '127.0.0.1', socket.port);
  await until('a datagram', () => arrived.length > 0);
  assert.deepEqual(arrived, [[[7], '127.0.0.1', socket.port]]);
  assert.deepEqual(socket.stats(), { sendErrors: 6, droppedBacklog: 0 });
});

/** Returns how many sockets this program has. */
const sockets = () => process.getActiveResourcesInfo().filter((name) => name === 'UDPWrap').length;

test('a socket that cannot be had is not left open', async (t) => {
  const taken = await UdpSocket.open('127.0.0.1', 0);
  own(t, () => taken.close());
  await assert.rejects(UdpSocket.open('127.0.0.1', taken.port), { code: 'EADDRINUSE' });
  await assert.rejects(UdpTransport.connect('255.255.255.255', 9), { code: 'EACCES' });
  // The system has no more descriptors.
  t.mock.method(Socket.prototype, 'bind', function () {
    process.nextTick(() => this.emit('error', new Error('no more')));
  });
  await assert.rejects(UdpTransport.connect('127.0.0.1', 9), /no more/);
  await until('the end of the socket', () => sockets() === 1);
});

test('a system that refuses large buffers gives smaller ones', async (t) => {
  const granted = [];
  for (const name of ['setRecvBufferSize', 'setSendBufferSize'])
    t.mock.method(Socket.prototype, name, (size) => {
      if (size > 2 << 20) throw new Error('ENOBUFS');
      granted.push(size);
    });
  const socket = await UdpSocket.open('127.0.0.1', 0);
  own(t, () => socket.close());
  assert.deepEqual(granted, [2 << 20, 2 << 20]);
});
