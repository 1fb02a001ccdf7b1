// A player stays: connections through the real relay whose links break, over a path with distance. Gaps are reported,
// and may be three times as long as their goals.
import assert from 'node:assert/strict';
import { afterEach, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { connect, require } from '../support/causeway.mjs';
import { startDelayPath } from '../support/delay_path.mjs';
import { reportGap, startPlayer, until } from '../support/player.mjs';
import { messages, startGate, startSecureServer } from '../support/secure.mjs';
import { RTCPeerConnection } from '../support/wrtc.mjs';

const { WebSocket } = require('ws');

const clients = [];

const path = await startDelayPath(test, { rtt: 0 });
const place = await startSecureServer(test, { relayOptions: path.relayOptions });
path.to(place.relay);

afterEach(() => {
  for (const client of clients.splice(0)) client.disconnect();
  path.to(place.relay);
  path.resume();
  path.rtt = 0;
});

async function play(options = {}, { way = path, server = place.server } = {}) {
  const client = await connect(way.url, {
    token: await server.token({ timeoutSeconds: 10 }),
    schema: messages,
    WebSocket,
    RTCPeerConnection,
    ...options,
  });
  clients.push(client);
  return startPlayer(client);
}

/** Checks that the player has lost the link and come back: on a machine that stalls, more than once. */
const assertCameBack = ({ states }) =>
  assert.match(states.join(), /^(reconnecting,connected(,|$))+$/);

test('a WebSocket that is reset is replaced', async (t) => {
  path.rtt = 40;
  const player = await play({ transports: ['websocket'] });
  await sleep(200);
  const { packetsAcked, secure } = player.client.stats();
  path.cut();
  await until(player.client, 'state', 'reconnecting');
  player.say();
  await until(player.client, 'state', 'connected');
  await player.rest();
  assertCameBack(player);
  reportGap(t, player, 1000);
  const stats = player.client.stats();
  assert.ok(stats.packetsAcked > packetsAcked && stats.transport.datagramsSent > 0);
  assert.ok(stats.secure.datagramsSent > secure.datagramsSent);
  assert.ok(stats.transport.datagramsSent > secure.datagramsSent);
});

test('a session that the relay ends for a reason of its own is followed by another', async () => {
  let socket;
  class Watched extends WebSocket {
    constructor(...values) {
      super(...values);
      this.protocols = values[1];
      socket = this;
    }
  }
  const player = await play({ transports: ['websocket'], WebSocket: Watched });
  await sleep(200);
  const first = socket;
  first.emit('close', 4000, Buffer.from('idle'));
  await until(player.client, 'state', 'reconnecting');
  await until(player.client, 'state', 'connected');
  first.terminate();
  await player.rest();
  assert.notDeepEqual(socket.protocols, first.protocols);
});

for (const transports of [['websocket'], ['webrtc'], ['webrtc', 'websocket']])
  test(`over ${transports.join(' and ')}: a player whose network changes goes on`, async (t) => {
    path.rtt = 40;
    const player = await play({ transports });
    const overUdp = transports.includes('webrtc');
    if (overUdp) await until(player.client, 'transport', 'webrtc');
    await sleep(200);
    path.roam();
    // Over WebRTC the page may notice nothing.
    await (overUdp ? sleep(1500) : until(player.client, 'state', 'reconnecting'));
    await until(player.client, 'state', 'connected');
    await player.rest();
    reportGap(t, player, 1000);
  });

test('when no datagram passes any more, the WebSocket is back', async (t) => {
  path.rtt = 40;
  const player = await play();
  await until(player.client, 'transport', 'webrtc');
  await sleep(200);
  path.to({ port: place.relay.port, rtcPort: 9 });
  await until(player.client, 'transport', 'websocket');
  await until(player.client, 'state', 'connected');
  await player.rest();
  assert.deepEqual(player.transports.slice(-2), ['webrtc', 'websocket']);
  reportGap(t, player, 1000);
});

test('a network that is gone for three seconds loses nobody', async (t) => {
  path.rtt = 40;
  const player = await play();
  await until(player.client, 'transport', 'webrtc');
  path.pause();
  await sleep(3000);
  path.resume();
  await until(player.client, 'state', 'connected');
  await player.rest();
  reportGap(t, player, 3000 + 1000);
});

for (const kind of ['websocket', 'webrtc'])
  test(`${kind}: a relay that crashes and is back loses nobody`, async (t) => {
    const mortal = await startDelayPath(t, { rtt: 40 });
    const { server, relay } = await startSecureServer(t, { relayOptions: mortal.relayOptions });
    mortal.to(relay);
    const player = await play({ transports: [kind] }, { way: mortal, server });
    await sleep(200);
    await relay.stop('SIGKILL');
    const next = await startGate(t, server, mortal.relayOptions);
    mortal.to(next);
    await until(player.client, 'state', 'reconnecting');
    await until(player.client, 'state', 'connected');
    await player.rest();
    assertCameBack(player);
    reportGap(t, player, 1500);
    player.client.disconnect();
  });
