// The operator sees the sessions, and ends one.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'node:test';
import { startWatched } from './admin.mjs';
import { connectAs, newKey, openRtcAs } from './links.mjs';
import { temporaryFolder } from '../support/fixture.mjs';
import { ask } from '../support/http.mjs';
import { pattern } from '../support/pattern.mjs';
import { statsUntil } from '../support/relay.mjs';
import { connect } from '../support/websocket.mjs';

const BLOCKED = { code: 4007, reason: 'ended by the operator' };

const read = async (relay, path) => {
  const { status, type, text } = await relay.ask(path);
  assert.equal(status, 200);
  assert.equal(type, 'application/json');
  return JSON.parse(text);
};

test('a session is told with its addresses, links and traffic', async (t) => {
  const { server, relay } = await startWatched(t, { args: ['--rtc', '127.0.0.1:0'] });
  assert.deepEqual(await read(relay, '/sessions'), { sessions: [], next_after: null });
  const key = newKey();
  const player = await connectAs(t, relay, key);
  await player.echo(pattern(100));
  const [shown] = (await read(relay, '/sessions')).sessions;
  const { client, age_seconds: age, rtt_ms: rtt, ...rest } = shown;
  assert.equal(client, `127.0.0.1:${player.socket._socket.localPort}`);
  assert.ok(age > 0 && age < 600);
  assert.ok(rtt > 0 && rtt < 60_000, `${rtt}`);
  assert.deepEqual(rest, {
    id: 1,
    token: '', // it sent no connection request
    server: server.upstream,
    source: `127.0.0.1:${server.received[0].port}`,
    answered: true,
    transports: ['websocket'],
    client_datagrams: 1,
    client_bytes: 100,
    upstream_datagrams: 1,
    upstream_bytes: 100,
  });
  await openRtcAs(t, relay, key);
  await statsUntil(relay, ({ links_joined }) => links_joined === 1);
  const [{ transports }] = (await read(relay, '/sessions')).sessions;
  assert.deepEqual(transports, ['webrtc', 'websocket']);
  assert.equal((await relay.ask('/sessions/1/record')).status, 404);
  const { text } = await relay.ask('/metrics');
  assert.match(text, /^causeway_relay_links\{transport="webrtc"\} 1$/m);
});

/** Returns the notes of the parts of a session's record, as causeway-record prints them. */
const recordOf = async (t, relay, id) => {
  const { status, body } = await ask(relay.adminPort, `/sessions/${id}/record`);
  assert.equal(status, 200);
  const file = join(temporaryFolder(t), 'session.rec');
  writeFileSync(file, body);
  const printed = execFileSync(process.env.CAUSEWAY_RECORD, [file], { encoding: 'utf8' });
  return [...printed.matchAll(/ note (.* s over .*)$/gm)].map(([, note]) => note);
};

test('a session is recorded if the operator wants that', async (t) => {
  const { relay } = await startWatched(t, { args: ['--rtc', '127.0.0.1:0', '--record'] });
  const key = newKey();
  const player = await connectAs(t, relay, key);
  // The first answer of the game server begins the record.
  for (const size of [100, 150]) await player.echo(pattern(size));
  await openRtcAs(t, relay, key);
  await statsUntil(relay, ({ links_joined }) => links_joined === 1);
  const {
    sessions: [{ id }],
  } = await read(relay, '/sessions');
  const parts = await recordOf(t, relay, id);
  const sums = parts.map((note) => note.match(/client (\d+) .*upstream (\d+) \((\d+) bytes\)$/));
  const sum = (place) => sums.reduce((all, numbers) => all + Number(numbers[place]), 0);
  assert.deepEqual([sum(1), sum(2), sum(3)], [1, 1, 150]);
  assert.equal((await relay.ask(`/sessions/${id}`, { method: 'DELETE' })).status, 200);
  await statsUntil(relay, ({ sessions_open }) => sessions_open === 0);
  const whole = parts.slice(0, -1);
  assert.deepEqual((await recordOf(t, relay, id)).slice(0, whole.length), whole);
  assert.match(parts[0], /^\d+\.\d s over websocket, rtt \d+ ms: /);
  assert.match(parts.at(-1), /^\d+\.\d s over webrtc,websocket, rtt /);
  for (const path of ['77/record', `${id}/records`, `${id}/`, '/record', 'x/record'])
    assert.equal((await relay.ask(`/sessions/${path}`)).status, 404, path);
});

test('many sessions are told in pages, each of them once', async (t) => {
  // No player says anything, and no session ends while the others come.
  const { relay } = await startWatched(t, {
    args: ['--max-sessions-per-address', '0', '--request-timeout', '600'],
  });
  const players = [];
  for (let i = 0; i < 25; i++) players.push(await connect(t, relay));
  players[3].close(1000);
  await statsUntil(relay, ({ sessions_open }) => sessions_open === 24);
  const ids = [];
  const sizes = [];
  for (let after = 0; after !== null;) {
    const page = await read(relay, `/sessions?limit=10&after=${after || ''}`);
    ids.push(...page.sessions.map(({ id }) => id));
    sizes.push(page.sessions.length);
    after = page.next_after;
  }
  assert.deepEqual(sizes, [10, 10, 4]);
  assert.deepEqual(
    ids,
    Array.from({ length: 25 }, (_, i) => i + 1).filter((id) => id !== 4),
  );
  for (const query of ['limit=0', 'limit=1001', 'limit=x', 'after=-1', 'after=%2501'])
    assert.equal((await relay.ask(`/sessions?${query}`)).status, 400, query);
  assert.equal((await relay.ask('/sessions?after=%zz')).status, 403);
});

test('the operator ends a session, and its page is told why', async (t) => {
  const { relay } = await startWatched(t);
  const players = [await connectAs(t, relay, newKey()), await connectAs(t, relay, newKey())];
  for (const player of players) await player.echo(pattern(10));
  const end = async (id) => (await relay.ask(`/sessions/${id}`, { method: 'DELETE' })).status;
  assert.equal(await end(1), 200);
  assert.deepEqual(await players[0].closed(), BLOCKED);
  await relay.logged(/session ended session=1 .* why="the operator has ended it"/);
  for (const id of [1, 3, 0, '', 'x', '2x', '18446744073709551617'])
    assert.equal(await end(id), 404, id);
  await players[1].echo(pattern(10));
  assert.equal((await relay.stats()).sessions_ended_blocked, 1);
});
