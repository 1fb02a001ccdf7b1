// The admin listener of a relay of several processes tells of all of them.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import test from 'node:test';
import { startWatched } from './admin.mjs';
import { connect, patiently, pattern, sleep, startServer } from './support.mjs';

const PLAYERS = 12;

/** The samples of /metrics, by name and labels. */
const read = async (relay) =>
  Object.fromEntries(
    (await relay.ask('/metrics')).text
      .split('\n')
      .filter((line) => line && !line.startsWith('#'))
      .map((line) => [line.split(' ')[0], Number(line.split(' ')[1])]),
  );

const readUntil = (relay, what, check) =>
  patiently(
    (async () => {
      for (;;) {
        const values = await read(relay);
        if (check(values)) return values;
        await sleep(20);
      }
    })(),
    what,
  );

test('the metrics of the workers are added up, and outlive them', async (t) => {
  const server = await startServer(t);
  const args = ['--workers', '2', '--drain-timeout', '1000'];
  const relay = await startWatched(t, { upstream: server.upstream, args });
  const players = [];
  for (let i = 0; i < PLAYERS; i++) {
    const player = await connect(t, relay);
    player.send(pattern(100));
    await player.received(1);
    players.push(player);
  }
  const values = await readUntil(
    relay,
    'all links',
    (now) => now['causeway_relay_links{transport="websocket"}'] === PLAYERS,
  );
  const stats = await relay.stats();
  const { sessions_open, ...counters } = stats;
  for (const [name, value] of Object.entries(counters))
    assert.equal(values[`causeway_relay_${name}_total`], value, name);
  assert.equal(sessions_open, PLAYERS);
  assert.equal(values.causeway_relay_sessions_open, PLAYERS);
  assert.equal(values.causeway_relay_sessions_max, 1000);
  assert.equal(values.causeway_relay_client_bytes_total, 100 * PLAYERS);
  assert.equal(values.causeway_relay_setup_seconds_count, PLAYERS);
  assert.equal(values[`causeway_relay_upstream_up{server="${server.upstream}"}`], 1);
  for (const worker of ['', '{worker="1"}', '{worker="2"}']) {
    assert.ok(values[`process_cpu_seconds_total${worker}`] > 0);
    assert.ok(values[`process_resident_memory_bytes${worker}`] > 1e6);
    assert.ok(values[`process_open_fds${worker}`] > 6);
  }
  assert.equal((await relay.ask('/readyz')).text, 'ready\n');
  assert.equal((await relay.ask('/sessions')).status, 501);
  assert.equal((await relay.ask('/blocks')).status, 501);

  const children = readFileSync(`/proc/${relay.pid}/task/${relay.pid}/children`, 'utf8');
  process.kill(Number(children.trim().split(' ')[0]), 'SIGKILL');
  await relay.logged(/worker \d ended on signal 9/);
  const after = await readUntil(
    relay,
    'the worker',
    (now) => now.causeway_relay_sessions_max === 1000,
  );
  assert.equal(after.causeway_relay_client_bytes_total, 100 * PLAYERS);
  assert.equal(after.causeway_relay_setup_seconds_count, PLAYERS);
  assert.ok(after.causeway_relay_sessions_open < PLAYERS);
  // What goes up and down does not outlive them.
  assert.equal(
    after['causeway_relay_links{transport="websocket"}'],
    after.causeway_relay_sessions_open,
  );

  relay.kill('SIGTERM');
  await patiently(
    (async () => {
      while ((await relay.ask('/readyz')).text !== 'draining\n') await sleep(10);
    })(),
    'the drain',
  );
});

test('the successor of a relay with workers answers at the same port', async (t) => {
  const server = await startServer(t);
  const relay = await startWatched(t, { upstream: server.upstream, args: ['--workers', '2'] });
  await relay.upgrade();
  for (let i = 0; i < 4; i++) assert.equal((await relay.ask('/readyz')).status, 200);
});
