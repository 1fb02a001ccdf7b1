// One socket for many sessions: game servers tell them apart by their source addresses.
import assert from 'node:assert/strict';
import dgram from 'node:dgram';
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { ask, connectAs, newKey } from './links.mjs';
import { assertAddsUp, connect, run, startRelay, startServer, statsUntil } from './support.mjs';

delete process.env.CAUSEWAY_RELAY_WORKERS; // it does not go together with --workers

const prefixed = (prefix) => ['--source-prefix', prefix];

/** Sends a text, and gives the address and port from which the server got it, when it has answered. */
async function sourceOf(server, link, text) {
  await ask(server, link, text);
  const { address, port } = server.received.findLast(({ data }) => data.toString() === text);
  return { address, port };
}

const socketsOf = (pid) => readdirSync(`/proc/${pid}/fd`).length;

test('each session has an address of its own, and none a socket', async (t) => {
  const server = await startServer(t);
  const relay = await startRelay(t, { upstream: server.upstream, args: prefixed('127.7.0.0/16') });
  const before = socketsOf(relay.pid);
  const links = [];
  const sources = [];
  for (let i = 0; i < 5; i++) {
    links.push(await connect(t, relay));
    sources.push(await sourceOf(server, links[i], `player ${i}`));
  }
  assert.equal(socketsOf(relay.pid), before + 5);
  assert.equal(new Set(sources.map(({ address }) => address)).size, 5);
  assert.equal(new Set(sources.map(({ port }) => port)).size, 1);
  for (const { address } of sources) assert.match(address, /^127\.7\.\d+\.\d+$/);
  // All at once, so that they share batches both ways.
  for (let n = 0; n < 20; n++)
    for (const [i, link] of links.entries()) link.send(Buffer.from(`${n} of player ${i}`));
  for (const [i, link] of links.entries()) {
    await link.received(21);
    for (const { data } of link.messages) assert.match(data.toString(), RegExp(`player ${i}$`));
  }
  links[0].close(1000);
  const [{ address, port }] = sources;
  await relay.logged(new RegExp(` source=${address}:${port} transport=websocket `));
  assertAddsUp(await relay.stats());
});

test('sessions find room where sockets of their own would not', async (t) => {
  const server = await startServer(t);
  const start = (args) =>
    startRelay(t, { upstream: server.upstream, shell: 'ulimit -n 2000', args });
  const few = / the system allows 2000 open files, enough for \d+ sessions instead of 1000/;
  assert.match((await start([])).log(), few);
  assert.doesNotMatch((await start(prefixed('127.7.0.0/16'))).log(), few);
});

test('only its own game server reaches a session', async (t) => {
  const servers = [await startServer(t), await startServer(t)];
  const args = ['--upstream', servers[1].upstream, ...prefixed('127.7.7.1/32')];
  const relay = await startRelay(t, { upstream: servers[0].upstream, args });
  const links = [];
  const sources = [];
  for (const [i, { port }] of servers.entries()) {
    const protocols = ['causeway.v1', `causeway.server.127.0.0.1_${port}`];
    links.push(await connect(t, relay, { protocols }));
    sources.push(await sourceOf(servers[i], links[i], `player ${i}`));
  }
  // Towards two servers they may have the same.
  assert.deepEqual(sources[0], sources[1]);
  servers[1].send(Buffer.from('from the second'), sources[0]);
  await links[1].received(2);
  assert.equal(links[1].messages[1].data.toString(), 'from the second');
  const stranger = dgram.createSocket('udp4');
  t.after(() => stranger.close());
  stranger.send(Buffer.from('from outside'), sources[0].port, sources[0].address);
  const stats = await statsUntil(relay, ({ upstream_ignored }) => upstream_ignored === 1);
  assertAddsUp(stats);
  assert.deepEqual([links[0].messages.length, links[1].messages.length], [1, 2]);
});

test('an address rests before it is used again, and without one a session is refused', async (t) => {
  const server = await startServer(t);
  const relay = await startRelay(t, { upstream: server.upstream, args: prefixed('127.7.7.0/30') });
  const first = await connect(t, relay);
  const { address, port } = await sourceOf(server, first, 'one');
  const second = await connect(t, relay);
  await sourceOf(server, second, 'two');
  const refuse = async () => {
    const third = await connect(t, relay);
    third.send(Buffer.from('three'));
    assert.deepEqual(await third.closed(), { code: 1013, reason: 'out of resources' });
  };
  await refuse();
  await relay.logged(/error no source address for a session: all of 127\.7\.7\.0\/30 are in use/);
  first.close(1000);
  await statsUntil(relay, ({ sessions_open }) => sessions_open === 1);
  await refuse();
  server.send(Buffer.from('late'), { address, port });
  const stats = await statsUntil(relay, ({ dropped_closing }) => dropped_closing === 1);
  assert.equal(stats.sessions_ended_resources, 2);
  assertAddsUp(stats);
  assert.equal(second.messages.length, 1);
});

test('those whose game server is down are told, and others not', async (t) => {
  const server = await startServer(t);
  const gone = await startServer(t);
  await gone.close();
  const args = ['--upstream', gone.upstream, '--answer-timeout', '1', ...prefixed('127.7.0.0/16')];
  const relay = await startRelay(t, { upstream: server.upstream, args });
  const to = (port) => ({ protocols: ['causeway.v1', `causeway.server.127.0.0.1_${port}`] });
  const lost = await connect(t, relay, to(gone.port));
  lost.send(Buffer.from('anyone?'));
  await relay.logged(new RegExp(`warn  game server ${gone.upstream} is down: Connection refused`));
  const link = await connect(t, relay, to(server.port));
  await ask(server, link, 'hello');
  assert.equal((await lost.closed()).code, 4005);
  await ask(server, link, 'still here');
});

test('sessions keep their addresses in an upgrade', async (t) => {
  const server = await startServer(t);
  const relay = await startRelay(t, { upstream: server.upstream, args: prefixed('127.7.0.0/16') });
  const keys = [newKey(), newKey()];
  const before = [];
  for (const [i, key] of keys.entries())
    before.push(await sourceOf(server, await connectAs(t, relay, key), `before ${i}`));
  for (let n = 0; n < 2; n++) {
    await relay.upgrade();
    for (const [i, key] of keys.entries()) {
      const link = await connectAs(t, relay, key);
      assert.deepEqual(await sourceOf(server, link, `after ${n} ${i}`), before[i]);
    }
  }
  const newcomer = await sourceOf(server, await connect(t, relay), 'new');
  assert.equal(newcomer.port, before[0].port);
  const stats = await relay.stats();
  assert.equal(stats.sessions_adopted, 2);
  assertAddsUp(stats);
});

test('SIGHUP says that another prefix needs a restart', async (t) => {
  const server = await startServer(t);
  const directory = mkdtempSync(join(tmpdir(), 'causeway-'));
  t.after(() => rmSync(directory, { recursive: true }));
  const file = join(directory, 'relay.conf');
  writeFileSync(file, 'source-prefix = 127.7.0.0/16\n');
  const relay = await startRelay(t, { upstream: server.upstream, args: ['--config', file] });
  const player = await connect(t, relay);
  const before = await sourceOf(server, player, 'before');
  writeFileSync(file, 'source-prefix = 127.8.0.0/16\n');
  relay.kill('SIGHUP');
  await relay.logged(/warn {2}source-prefix has changed: restart the relay to apply it\n/);
  assert.deepEqual(await sourceOf(server, player, 'after'), before);
  const { address } = await sourceOf(server, await connect(t, relay), 'new');
  assert.match(address, /^127\.7\./);
});

test('a game server that an address of the prefix does not reach is a line in the log', async (t) => {
  const upstream = '198.51.100.1:9'; // of no machine, and never to be reached from 127/8
  const relay = await startRelay(t, { upstream, args: prefixed('127.7.0.0/16') });
  (await connect(t, relay)).send(Buffer.from('hello'));
  await relay.logged(/ cannot send from 127\.7\.\d+\.\d+:\d+ to game server 198\.51\.100\.1:9: \w/);
  assert.equal((await relay.stats()).dropped_upstream, 1);
});

test('what cannot be is one line at the start', async () => {
  const good = ['--listen', '127.0.0.1:0', '--upstream', '127.0.0.1:9'];
  for (const [args, code, pattern] of [
    [prefixed('127.0.0.1/8'), 2, /--source-prefix needs a prefix of addresses, as in /],
    [prefixed('::1'), 2, /an --upstream is of IPv4, and there is no --source-prefix of /],
    [[...prefixed('127.0.0.0/8'), ...prefixed('10.0.0.0/8')], 2, /one must be IPv4 and one IPv6/],
    [[...prefixed('127.0.0.0/8'), '--workers', '2'], 2, /--source-prefix and --workers do not/],
    [prefixed('198.51.100.0/24'), 1, /ip route add local 198\.51\.100\.0\/24 dev lo$/m],
  ]) {
    const { code: ended, stderr } = await run([...good, ...args]);
    assert.equal(ended, code, stderr);
    assert.match(stderr, pattern);
    assert.equal(stderr.match(/error|causeway-relay:/g).length, 1, stderr);
  }
});
