// Hundreds of players come, play and leave, again and again, over each transport: all get through, the relay counts what
// they count, and each takes little of its memory, which comes back.
import assert from 'node:assert/strict';
import test from 'node:test';
import { next, until } from '../support/patience.mjs';
import { lineOf, memoryOf, startProgram } from '../support/programs.mjs';
import { assertAddsUp, assertStats, statsUntil } from '../support/relay.mjs';
import { startServed } from '../support/served.mjs';

/** A sanitizer makes everything slower. It takes more memory too, and keeps what is freed for a while. */
const sanitized = Boolean(process.env.CAUSEWAY_SANITIZED);
const PLAYERS = sanitized ? 50 : 500;
const ROUNDS = 3;

/** The most kilobytes that a player may take: about a third more than they took when this was set. */
const MOST = { websocket: 3, webrtc: 45, webtransport: 57 };
if (!process.env.CAUSEWAY_WEBTRANSPORT_CLIENT) delete MOST.webtransport;
/** The most kilobytes of a player that may stay when they have left. */
const LEFT = 3;

/** Starts a relay. `play` has players come, calls `meanwhile` when all are there, and lets them go. */
async function start(t, host) {
  const { relay } = await startServed(t, {
    listen: `${host}:0`,
    args: [
      ...['--rtc', `${host}:0`, ...('webtransport' in MOST ? ['--webtransport'] : [])],
      // The relay takes as many offers at once as sessions, and all players of a test come at once on a fast machine.
      ...['--max-sessions', String(2 * ROUNDS * PLAYERS), '--max-sessions-per-address', '0'],
    ],
  });
  let sessions_opened = 0;
  let delivered_datagrams = 0;
  const play = async (transport, players, meanwhile = () => {}) => {
    // Few connect at a time: a busy machine takes longer, and refuses nobody.
    const args = ['--transport', transport, '--players', String(players), '--json'];
    const pace = ['--ramp', '1000', '--at-once', '20', '--rate', '1', '--seconds', '1000'];
    const url = `ws://${relay.host}:${relay.port}/`;
    const load = startProgram(t, process.env.CAUSEWAY_LOAD, [...args, ...pace, url]);
    let stdout = '';
    load.stdout.on('data', (data) => (stdout += data));
    await lineOf(load, /the players play/, load.stderr);
    meanwhile();
    load.kill('SIGTERM');
    assert.deepEqual(await next(load, 'close'), [0, null], stdout);
    const result = JSON.parse(stdout)[transport];
    assert.equal(result.connected, players);
    assert.ok(result.returned >= players);
    sessions_opened += players;
    delivered_datagrams += result.datagrams_received;
    const stats = await statsUntil(relay, ({ sessions_open }) => sessions_open === 0);
    assertStats(stats, { sessions_opened, delivered_datagrams });
    assertAddsUp(stats);
  };
  return { relay, play };
}

for (const [transport, most] of Object.entries(MOST))
  test(`${PLAYERS} players over ${transport}, ${ROUNDS} times`, async (t) => {
    const { relay, play } = await start(t, '127.0.0.1');
    // The first round touches buffers that are used again and again.
    await play(transport, PLAYERS / 5);
    const empty = memoryOf(relay.pid);
    const each = () => (memoryOf(relay.pid) - empty) / PLAYERS;
    for (let round = 0; round < ROUNDS; round++) {
      await play(transport, PLAYERS, () => {
        t.diagnostic(`${each()} kB for each`);
        assert.ok(sanitized || each() < most, `${each()} kB for each`);
      });
      await until(
        () => `the memory; there are ${each()} kB for each`,
        () => sanitized || each() < LEFT,
      );
    }
  });

test('players over IPv6', async (t) => {
  const { play } = await start(t, '[::1]');
  for (const transport of Object.keys(MOST)) await play(transport, 20);
});
