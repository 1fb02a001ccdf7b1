// A fuzzer of the relay's TCP side; see hostile_fuzz.mjs.
import test from 'node:test';
import { fuzz, startServing } from './hostile_fuzz.mjs';
import { connectTo } from './hostile_tcp_plans.mjs';
import { connect } from '../support/websocket.mjs';
import { replyTo } from '../support/tcp.mjs';

const get = (relay) => replyTo(null, relay.port, 'GET / HTTP/1.1\r\nHost: x\r\n\r\n');

test('whatever comes over TCP, the relay goes on serving', async (t) => {
  const relay = await startServing(t, ['--admin', '127.0.0.1:0']);
  const [, admin] = await relay.logged(/admin listener on 127\.0\.0\.1:(\d+)\n/);
  const open = ({ port }, random) =>
    connectTo({ port: random.chance(0.25) ? Number(admin) : port });
  await fuzz(t, relay, { rounds: 140, player: await connect(t, relay), get, open });
});
