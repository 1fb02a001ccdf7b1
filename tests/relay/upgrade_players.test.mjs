// A relay is upgraded under many players, who are on a server that knows nothing of it: the second implementation of
// netcode. CAUSEWAY_PLAYERS is their number, CAUSEWAY_UPGRADE_OPTIONS has the relay's options.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { connect as join, message, schema, string } from '../support/causeway.mjs';
import { PROTOCOL, foreignToken, startForeignServer } from '../support/netcode_rig.mjs';
import { reportGap, startPlayer } from '../support/player.mjs';
import { sleep } from '../support/patience.mjs';
import { startRelay, statsUntil } from '../support/relay.mjs';
import { WebSocket } from '../support/websocket.mjs';
import { WebTransport } from '../support/webtransport.mjs';
import { own } from '../support/fixture.mjs';

const PLAYERS = Number(process.env.CAUSEWAY_PLAYERS ?? 100);
/** The number of players who speak often, and show how long the gap is. The work of the others must not hide it. */
const SPEAKERS = 20;
const messages = schema(message('say', { text: string(100) }));

/** The number of players over each transport. One over WebTransport is a process, so a larger crowd has none. */
const transports = { websocket: PLAYERS };
if (process.env.CAUSEWAY_WEBTRANSPORT_CLIENT && PLAYERS <= 100) transports.webtransport = SPEAKERS;
Object.assign(globalThis, { WebTransport });

const options = (name) => process.env[name]?.split(' ') ?? [];

/** Begins a game with this many players, who speak. */
async function startPlayers(t, count, transport = 'websocket') {
  const server = await startForeignServer(t, { slots: count, tickMs: 3 * count });
  const seen = { connected: 0, disconnected: 0 };
  server.on('connected', () => seen.connected++);
  server.on('disconnected', () => seen.disconnected++);
  server.on('payload', (client, payload) => server.send(client, payload));
  const relay = await startRelay(t, {
    upstream: server.address,
    gated: true,
    args: [
      ...['--protocol-id', String(PROTOCOL), '--max-sessions-per-address', '0'],
      ...['--max-sessions', String(2 * count), '--answer-timeout', '60'],
      ...(transport === 'webtransport' ? ['--rtc', '127.0.0.1:0', '--webtransport'] : []),
      ...options('CAUSEWAY_UPGRADE_OPTIONS'),
    ],
  });
  const players = [];
  for (let i = 0; i < count; i++) {
    const client = await join(`http://127.0.0.1:${relay.port}/`, {
      token: foreignToken({ addresses: [server.address], clientId: BigInt(i + 1), timeout: 60 }),
      schema: messages,
      transports: [transport],
      ticksPerSecond: i < SPEAKERS ? 60 : 4,
      WebSocket,
    });
    const everyMs = i < SPEAKERS ? 100 : 3 * count;
    players.push(startPlayer(client, { isEcho: ({ type }) => type === 'say', everyMs }));
  }
  own(t, () => players.forEach(({ client }) => client.disconnect()));
  return { seen, relay, players };
}

for (const [transport, count] of Object.entries(transports))
  test(`an upgrade loses none of ${count} players over ${transport}`, async (t) => {
    const { seen, relay, players } = await startPlayers(t, count, transport);
    await sleep(500);
    for (const player of players) player.gap = 0;

    await relay.upgrade();
    await statsUntil(relay, ({ sessions_resumed }) => sessions_resumed >= count);
    await Promise.all(players.map((player) => player.rest()));
    assert.deepEqual(seen, { connected: count, disconnected: 0 });
    assert.equal((await relay.stats()).sessions_opened, 0);
    reportGap(t, { gap: Math.max(...players.slice(0, SPEAKERS).map(({ gap }) => gap)) }, 1500);
  });

test('ten upgrades in a row wait for the players, and lose none', async (t) => {
  const { seen, relay, players } = await startPlayers(t, SPEAKERS);
  for (let i = 0; i < 10; i++) await relay.upgrade();
  await statsUntil(relay, ({ sessions_resumed }) => sessions_resumed >= SPEAKERS);
  await Promise.all(players.map((player) => player.rest()));
  assert.deepEqual(seen, { connected: SPEAKERS, disconnected: 0 });
  assert.match(relay.log(), /upgrade: waiting for players to come back from the last one/);
});
