// A player stays: connections through the real relay whose links break, over a path with distance. Gaps are
// allowed three times what they are meant to be.
import assert from 'node:assert/strict';
import { after, afterEach, before, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { connect, require } from '../support/causeway.mjs';
import { startDelayPath } from '../support/delay_path.mjs';
import { startPlayer, until } from '../support/player.mjs';
import { startGatedRelay } from '../support/relay.mjs';
import { PROTOCOL_ID, messages, startSecureServer } from '../support/secure.mjs';
import { RTCPeerConnection } from '../support/wrtc.mjs';

const { WebSocket } = require('ws');
const gate = ['--protocol-id', String(PROTOCOL_ID)];

let path;
let place;
const clients = [];

before(async () => {
  path = await startDelayPath({ rtt: 0 });
  place = await startSecureServer({ relayOptions: path.relayOptions });
  path.to(place.relay);
});

afterEach(() => {
  for (const client of clients.splice(0)) client.disconnect();
  path.to(place.relay);
  path.resume();
  path.rtt = 0;
});

after(async () => {
  assert.equal(await place.stop(), 0);
  await path.close();
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

for (const rtt of [0, 100, 300])
  test(`at ${rtt} ms a player ends up on WebRTC and misses nothing`, async () => {
    path.rtt = rtt;
    const player = await play();
    await until(player.client, 'transport', 'webrtc');
    await sleep(200 + rtt);
    await player.rest();
    assert.deepEqual(player.states, []);
    assert.ok(path.connections === 0, 'the WebSocket is still open');
    assert.ok(player.gap < 3 * (100 + rtt), `a gap of ${player.gap} ms`);
  });

test('a WebSocket that is reset is replaced', async () => {
  path.rtt = 40;
  const player = await play({ transports: ['websocket'] });
  await sleep(200);
  const { packetsAcked, secure } = player.client.stats();
  path.cut();
  await until(player.client, 'state', 'reconnecting');
  player.say();
  await until(player.client, 'state', 'connected');
  await player.rest();
  assert.deepEqual(player.states, ['reconnecting', 'connected']);
  assert.ok(player.gap < 3000, `a gap of ${player.gap} ms`);
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

test('a player whose network changes goes on', async () => {
  path.rtt = 40;
  const player = await play({ transports: ['websocket'] });
  await sleep(200);
  path.roam();
  await until(player.client, 'state', 'reconnecting');
  await until(player.client, 'state', 'connected');
  await player.rest();
  assert.ok(player.gap < 3000, `a gap of ${player.gap} ms`);
});

test('when no datagram passes any more, the WebSocket is back', async () => {
  path.rtt = 40;
  const player = await play();
  await until(player.client, 'transport', 'webrtc');
  await sleep(200);
  path.to({ port: place.relay.port, rtcPort: 9 });
  await until(player.client, 'transport', 'websocket');
  await until(player.client, 'state', 'connected');
  await player.rest();
  assert.deepEqual(player.transports.slice(-2), ['webrtc', 'websocket']);
  assert.ok(player.gap < 3000, `a gap of ${player.gap} ms`);
});

test('a network that is gone for three seconds loses nobody', { timeout: 60_000 }, async () => {
  path.rtt = 40;
  const player = await play();
  await until(player.client, 'transport', 'webrtc');
  path.pause();
  await sleep(3000);
  path.resume();
  await until(player.client, 'state', 'connected');
  await player.rest();
  assert.ok(player.gap < 3000 + 3000, `a gap of ${player.gap} ms`);
});

for (const kind of ['websocket', 'webrtc'])
  test(`${kind}: a relay that crashes and is back loses nobody`, async () => {
    const mortal = await startDelayPath({ rtt: 40 });
    const { server, relay } = await startSecureServer({ relayOptions: mortal.relayOptions });
    mortal.to(relay);
    const player = await play({ transports: [kind] }, { way: mortal, server });
    await sleep(200);
    await relay.stop('SIGKILL');
    const next = await startGatedRelay(server.port, ...gate, ...mortal.relayOptions);
    mortal.to(next);
    await until(player.client, 'state', 'reconnecting');
    await until(player.client, 'state', 'connected');
    await player.rest();
    assert.deepEqual(player.states, ['reconnecting', 'connected']);
    assert.ok(player.gap < 3 * 1500, `a gap of ${player.gap} ms`);
    player.client.disconnect();
    await server.stop();
    await next.stop();
    await mortal.close();
  });
