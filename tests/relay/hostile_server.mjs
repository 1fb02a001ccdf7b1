// The game server of a hostile rig, a process of its own: it sends every datagram back, except those that packets.mjs
// has forged.
// hostile_server.mjs WORK: each datagram keeps it busy for so many microseconds.
import dgram from 'node:dgram';
import { isForged } from './packets.mjs';

const work = BigInt(process.argv[2]) * 1000n;
const socket = dgram.createSocket({ type: 'udp4', recvBufferSize: 4 << 20 });
socket.on('message', (data, from) => {
  const until = process.hrtime.bigint() + work;
  while (process.hrtime.bigint() < until);
  if (!isForged(data)) socket.send(data, from.port, from.address);
});
socket.bind(0, '127.0.0.1', () => process.send(socket.address().port));
process.on('disconnect', () => process.exit());
