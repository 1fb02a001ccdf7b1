// Near or far, a player begins over what opens first, and ends up on WebRTC every time.
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { connect, require } from '../support/causeway.mjs';
import { startDelayPath } from '../support/delay_path.mjs';
import { RTTS, TIMES, assertSoon } from '../support/distance.mjs';
import { assertGap, startPlayer, until } from '../support/player.mjs';
import { until as eventually } from '../support/rtc.mjs';
import { messages, startSecureServer } from '../support/secure.mjs';
import { RTCPeerConnection } from '../support/wrtc.mjs';

const { WebSocket } = require('ws');

/** A round trip that takes longer than a server in the neighbourhood is given to be heard over a new link. */
const FAR = 1200;

/** Says something, and resolves when it has come back. */
async function talk(client) {
  client.send(0, 'say', { text: 'first' });
  for await (const { type, value } of client)
    if (type === 'said' && value.player === client.slot.index) return;
  assert.fail('the connection has ended');
}

async function play(t, { path, server }) {
  const began = performance.now();
  const since = () => performance.now() - began;
  const client = await connect(path.url, {
    token: await server.token({ timeoutSeconds: 10 }),
    schema: messages,
    WebSocket,
    RTCPeerConnection,
  });
  t.after(() => client.disconnect());
  await talk(client);
  const answered = since();
  const player = startPlayer(client);
  await until(client, 'transport', 'webrtc');
  const moved = since();
  await player.rest();
  assertSoon(t, path.rtt, { answered, moved });
  assert.deepEqual(player.states, []);
  assertGap(t, player, 100 + path.rtt);
  await eventually('the WebSocket is closed', () => path.connections === 0);
  client.disconnect();
}

describe('near or far', { concurrency: true }, () => {
  for (const [rtt, times] of [...RTTS.map((each) => [each, TIMES]), [FAR, 1]])
    test(`at ${rtt} ms, ${times} times`, { timeout: 60_000 }, async (t) => {
      const path = await startDelayPath({ rtt });
      const { relay, server, stop } = await startSecureServer({ relayOptions: path.relayOptions });
      path.to(relay);
      t.after(async () => {
        await stop();
        await path.close();
      });
      for (let turn = 0; turn < times; turn++) await play(t, { path, server });
    });
});
