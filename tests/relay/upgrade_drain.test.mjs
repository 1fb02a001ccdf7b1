// A relay that is asked to end lets those who play go on for a while.
import assert from 'node:assert/strict';
import test from 'node:test';
import { startPlayed, startServed } from '../support/served.mjs';
import { connect } from '../support/websocket.mjs';

const KEY = 'AAAAAAAAAAAAAAAAAAAAAA';
const named = { protocols: ['causeway.v1', `causeway.session.${KEY}`] };

/** Starts a relay that is draining, and a player whom it still carries. */
async function startDraining(t, seconds, protocols = named) {
  const { relay } = await startServed(t, { args: ['--drain-timeout', seconds] });
  const player = await connect(t, relay, protocols);
  await player.echo('before');
  relay.kill('SIGTERM');
  await relay.logged(/draining on SIGTERM: 1 session may go on/);
  return { relay, player };
}

test('a draining relay refuses newcomers with 1001, and ends when the last player has gone', async (t) => {
  const { relay, player } = await startDraining(t, '1000');
  const newcomer = await connect(t, relay);
  assert.deepEqual(await newcomer.closed(), { code: 1001, reason: 'relay is stopping' });
  await player.echo('during');
  assert.equal((await relay.stats()).sessions_refused_draining, 1);
  player.close(1000);
  assert.deepEqual(await relay.ended(), { code: 0, signal: null });
  await relay.logged(/stats sessions_open=0 .* sessions_ended_drain=0 /);
});

test('a player who loses the link to a draining relay has the next one there', async (t) => {
  const { relay, player } = await startDraining(t, '1000');
  player.socket.terminate();
  await player.closed();
  const again = await connect(t, relay, named);
  await again.echo('again');
  assert.equal((await relay.stats()).sessions_opened, 1);
  again.close(1000);
  assert.equal((await relay.ended()).code, 0);
});

test('a draining relay without sessions ends at once', async (t) => {
  const { relay } = await startServed(t, { args: ['--drain-timeout', '1000'] });
  relay.kill('SIGTERM');
  assert.deepEqual(await relay.ended(), { code: 0, signal: null });
});

test('who still plays after --drain-timeout is told, as after a second SIGTERM', async (t) => {
  const { relay, player } = await startDraining(t, '0.5');
  assert.deepEqual(await player.closed(), { code: 1001, reason: 'relay is stopping' });
  assert.equal((await relay.ended()).code, 0);
  await relay.logged(/stopping after --drain-timeout: closing 1 session\n/);

  const asked = await startDraining(t, '1000');
  asked.relay.kill('SIGTERM');
  assert.deepEqual(await asked.player.closed(), { code: 1001, reason: 'relay is stopping' });
  assert.equal((await asked.relay.ended()).code, 0);
});

test('SIGINT does not drain', async (t) => {
  const { relay, client: player } = await startPlayed(t, { args: ['--drain-timeout', '1000'] });
  relay.kill('SIGINT');
  assert.equal((await player.closed()).code, 1001);
  assert.equal((await relay.ended()).code, 0);
});
