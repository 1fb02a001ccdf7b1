// A relay of several processes: sessions move between them, and outlive them.
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { connectAs, newKey, openRtcAs } from './links.mjs';
import { sleep, until } from '../support/patience.mjs';
import { childrenOf, isAlive } from '../support/programs.mjs';
import { addsUp, assertStats, run, startRelay, statsUntil } from '../support/relay.mjs';
import { startServed } from '../support/served.mjs';
import { startUdpServer } from '../support/udp_server.mjs';
import { connect } from '../support/websocket.mjs';
import { temporaryFolder } from '../support/fixture.mjs';

const WORKERS = 2;

const begin = async (t, args = [], options = {}) => {
  const server = await startUdpServer(t, options);
  const relay = await startRelay(t, {
    upstream: server.upstream,
    args: ['--workers', String(WORKERS), ...args],
  });
  const workers = () => childrenOf(relay.pid);
  return { server, relay, workers };
};

/**
 * Says something until an answer comes, and returns the port from which the server got it. The first answer may go to
 * the link that the session had in the worker before.
 */
async function ask(server, link, text) {
  const datagrams = link.messages ?? link.arrived;
  const before = datagrams.length;
  await until(`an answer to ${text}`, () => {
    (link.channel ?? link).send(Buffer.from(text));
    return datagrams.length > before;
  });
  return server.received.findLast(({ data }) => data.toString() === text).port;
}

/** Opens links with a key until the session has moved `times` times, and returns the last. */
async function move(t, { server, relay }, key, port, times) {
  let link;
  for (let i = 0; (await relay.stats()).sessions_ended_moved < times; i++) {
    assert.ok(i < 100, 'all links come to the same worker');
    link = await connectAs(t, relay, key);
    assert.equal(await ask(server, link, `again ${i}`), port);
  }
  return link;
}

test('a session moves to the worker where its next link comes', async (t) => {
  const rig = await begin(t);
  const { server, relay, workers } = rig;
  assert.equal(workers().length, WORKERS);
  const key = newKey();
  const first = await connectAs(t, relay, key);
  const port = await ask(server, first, 'before');
  await move(t, rig, key, port, 3);
  assert.deepEqual(await first.closed(), { code: 4003, reason: 'another link took its place' });
  const stats = await statsUntil(relay, addsUp);
  assertStats(stats, { sessions_open: 1, sessions_opened: 1, sessions_adopted: 3 });
});

test('an answer that comes late still brings a session to its player', async (t) => {
  const { server, relay } = await begin(t);
  const key = newKey();
  const port = await ask(server, await connectAs(t, relay, key), 'before');
  relay.kill('SIGSTOP');
  // The links come to both workers: those at the other begin a session of their own.
  const links = [];
  for (let i = 0; i < 16; i++) links.push(await connectAs(t, relay, key));
  const open = () => links.filter(({ socket }) => socket.readyState === 1);
  await until('the end of those that others have replaced', () => open().length <= WORKERS);
  const lost = open();
  assert.equal(lost.length, WORKERS);
  relay.kill('SIGCONT');
  const codes = await Promise.all(lost.map(async (link) => (await link.closed()).code));
  assert.deepEqual(codes.sort(), [1012, 4003]);
  assert.equal(await ask(server, await connectAs(t, relay, key), 'after'), port);
  assert.doesNotMatch(relay.log(), /a session is lost/);
});

for (const known of [true, false])
  test(`a session that ${known ? 'is' : 'is not yet'} in the directory has one port, however long that takes`, async (t) => {
    const { server, relay } = await begin(t);
    const key = newKey();
    if (!known) relay.kill('SIGSTOP');
    const port = await ask(server, await connectAs(t, relay, key), 'before');
    if (known) {
      await relay.stats();
      relay.kill('SIGSTOP');
    }
    // The links come to both workers; those at the other cannot know yet that this one has the session.
    for (let i = 0; i < 16; i++) (await connectAs(t, relay, key)).send(Buffer.from('meanwhile'));
    relay.kill('SIGCONT');
    let link;
    await until('an answer', async () => {
      if (link?.socket.readyState !== 1) link = await connectAs(t, relay, key);
      link.send(Buffer.from('after'));
      return link.messages.some(({ data }) => data.toString() === 'after');
    });
    assert.deepEqual([...new Set(server.received.map((each) => each.port))], [port]);
  });

test('of sessions that began at two workers the one goes on that is answered', async (t) => {
  const answer = (data) => (data.toString().startsWith('first') ? data : null);
  const { server, relay } = await begin(t, [], { answer });
  const key = newKey();
  const links = [];
  for (let i = 0; i < 16; i++) links.push(await connectAs(t, relay, key));
  const open = () => links.filter(({ socket }) => socket.readyState === 1);
  await until('the end of those that others have replaced', () => open().length <= WORKERS);
  const [first, second] = open();
  const port = await ask(server, first, 'first');
  await until('the end of the other', () => {
    second.send(Buffer.from('second'));
    return second.socket.readyState !== 1;
  });
  assert.equal((await second.closed()).code, 1012);
  assert.equal(await ask(server, await connectAs(t, relay, key), 'first again'), port);
});

test('links of sessions that no other worker has make no questions', async (t) => {
  const rig = await begin(t);
  const { server, relay } = rig;
  const key = newKey();
  const port = await ask(server, await connectAs(t, relay, key), 'hello');
  for (let i = 0; i < 60; i++) await connectAs(t, relay, newKey());
  assert.ok((await relay.stats()).sessions_asked < 5);
  await move(t, rig, key, port, 1);
  assert.ok((await relay.stats()).sessions_asked > 0);
});

test('a worker that dies takes only its links along, and is started again', async (t) => {
  const { server, relay, workers } = await begin(t);
  const keys = Array.from({ length: 12 }, newKey);
  const links = await Promise.all(keys.map((key) => connectAs(t, relay, key)));
  const ports = [];
  for (const [i, link] of links.entries()) ports.push(await ask(server, link, `before ${i}`));
  const [victim, other] = workers();
  process.kill(victim, 'SIGKILL');
  await relay.logged(/worker \d ended on signal 9: starting it again/);
  await until('another worker', () => workers().length === WORKERS);
  assert.ok(isAlive(other));
  await sleep(100);
  const lost = links.filter(({ socket }) => socket.readyState !== 1);
  assert.ok(lost.length < links.length, 'the others go on');
  for (const [i, key] of keys.entries()) {
    const alive = links[i].socket.readyState === 1;
    const link = alive ? links[i] : await connectAs(t, relay, key);
    assert.equal(await ask(server, link, `after ${i}`), ports[i]);
  }
  const stats = await relay.stats();
  assert.equal(stats.sessions_open, keys.length);
  assert.equal(stats.sessions_opened, keys.length, 'counters outlive their worker');
});

test('a worker that hangs without using the processor is replaced, and its sessions go on', async (t) => {
  const { server, relay, workers } = await begin(t);
  const keys = Array.from({ length: 8 }, newKey);
  const links = await Promise.all(keys.map((key) => connectAs(t, relay, key)));
  const ports = [];
  for (const [i, link] of links.entries()) ports.push(await ask(server, link, `before ${i}`));
  const [victim, other] = workers();
  process.kill(victim, 'SIGSTOP');
  await relay.logged(/worker \d has hung for \d+\.\d seconds: it is killed/);
  await until('another worker', () => workers().length === WORKERS);
  assert.ok(isAlive(other));
  for (const [i, key] of keys.entries())
    assert.equal(await ask(server, await connectAs(t, relay, key), `after ${i}`), ports[i]);
  await statsUntil(relay, (stats) => stats.workers_hung === 1 && stats.sessions_open === 8);
});

test('workers that were stopped together with their supervisor are left alone', async (t) => {
  const { server, relay, workers } = await begin(t);
  await ask(server, await connectAs(t, relay, newKey()), 'before');
  const everyone = [...workers(), relay.pid];
  for (const pid of everyone) process.kill(pid, 'SIGSTOP');
  await sleep(3000);
  for (const pid of everyone.reverse()) process.kill(pid, 'SIGCONT');
  await sleep(1000);
  await ask(server, await connectAs(t, relay, newKey()), 'after');
  assert.deepEqual([...workers(), relay.pid].sort(), everyone.sort());
});

test('a session that nobody comes back for is forgotten', async (t) => {
  const { server, relay, workers } = await begin(t, ['--resume-seconds', '1']);
  const key = newKey();
  const link = await connectAs(t, relay, key);
  const port = await ask(server, link, 'before');
  for (const pid of workers()) process.kill(pid, 'SIGKILL');
  await link.closed();
  await sleep(1200);
  assert.notEqual(await ask(server, await connectAs(t, relay, key), 'late'), port);
});

test('a key that nobody knows begins a session', async (t) => {
  const { server, relay } = await begin(t);
  for (let i = 0; i < 10; i++)
    await ask(server, await connectAs(t, relay, newKey()), `stranger ${i}`);
  assertStats(await relay.stats(), { sessions_opened: 10, sessions_adopted: 0 });
});

test('a session that has ended is nowhere any more', async (t) => {
  const { server, relay } = await begin(t);
  const key = newKey();
  const first = await connectAs(t, relay, key);
  const port = await ask(server, first, 'before');
  first.close(1000);
  await first.closed();
  await statsUntil(relay, ({ sessions_open }) => sessions_open === 0);
  for (let i = 0; i < 8; i++)
    assert.notEqual(await ask(server, await connectAs(t, relay, key), `anew ${i}`), port);
});

test('each worker serves WebRTC at a port of its own', async (t) => {
  const rig = await begin(t, ['--rtc', '127.0.0.1:0']);
  const { server, relay } = rig;
  const ports = [...relay.log().matchAll(/webrtc on udp \S+:(\d+)\n/g)].map(([, port]) => port);
  assert.equal(new Set(ports).size, WORKERS);
  const key = newKey();
  const first = await connectAs(t, relay, key);
  const port = await ask(server, first, 'over WebSocket');
  for (let i = 0; i < 6; i++) {
    const link = await openRtcAs(t, relay, key);
    assert.equal(await ask(server, link, `over WebRTC ${i}`), port);
  }
});

test('a page closes its connection of WebRTC at whichever worker its DELETE arrives', async (t) => {
  const { server, relay } = await begin(t, ['--rtc', '127.0.0.1:0']);
  const links = [];
  for (let i = 0; i < 8; i++) links.push(await openRtcAs(t, relay, newKey()));
  for (const link of links) await ask(server, link, 'hello');
  const end = async ({ location }) =>
    (await fetch(new URL(location, `http://127.0.0.1:${relay.port}/`), { method: 'DELETE' }))
      .status;
  for (const link of links) assert.ok([200, 202].includes(await end(link)));
  await statsUntil(relay, ({ sessions_open }) => sessions_open === 0);
  // These locations are of no worker, of a worker that does not exist, and too long.
  for (const location of [
    `/rtc/${links[0].location.slice('/rtc/1/'.length)}`,
    links[0].location.replace(/\/[12]\//, '/99999/'),
    `/rtc/3/${'0'.repeat(100)}`,
  ])
    assert.notEqual(await end({ location }), 200);
  assert.doesNotMatch(relay.log(), /starting it again/);
});

test('signals reach the workers', async (t) => {
  const { server, relay, workers } = await begin(t);
  const links = [];
  for (let i = 0; i < 8; i++) links.push(await connectAs(t, relay, newKey()));
  for (const link of links) await ask(server, link, 'hello');
  const pids = workers();
  relay.kill('SIGTERM');
  for (const link of links)
    assert.deepEqual(await link.closed(), { code: 1001, reason: 'relay is stopping' });
  assert.deepEqual(await relay.ended(), { code: 0, signal: null });
  assert.deepEqual(pids.filter(isAlive), []);
  await relay.logged(/ stats sessions_open=0 sessions_opened=8 /);
  assert.equal(relay.log().match(/ stats /g).length, 1, 'the counters of all in one line');
});

test('workers that stop accept nobody', async (t) => {
  const { relay } = await begin(t);
  const stuck = await connectAs(t, relay, newKey());
  stuck.socket.pause(); // the client never answers the close
  relay.kill('SIGTERM');
  await relay.logged(/stopping on[^]*stopping on/);
  await assert.rejects(connectAs(t, relay, newKey()), { code: 'ECONNREFUSED' });
  relay.kill('SIGTERM');
  assert.deepEqual(await relay.ended(), { code: 0, signal: null });
});

test('a worker that is starting is asked nothing that would end it', async (t) => {
  const { relay, workers } = await begin(t);
  const [victim] = workers();
  process.kill(victim, 'SIGKILL');
  await relay.logged(/starting it again/);
  for (let i = 0; i < 300; i++) {
    relay.kill(i % 2 === 0 ? 'SIGUSR1' : 'SIGHUP');
    await sleep(1);
  }
  assert.equal(workers().length, WORKERS);
  assert.equal(relay.log().match(/starting it again/g).length, 1);
});

test('a worker that was stopped is started again, and serves', async (t) => {
  const { server, relay, workers } = await begin(t);
  for (const pid of workers()) {
    process.kill(pid, 'SIGTERM');
    await until('its end', () => !isAlive(pid));
  }
  await until('other workers', () => workers().length === WORKERS);
  // No process listens before a worker does.
  const knock = () => connectAs(t, relay, newKey()).catch(() => null);
  await until('one that serves', knock);
  for (let i = 0; i < 8; i++)
    await ask(server, await connectAs(t, relay, newKey()), `newcomer ${i}`);
});

test('a worker that hangs keeps neither the counters nor the end waiting', async (t) => {
  const { server, relay, workers } = await begin(t);
  for (let i = 0; i < 8; i++) await ask(server, await connectAs(t, relay, newKey()), `hello ${i}`);
  await relay.stats();
  const pids = workers();
  process.kill(pids[0], 'SIGSTOP');
  assert.equal((await relay.stats()).sessions_opened, 8);
  relay.kill('SIGTERM');
  await relay.logged(/stopping on/);
  relay.kill('SIGTERM');
  assert.deepEqual(await relay.ended(), { code: 0, signal: null });
  assert.deepEqual(pids.filter(isAlive), []);
});

test('the supervisor takes its log from what is reloaded, as the workers do', async (t) => {
  const folder = temporaryFolder(t);
  const file = path.join(folder, 'relay.conf');
  writeFileSync(file, '');
  const { relay } = await begin(t, ['--config', file]);
  writeFileSync(file, 'log-format = json\n');
  relay.kill('SIGHUP');
  await until('its counters as JSON', async () => {
    relay.kill('SIGUSR1');
    await sleep(20);
    return /^\{.*"message":"stats.*\}$/m.test(relay.log());
  });
});

test('a worker that is started again has the options of the others, whatever the file says', async (t) => {
  const folder = temporaryFolder(t);
  const file = path.join(folder, 'relay.conf');
  writeFileSync(file, 'origin = https://a.example\n');
  const { relay, workers } = await begin(t, ['--config', file]);
  const origins = async () => {
    const found = new Set();
    for (let i = 0; i < 8; i++) {
      for (const name of ['a', 'b']) {
        const link = await connectAs(t, relay, newKey(), { origin: `https://${name}.example` });
        link.send(Buffer.from('hello'));
        const answered = link.received(1).then(() => found.add(name));
        await Promise.race([link.closed(), answered]);
      }
    }
    return [...found].join();
  };
  const replaceAll = async () => {
    for (const pid of workers()) {
      process.kill(pid, 'SIGKILL');
      await until('its end', () => !isAlive(pid));
    }
    const from = relay.log().length;
    await until('others', () => workers().length === WORKERS);
    const knock = () => connectAs(t, relay, newKey()).catch(() => null);
    await until('one that serves', knock);
    return relay.log().slice(from);
  };
  const broken = 'origin = https://b.example\nmax-sessions = few\n';
  writeFileSync(file, broken);
  await replaceAll();
  assert.match(
    relay.log(),
    /warn +worker \d gets the options that were read last: \S+conf:2: max-/,
  );
  assert.equal(await origins(), 'a');

  relay.kill('SIGHUP');
  await relay.logged(/error not reloaded: \S+conf:2: max-/);
  writeFileSync(file, 'origin = https://b.example\n');
  relay.kill('SIGHUP');
  await relay.logged(/reloaded the options\n(.*\n)*.*reloaded the options\n/);
  assert.equal(await origins(), 'b');
  writeFileSync(file, broken);
  await replaceAll();
  assert.equal(await origins(), 'b');
  assert.equal(relay.log().match(/not reloaded/g).length, 1);
});

test('workers do not outlive their supervisor', async (t) => {
  const { server, relay, workers } = await begin(t);
  const link = await connectAs(t, relay, newKey());
  await ask(server, link, 'hello');
  const pids = workers();
  relay.kill('SIGKILL');
  assert.deepEqual(await link.closed(), { code: 1001, reason: 'relay is stopping' });
  await until('their end', () => !pids.some(isAlive));
});

test('more sessions than the supervisor may have files open end no worker', async (t) => {
  const { relay } = await startServed(t, {
    shell: 'ulimit -n 400',
    args: ['--workers', '16', '--max-sessions', '2000', '--max-sessions-per-address', '0'],
  });
  const open = async () => {
    const link = await connectAs(t, relay, newKey());
    await link.echo('hello');
  };
  for (let opened = 0; opened < 420; opened += 20)
    await Promise.all(Array.from({ length: 20 }, open));
  assert.equal((await relay.stats()).sessions_open, 420);
  assert.doesNotMatch(relay.log(), /starting it again|Too many/);
  await relay.logged(/warn +a session cannot move to another worker/);
});

test('an upgrade takes over all workers', async (t) => {
  const { server, relay, workers } = await begin(t);
  const keys = Array.from({ length: 8 }, newKey);
  const links = await Promise.all(keys.map((key) => connectAs(t, relay, key)));
  const ports = [];
  for (const [i, link] of links.entries()) ports.push(await ask(server, link, `before ${i}`));
  const pids = workers();
  const before = await relay.upgrade();
  for (const link of links)
    assert.deepEqual(await link.closed(), { code: 1012, reason: 'relay restarts' });
  await until('the end of the old processes', () => ![before, ...pids].some(isAlive));
  for (const [i, key] of keys.entries())
    assert.equal(await ask(server, await connectAs(t, relay, key), `after ${i}`), ports[i]);
  assert.equal((await relay.stats()).sessions_adopted, keys.length);
});

test('a link that comes after an upgrade is not for an old worker', async (t) => {
  const { server, relay, workers } = await begin(t);
  const old = workers();
  const signal = (pids, name) => pids.forEach((pid) => process.kill(pid, name));
  signal(old, 'SIGSTOP');
  const before = await relay.upgrade();
  const [, successor] = await relay.logged(/process (\d+) has taken over/);
  const young = childrenOf(successor);
  signal(young, 'SIGSTOP');
  const link = connect(t, relay);
  await sleep(50); // its connection waits for whoever accepts it
  signal(old, 'SIGCONT');
  await until('the end of the old processes', () => ![before, ...old].some(isAlive));
  signal(young, 'SIGCONT');
  await ask(server, await link, 'hello');
});

test('workers that cannot start are told of, and the relay ends', async () => {
  const { code, stderr } = await run([
    ...['--listen', '127.0.0.1:0', '--upstream', '127.0.0.1:9', '--workers', '2'],
    ...['--root', '/nowhere'],
  ]);
  assert.equal(code, 1);
  assert.equal(stderr.match(/cannot serve files from \/nowhere/g).length, 1, 'said once');
  assert.match(stderr, /worker 1 does not start/);
});
