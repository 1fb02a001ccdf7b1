// A relay that is upgraded while it serves: another process takes over what it has.
import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { chmod, copyFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { ask, connectAs, newKey, openRtcAs } from './links.mjs';
import { sleep, until } from '../support/patience.mjs';
import { pattern } from '../support/pattern.mjs';
import { childrenOf, isAlive } from '../support/programs.mjs';
import { assertStats, assertAddsUp, program, startRelay, statsUntil } from '../support/relay.mjs';
import { startServed } from '../support/served.mjs';
import { startUdpServer } from '../support/udp_server.mjs';
import { connect } from '../support/websocket.mjs';
import { own, temporaryFolder } from '../support/fixture.mjs';

/** The version of the messages between processes. */
const [, version] = /MESSAGE_VERSION (\d)\n/.exec(
  readFileSync(new URL('../../relay/process/message.h', import.meta.url), 'utf8'),
);

const RESTART = { code: 1012, reason: 'relay restarts' };

const ended = (pid) => until(`the end of process ${pid}`, () => !isAlive(pid));

test('sessions go on in the successor, from the same ports', async (t) => {
  const { server, relay } = await startServed(t);
  const keys = [newKey(), newKey(), newKey()];
  const links = await Promise.all(keys.map((key) => connectAs(t, relay, key)));
  const ports = [];
  for (const link of links) ports.push(await ask(server, link, 'before'));
  links[2].socket.terminate();
  await statsUntil(relay, ({ sessions_unlinked }) => sessions_unlinked === 1);

  const before = await relay.upgrade();
  for (const link of links.slice(0, 2)) assert.deepEqual(await link.closed(), RESTART);
  await ended(before);
  // Datagrams that come before the links do are lost, as on any path, but nothing is disturbed.
  for (const port of ports) server.send(pattern(10), server.addresses.get(port));
  await statsUntil(relay, ({ dropped_unlinked }) => dropped_unlinked === 3);
  for (const [i, key] of keys.entries())
    assert.equal(await ask(server, await connectAs(t, relay, key), `after ${i}`), ports[i]);
  const stats = await relay.stats();
  assertStats(stats, { sessions_adopted: 3, sessions_opened: 0, sessions_resumed: 3 });
  assertAddsUp(stats);
  await relay.logged(/sessions_ended_restart=3/);

  // The relay is upgraded again: a successor is a relay like any other.
  await relay.upgrade();
  assert.equal(await ask(server, await connectAs(t, relay, keys[0]), 'again'), ports[0]);
});

test('a session that cannot go on is told to begin anew', async (t) => {
  const { relay } = await startServed(t, { answer: (data) => (data[0] === 33 ? data : null) });
  const unanswered = await connectAs(t, relay, newKey());
  unanswered.send(pattern(20));
  const nameless = await connect(t, relay);
  nameless.send(Buffer.of(33));
  await nameless.received(1);
  await relay.upgrade();
  assert.deepEqual(await unanswered.closed(), RESTART);
  assert.deepEqual(await nameless.closed(), RESTART);
  assert.equal((await relay.stats()).sessions_adopted, 0);
});

test('the first process of a container refuses, because all would end with it', async (t) => {
  if (spawnSync('unshare', ['--pid', '--fork', 'true']).status !== 0)
    return t.skip('no namespace of processes may be made here');
  const server = await startUdpServer(t);
  const shell = 'exec unshare --pid --fork --kill-child "$0" "$@"';
  const relay = await startRelay(t, { upstream: server.upstream, shell });
  const [first] = childrenOf(relay.pid);
  const link = await connect(t, relay);
  process.kill(first, 'SIGUSR2');
  await relay.logged(/no upgrade: the container would end with this process/);
  await link.echo(pattern(10));
  process.kill(first, 'SIGINT');
});

test('no connection is refused meanwhile', async (t) => {
  const { relay } = await startServed(t);
  let going = true;
  let count = 0;
  const knocking = (async () => {
    while (going) {
      const response = await fetch(`http://127.0.0.1:${relay.port}/none`);
      assert.equal(response.status, 404);
      count++;
    }
  })();
  for (let i = 0; i < 3; i++) {
    const before = count;
    await relay.upgrade();
    while (count === before) await Promise.race([sleep(1), knocking]);
  }
  going = false;
  await knocking;
});

test('WebRTC goes on at its port', async (t) => {
  const { server, relay } = await startServed(t, { args: ['--rtc', '127.0.0.1:0'] });
  const rtcPort = async (from) => (await relay.logged(/webrtc on udp \S+:(\d+)\n/, from))[1];
  const first = await rtcPort(0);
  const from = relay.log().length;
  const key = newKey();
  const say = async (link, text) => {
    link.channel.send(Buffer.from(text));
    assert.equal((await link.next()).toString(), text);
    return server.received.findLast(({ data }) => data.toString() === text).port;
  };
  const link = await openRtcAs(t, relay, key);
  const port = await say(link, 'before');
  // The old process stays a while, for this link, but takes nothing from the port any more.
  const stuck = await connectAs(t, relay, newKey());
  stuck.socket.pause();
  const before = await relay.upgrade();
  assert.equal((await link.next()).toString(), '1012 relay restarts');
  assert.equal(await rtcPort(from), first);
  assert.equal(await say(await openRtcAs(t, relay, key), 'after'), port);
  assert.ok(isAlive(before));
  stuck.socket.terminate();
  await ended(before);
  await relay.logged(/sessions_ended_restart=2 .* rtc_packets_ignored=0 /);
});

/** Puts a script in the place of the relay's program, for its successor. */
async function replace(path, text) {
  await rm(path);
  await writeFile(path, text);
  await chmod(path, 0o755);
}

test('a successor that cannot start leaves everything as it is', async (t) => {
  const folder = temporaryFolder(t);
  const path = join(folder, 'relay');
  await copyFile(program, path);
  const { server, relay } = await startServed(t, { path });
  const link = await connectAs(t, relay, newKey());
  const port = await ask(server, link, 'before');

  for (const [text, line] of [
    ['#!/bin/sh\nexit 3\n', /no upgrade: process \d+ ended with 3; this one goes on/],
    ['no program', /no upgrade: cannot start \S+: Exec format error/],
    // This successor is of another version: its message has no header of this one.
    [
      '#!/bin/bash\nprintf "\\001\\000\\000\\000" >&$CAUSEWAY_LINE\nexec sleep 100\n',
      /no upgrade: process \d+ did not start; this one goes on/,
    ],
    // This successor opens everything, and then dies with the sessions in its hands.
    [
      `#!/bin/bash\nprintf "\\00${version}\\000\\007\\000\\000\\000\\000\\000" >&$CAUSEWAY_LINE\nexit 4\n`,
      /ended with 4; this one goes on/,
    ],
  ]) {
    await replace(path, text);
    relay.kill('SIGUSR2');
    await relay.logged(line);
    assert.equal(await ask(server, link, `after ${line}`), port);
  }
  await rm(path);
  await copyFile(program, path);
  await relay.upgrade();
  assert.deepEqual(await link.closed(), RESTART);
});

test('an upgrade that is asked for during another follows it', async (t) => {
  const folder = temporaryFolder(t);
  const [path, gate] = ['relay', 'gate'].map((name) => join(folder, name));
  await copyFile(program, path);
  const { relay } = await startServed(t, { path });
  // The first successor waits until the second is asked for.
  execFileSync('mkfifo', [gate]);
  await replace(path, `#!/bin/sh\nread go <${gate}\nexec ${program} "$@"\n`);
  relay.kill('SIGUSR2');
  const [, first] = await relay.logged(/upgrade: process (\d+) is starting\n/);
  relay.kill('SIGUSR2');
  await relay.logged(/another upgrade follows the one that is under way/);
  await writeFile(gate, 'go\n');
  await relay.logged(new RegExp(`process ${first} has taken over`));
  const [, second] = await relay.logged(/starting\n[^]*upgrade: process (\d+) is starting\n/);
  own(t, () => isAlive(second) && process.kill(second, 'SIGKILL'));
  await relay.logged(new RegExp(`process ${second} has taken over`));
  await ended(first);
});

test('a relay that is stopping is not upgraded', async (t) => {
  const { relay } = await startServed(t);
  const link = await connectAs(t, relay, newKey());
  link.socket.pause(); // the client never answers the close
  relay.kill('SIGTERM');
  await relay.logged(/stopping on/);
  relay.kill('SIGUSR2');
  await relay.logged(/no upgrade: this process is stopping/);
  relay.kill('SIGTERM');
  await relay.ended();
});
