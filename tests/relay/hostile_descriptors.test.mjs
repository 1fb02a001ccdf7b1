// Whoever opens connections that never become sessions takes nobody's place.
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import http from 'node:http';
import { tmpdir } from 'node:os';
import test from 'node:test';
import { startCrowd } from './hostile_crowd.mjs';
import { startRig } from './hostile_rig.mjs';
import { request } from './packets.mjs';
import { connect, sleep, startRelay, startServer } from './support.mjs';

/** A directory with a file that does not fit into the buffers of a connection. */
function largeFiles(t) {
  const root = mkdtempSync(`${tmpdir()}/causeway-`);
  t.after(() => rmSync(root, { recursive: true }));
  writeFileSync(`${root}/large.bin`, Buffer.alloc(32 << 20));
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
  // the players have ten of them
  const opener = request();
  for (let i = 10; i < Number(sessions); i++) {
    const client = await connect(t, rig.relay, { localAddress: '127.4.0.1' });
    client.send(opener);
    await client.received(1); // it keeps its place
  }
  const late = await connect(t, rig.relay, { localAddress: '127.4.0.1' });
  assert.equal((await late.closed()).code, 1013);
  assert.equal((await rig.relay.stats()).sessions_open, Number(sessions));
  crowd.stop();
  await rig.stop();
  assert.doesNotMatch(rig.relay.log(), /cannot accept connections|no UDP socket/);
});

test('where it allows too few for anything, the relay says so and does not start', async (t) => {
  const server = await startServer(t);
  const options = { upstream: server.upstream, shell: 'ulimit -n 100' };
  await assert.rejects(startRelay(t, options), /100 open files, which is too few \(ulimit -n\)/);
});

test('a browser keeps its few connections while those of others make room', async (t) => {
  const rig = await startRig(t, { args: ['--root', largeFiles(t)] });
  const agent = new http.Agent({ keepAlive: true, maxSockets: 1 });
  t.after(() => agent.destroy());
  const ports = new Set();
  const look = () =>
    new Promise((resolve, reject) => {
      const options = { port: rig.relay.port, localAddress: '127.5.0.1', agent, method: 'HEAD' };
      const request = http.request({ ...options, path: '/large.bin' }, (response) => {
        ports.add(response.socket.localPort);
        response.resume().once('end', resolve);
      });
      request.once('error', reject).end();
    });
  await look();
  const crowd = startCrowd(t, rig.relay, { count: 2500, addresses: 12 });
  while (crowd.opened() < 2500) {
    await look();
    await sleep(100);
  }
  await look();
  assert.equal(ports.size, 1, 'it was one connection all the time');
  assert.ok((await rig.relay.stats()).connections_evicted > 1024);
  crowd.stop();
  await rig.check();
});
