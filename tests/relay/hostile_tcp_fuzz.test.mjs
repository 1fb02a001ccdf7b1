// A fuzzer of the relay's TCP side; see hostile_fuzz.mjs.
import { once } from 'node:events';
import net from 'node:net';
import test from 'node:test';
import { fuzz, startServing } from './hostile_fuzz.mjs';
import { connectTo } from './hostile_tcp_plans.mjs';
import { connect } from './support.mjs';

async function get(relay) {
  const socket = net.connect({ port: relay.port, host: '127.0.0.1' });
  const chunks = [];
  socket.on('data', (data) => chunks.push(data));
  socket.write('GET / HTTP/1.1\r\nHost: x\r\n\r\n');
  await once(socket, 'close');
  return Buffer.concat(chunks).toString();
}

test('whatever comes over TCP, the relay goes on serving', async (t) => {
  const relay = await startServing(t, ['--admin', '127.0.0.1:0']);
  const [, admin] = await relay.logged(/admin listener on 127\.0\.0\.1:(\d+)\n/);
  const open = ({ port }, random) =>
    connectTo({ port: random.chance(0.25) ? Number(admin) : port });
  await fuzz(t, relay, { rounds: 140, player: await connect(t, relay), get, open });
});
