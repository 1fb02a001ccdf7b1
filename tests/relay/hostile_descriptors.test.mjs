// A stranger who opens connections that never become sessions takes nobody's place.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import net from 'node:net';
import test from 'node:test';
import { startCrowd } from './hostile_crowd.mjs';
import { startRig } from './hostile_rig.mjs';
import { request } from './packets.mjs';
import { patiently } from '../support/patience.mjs';
import { startRelay, statsUntil } from '../support/relay.mjs';
import { startUdpServer } from '../support/udp_server.mjs';
import { connect } from '../support/websocket.mjs';
import { own, temporaryFolder } from '../support/fixture.mjs';

const LARGE = 32 << 20;

/** Makes a directory with a file that does not fit into the buffers of a connection. */
function largeFiles(t) {
  const root = temporaryFolder(t);
  writeFileSync(`${root}/large.bin`, Buffer.alloc(LARGE));
  return root;
}

const silent = () => {};
const download = (socket) => {
  socket.pause();
  socket.write('GET /large.bin HTTP/1.1\r\nHost: a\r\n\r\n');
};

for (const [name, begin] of Object.entries({ silent, download })) {
  test(`connections of many addresses (${name}) shut nobody out`, async (t) => {
    const args = ['--max-sessions', '20', '--root', largeFiles(t)];
    const rig = await startRig(t, { args });
    const crowd = startCrowd(t, rig.relay, { count: 1500, addresses: 12, begin });
    await crowd.reached();
    for (let i = 0; i < 5; i++) await rig.newcomer();
    const { connections_evicted, connections_refused } = await rig.relay.stats();
    assert.ok(connections_evicted > 0);
    assert.equal(connections_refused, 0);
    crowd.stop();
    await rig.check();
    assert.doesNotMatch(rig.relay.log(), /cannot accept connections/);
  });
}

test('where the system allows few descriptors, all sessions that it says can be had', async (t) => {
  const rig = await startRig(t, { shell: 'ulimit -n 300' });
  const [, sessions] = await rig.relay.logged(/300 open files, enough for (\d+) sessions instead/);
  const crowd = startCrowd(t, rig.relay, { count: 400, addresses: 12 });
  await crowd.reached();
  await rig.newcomer();
  // the players have ten of the places
  const opener = request();
  for (let i = 10; i < Number(sessions); i++) {
    const client = await connect(t, rig.relay, { localAddress: '127.4.0.1' });
    client.send(opener);
    await client.received(1); // the session keeps its place
  }
  const late = await connect(t, rig.relay, { localAddress: '127.4.0.1' });
  assert.equal((await late.closed()).code, 1013);
  assert.equal((await rig.relay.stats()).sessions_open, Number(sessions));
  crowd.stop();
  await rig.stop();
  assert.doesNotMatch(rig.relay.log(), /cannot accept connections|no UDP socket/);
});

test('where it allows too few for anything, the relay says so and does not start', async (t) => {
  const server = await startUdpServer(t);
  const options = { upstream: server.upstream, shell: 'ulimit -n 100' };
  await assert.rejects(startRelay(t, options), /100 open files, which is too few \(ulimit -n\)/);
});

test('a page that is loading loads on while connections of others make room', async (t) => {
  const rig = await startRig(t, { args: ['--max-sessions', '20', '--root', largeFiles(t)] });
  const socket = net.connect({ port: rig.relay.port, localAddress: '127.5.0.1' });
  own(t, () => socket.destroy());
  socket.on('error', () => {});
  const closed = once(socket, 'close');
  let size = 0;
  let slow = true;
  socket.on('data', (data) => {
    size += data.length;
    if (!slow) return;
    socket.pause();
    setTimeout(() => socket.resume(), 100);
  });
  download(socket);
  socket.resume();
  const crowd = startCrowd(t, rig.relay, { count: 2500, addresses: 12 });
  await crowd.reached();
  await statsUntil(rig.relay, ({ connections_evicted }) => connections_evicted > 1024);
  assert.ok(size < LARGE, 'it is loading still');
  slow = false;
  await patiently(closed, 'the end of the page');
  assert.ok(size > LARGE, 'it has come whole, with its header');
  crowd.stop();
  await rig.check();
});
