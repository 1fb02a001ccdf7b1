// The operator blocks addresses for a time.
import assert from 'node:assert/strict';
import test from 'node:test';
import { startWatched } from './admin.mjs';
import { connectAs, newKey } from './links.mjs';
import { until } from '../support/patience.mjs';
import { assertStats } from '../support/relay.mjs';
import { pattern } from '../support/pattern.mjs';

const BLOCKED = { code: 4007, reason: 'ended by the operator' };

async function start(t) {
  const { relay } = await startWatched(t);
  return {
    relay,
    /** A player from an address, who is answered if not refused. */
    player: async (localAddress, key = newKey()) => connectAs(t, relay, key, { localAddress }),
    block: (body) => relay.ask('/blocks', { method: 'POST', body }),
    unblock: (prefix) => relay.ask(`/blocks/${prefix}`, { method: 'DELETE' }),
    blocks: async () => JSON.parse((await relay.ask('/blocks')).text).blocks,
  };
}

test('a blocked prefix loses its sessions and gets no others, and the rest plays on', async (t) => {
  const { relay, player, block, unblock, blocks } = await start(t);
  const inside = [await player('127.9.1.1'), await player('127.9.1.2')];
  const outside = await player('127.9.2.1');
  for (const each of [...inside, outside]) await each.echo(pattern(10));
  const { status, text } = await block('prefix=127.9.1.0%2F24&seconds=600');
  assert.deepEqual({ status, ended: JSON.parse(text).ended }, { status: 200, ended: 2 });
  for (const each of inside) assert.deepEqual(await each.closed(), BLOCKED);
  assert.deepEqual(await (await player('127.9.1.9')).closed(), BLOCKED);
  await outside.echo(pattern(10));
  const [{ prefix, seconds_left: left }] = await blocks();
  assert.equal(prefix, '127.9.1.0/24');
  assert.ok(left > 0 && left <= 600);
  assertStats(await relay.stats(), { sessions_ended_blocked: 2, sessions_refused_blocked: 1 });

  assert.equal((await unblock('127.9.1.0/24')).status, 200);
  assert.equal((await unblock('127.9.1.0%2F24')).status, 404);
  assert.deepEqual(await blocks(), []);
  const again = await player('127.9.1.1');
  await again.echo(pattern(10));
});

test('a player who comes from a blocked address gets no link to a session either', async (t) => {
  const { relay, player, block } = await start(t);
  const key = newKey();
  const first = await player('127.9.2.1', key);
  await first.echo(pattern(10));
  await block('prefix=127.9.1.1&seconds=600');
  assert.deepEqual(await (await player('127.9.1.1', key)).closed(), BLOCKED);
  await first.echo(pattern(10));
  assert.equal((await relay.stats()).sessions_open, 1);
});

test('a block outlasts an upgrade', async (t) => {
  const { relay, player, block, blocks } = await start(t);
  await block('prefix=127.9.1.0/24&seconds=600');
  await relay.upgrade();
  const [{ prefix, seconds_left: left }] = await blocks();
  assert.equal(prefix, '127.9.1.0/24');
  assert.ok(left > 0 && left <= 600);
  assert.deepEqual(await (await player('127.9.1.1')).closed(), BLOCKED);
});

test('a block is over when its time is', async (t) => {
  const { player, block, blocks } = await start(t);
  await block('prefix=127.9.1.1&seconds=6000');
  await block('seconds=600&prefix=127.9.1.1'); // the same block for less time
  const [{ seconds_left: left }, ...others] = await blocks();
  assert.ok(left <= 600 && others.length === 0);
  assert.deepEqual(await (await player('127.9.1.1')).closed(), BLOCKED);
  await block('seconds=1&prefix=127.9.1.1');
  await until('the end of the block', async () => (await blocks()).length === 0);
  const back = await player('127.9.1.1');
  await back.echo(pattern(10));
});

test('what is no block is refused, and there are only so many', async (t) => {
  const { block, blocks } = await start(t);
  for (const body of [
    '',
    'prefix=127.9.1.1',
    'seconds=1',
    'prefix=127.9.1.1&seconds=0',
    'prefix=127.9.1.1&seconds=1.5',
    'prefix=127.9.1.1&seconds=31536001',
    'prefix=127.9.1.1/24&seconds=1',
    'prefix=127.9.1.1/33&seconds=1',
    'prefix=example.org&seconds=1',
    `prefix=${'1'.repeat(100)}&seconds=1`,
    'prefix=%00&seconds=1',
  ])
    assert.equal((await block(body)).status, 400, body);
  assert.deepEqual(await blocks(), []);
  await block('prefix=2001:db8::/32&seconds=600');
  for (let i = 1; i < 1024; i++) await block(`prefix=10.0.${i >> 8}.${i & 255}&seconds=600`);
  assert.equal((await block('prefix=10.1.0.0&seconds=600')).status, 503);
  const all = await blocks();
  assert.equal(all.length, 1024);
  assert.equal(all[0].prefix, '2001:db8::/32');
});
