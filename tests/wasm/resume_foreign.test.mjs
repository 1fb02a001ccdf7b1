// A player stays on a server that knows nothing of it: the second implementation of netcode, which was written
// from the standard. Links break and others take their place; the server sees one client at one address.
import assert from 'node:assert/strict';
import { afterEach, beforeEach, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { connect, message, require, schema, string } from '../support/causeway.mjs';
import { startDelayPath } from '../support/delay_path.mjs';
import { PROTOCOL, foreignToken, startForeignServer } from '../support/netcode_rig.mjs';
import { reportGap, startPlayer, until } from '../support/player.mjs';
import { startRelay } from '../support/relay.mjs';
import { RTCPeerConnection } from '../support/wrtc.mjs';

const { WebSocket } = require('ws');
const messages = schema(message('say', { text: string(100) }));

let path;
let relay;
let server;
let seen;
let player;

// The path is a new one each time: links that a player still replaces when a test is over lead nowhere.
beforeEach(async (t) => {
  path = await startDelayPath(t, { rtt: 40 });
  server = await startForeignServer(t);
  seen = [];
  server.on('connected', ({ address }) => seen.push(`connected ${address}`));
  server.on('disconnected', (_, by) => seen.push(`disconnected by ${by}`));
  // The packets of both sides have one form, so what comes back is a conversation.
  server.on('payload', (client, payload) => server.send(client, payload));
  const args = ['--protocol-id', String(PROTOCOL), ...path.relayOptions];
  relay = await startRelay(t, { upstream: server.address, gated: true, args });
  path.to(relay);
});

afterEach(() => player.client.disconnect());

async function play(options = {}) {
  const client = await connect(path.url, {
    token: foreignToken({ addresses: [server.address] }),
    schema: messages,
    WebSocket,
    RTCPeerConnection,
    ...options,
  });
  player = startPlayer(client, { isEcho: ({ type }) => type === 'say' });
  await sleep(300);
  return player;
}

/** Checks that nothing that was said is missing, and that the server has seen nothing of what happened. */
async function rest() {
  await player.rest();
  assert.equal(server.clients.length, 1);
  assert.deepEqual(seen, [`connected ${server.clients[0].address}`]);
  assert.equal((await relay.stats()).sessions_opened, 1);
  const harmless = /^an address that is connected$| again$/;
  assert.deepEqual(
    server.ignored.filter((reason) => !harmless.test(reason)),
    [],
  );
}

test('a player moves from WebSocket to WebRTC', async (t) => {
  await play();
  await until(player.client, 'transport', 'webrtc');
  await sleep(300);
  await rest(); // wasm.distance shows that such a move is no loss of a link, which a machine that stalls may add
  reportGap(t, player, 100 + path.rtt);
});

test('a WebSocket that is reset is replaced', async (t) => {
  await play({ transports: ['websocket'] });
  path.cut();
  await until(player.client, 'state', 'reconnecting');
  await until(player.client, 'state', 'connected');
  await rest();
  assert.match(player.states.join(), /^(reconnecting,connected(,|$))+$/);
  reportGap(t, player, 1000);
});

for (const transports of [['websocket'], ['webrtc'], ['webrtc', 'websocket']])
  test(`over ${transports.join(' and ')}: a player whose network changes`, async (t) => {
    await play({ transports });
    if (transports.length > 1) await until(player.client, 'transport', 'webrtc');
    path.roam();
    await sleep(1500);
    await until(player.client, 'state', 'connected');
    await rest();
    reportGap(t, player, 1000);
  });

test('WebRTC that dies without a word gives way to the WebSocket', async (t) => {
  await play();
  await until(player.client, 'transport', 'webrtc');
  await sleep(200);
  path.to({ port: relay.port, rtcPort: 9 });
  await until(player.client, 'transport', 'websocket');
  await until(player.client, 'state', 'connected');
  await rest();
  reportGap(t, player, 1000);
});

test('a network that is gone for two seconds', async (t) => {
  await play();
  await until(player.client, 'transport', 'webrtc');
  path.pause();
  await sleep(2000);
  path.resume();
  await until(player.client, 'state', 'connected');
  await rest();
  reportGap(t, player, 2000 + 1000);
});
