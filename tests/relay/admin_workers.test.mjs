// The admin listener of a relay of several processes reports on all of them.
import assert from 'node:assert/strict';
import test from 'node:test';
import { startWatched } from './admin.mjs';
import { connectAs, newKey } from './links.mjs';
import { until } from '../support/patience.mjs';
import { assertStats } from '../support/relay.mjs';
import { pattern } from '../support/pattern.mjs';
import { connect } from '../support/websocket.mjs';
import { childrenOf } from '../support/programs.mjs';

const PLAYERS = 20;

/** Reads the samples of /metrics, by name and labels. */
const read = async (relay) =>
  Object.fromEntries(
    (await relay.ask('/metrics')).text
      .split('\n')
      .filter((line) => line && !line.startsWith('#'))
      .map((line) => [line.split(' ')[0], Number(line.split(' ')[1])]),
  );

const workers = ({ pid }) => childrenOf(pid);

const BLOCKED = { code: 4007, reason: 'ended by the operator' };

/** Starts a relay of two processes, with players at both whom the game server has answered. */
async function startCrowd(t) {
  const args = ['--workers', '2', '--max-sessions-per-address', '0', '--record'];
  const { relay } = await startWatched(t, { args });
  const players = [];
  for (let i = 0; i < PLAYERS; i++) {
    const player = await connectAs(t, relay, newKey(), { localAddress: '127.9.1.1' });
    await player.echo(pattern(100));
    players.push(player);
  }
  const page = async (query = '') => JSON.parse((await relay.ask(`/sessions${query}`)).text);
  return { relay, players, page };
}

const readUntil = (relay, what, check) =>
  until(what, async () => {
    const values = await read(relay);
    return check(values) && values;
  });

test('the metrics of the workers are added up, and outlive them', async (t) => {
  const args = ['--workers', '2', '--drain-timeout', '1000'];
  const { server, relay } = await startWatched(t, { args });
  for (let i = 0; i < PLAYERS; i++) await (await connect(t, relay)).echo(pattern(100));
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

  process.kill(workers(relay)[0], 'SIGKILL');
  await relay.logged(/worker \d ended on signal 9/);
  const after = await readUntil(
    relay,
    'the worker',
    (now) => now.causeway_relay_sessions_max === 1000,
  );
  assertStats(after, {
    causeway_relay_client_bytes_total: 100 * PLAYERS,
    causeway_relay_setup_seconds_count: PLAYERS,
  });
  assert.ok(after.causeway_relay_sessions_open < PLAYERS);
  // A gauge, which goes up and down, does not outlive its process.
  assert.equal(
    after['causeway_relay_links{transport="websocket"}'],
    after.causeway_relay_sessions_open,
  );

  relay.kill('SIGTERM');
  await until('the drain', async () => (await relay.ask('/readyz')).text === 'draining\n');
});

test('the sessions of all workers are told in pages, and each can be ended', async (t) => {
  const { relay, players, page } = await startCrowd(t);
  const { sessions, ...rest } = await page();
  assert.deepEqual(rest, { next_after: null });
  const ids = sessions.map(({ id }) => id);
  assert.equal(new Set(ids).size, PLAYERS);
  assert.deepEqual(
    ids,
    [...ids].sort((a, b) => a - b),
  );
  assert.deepEqual(
    sessions.map(({ client }) => Number(client.split(':')[1])).sort(),
    players.map(({ socket }) => socket._socket.localPort).sort(),
  );
  const first = await page('?limit=5');
  const second = await page(`?limit=${PLAYERS}&after=${first.next_after}`);
  assert.deepEqual(
    [...first.sessions, ...second.sessions].map(({ id }) => id),
    ids,
  );
  assert.equal(first.sessions.length, 5);
  assert.equal(second.next_after, null);

  const { id, client, transports } = sessions[7];
  assert.deepEqual(transports, ['websocket']);
  assert.equal((await relay.ask(`/sessions/${id}/record`)).status, 200);
  const end = async () => (await relay.ask(`/sessions/${id}`, { method: 'DELETE' })).status;
  const [ended] = players.filter(({ socket }) => client.endsWith(`:${socket._socket.localPort}`));
  assert.equal(await end(), 200);
  assert.deepEqual(await ended.closed(), BLOCKED);
  assert.equal(await end(), 404);
  for (const other of [id % 100, 100 + 3, 1e9]) {
    assert.equal((await relay.ask(`/sessions/${other}`, { method: 'DELETE' })).status, 404);
    assert.equal((await relay.ask(`/sessions/${other}/record`)).status, 404);
  }
  const left = await page();
  assert.deepEqual(
    left.sessions.map((session) => session.id),
    ids.filter((other) => other !== id),
  );
});

test('a block holds at all workers, at later ones, and after an upgrade', async (t) => {
  const { relay, players } = await startCrowd(t);
  const block = async (prefix) =>
    relay.ask('/blocks', { method: 'POST', body: `prefix=${prefix}&seconds=600` });
  const blocked = async () => {
    for (let i = 0; i < 8; i++) {
      const player = await connectAs(t, relay, newKey(), { localAddress: '127.9.1.9' });
      assert.deepEqual(await player.closed(), BLOCKED);
    }
  };
  const { text } = await block('127.9.1.0/24');
  assert.deepEqual(JSON.parse(text), { ended: PLAYERS });
  for (const player of players) assert.deepEqual(await player.closed(), BLOCKED);
  await blocked();
  for (let i = 0; i < 100; i++) await block(`10.0.0.${i}`);

  for (const pid of workers(relay)) process.kill(pid, 'SIGKILL');
  await readUntil(relay, 'other workers', (now) => now.causeway_relay_sessions_max === 1000);
  await blocked();

  await relay.upgrade();
  const { blocks } = JSON.parse((await relay.ask('/blocks')).text);
  assert.equal(blocks.length, 101);
  assert.equal(blocks[0].prefix, '127.9.1.0/24');
  await blocked();

  const unblock = () => relay.ask('/blocks/127.9.1.0/24', { method: 'DELETE' });
  assert.equal((await unblock()).status, 200);
  assert.equal((await unblock()).status, 404);
  for (let i = 0; i < 8; i++) {
    const player = await connectAs(t, relay, newKey(), { localAddress: '127.9.1.9' });
    await player.echo(pattern(100));
  }
});

test('a worker that hangs is told of, and the others are steered', async (t) => {
  const { relay, page } = await startCrowd(t);
  const { sessions } = await page();
  const [stuck] = workers(relay); // it is the first to be started
  const isMute = ({ id }) => id % 100 === 1;
  process.kill(stuck, 'SIGSTOP');
  const body = 'prefix=127.9.0.0/16&seconds=600';
  const [list, end, block] = await Promise.all([
    page(),
    relay.ask(`/sessions/${sessions.find(isMute).id}`, { method: 'DELETE' }),
    relay.ask('/blocks', { method: 'POST', body }),
  ]);
  const { sessions: received, ...rest } = list;
  assert.deepEqual(rest, { next_after: null, silent_workers: 1 });
  assert.ok(!received.some(isMute));
  assert.equal(end.status, 503);
  assert.deepEqual(JSON.parse(block.text), {
    ended: sessions.filter((session) => !isMute(session)).length,
    silent_workers: 1,
  });
});

test('the successor of a relay with workers answers at the same port', async (t) => {
  const { relay } = await startWatched(t, { args: ['--workers', '2'] });
  await relay.upgrade();
  for (let i = 0; i < 4; i++) assert.equal((await relay.ask('/readyz')).status, 200);
});
