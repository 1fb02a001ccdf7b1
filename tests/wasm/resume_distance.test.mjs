// Near or far, a player begins over what opens first, and ends up on WebRTC every time.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { connect, require } from '../support/causeway.mjs';
import { startDelayPath } from '../support/delay_path.mjs';
import { RTTS, TIMES, assertSoon } from '../support/distance.mjs';
import { assertGap, startPlayer, until } from '../support/player.mjs';
import { messages, startSecureServer } from '../support/secure.mjs';
import { RTCPeerConnection } from '../support/wrtc.mjs';

const { WebSocket } = require('ws');

let path;
let place;

before(async () => {
  path = await startDelayPath({ rtt: 0 });
  place = await startSecureServer({ relayOptions: path.relayOptions });
  path.to(place.relay);
});

after(async () => {
  await place.stop();
  await path.close();
});

/** Says something, and resolves when it has come back. */
async function talk(client) {
  client.send(0, 'say', { text: 'first' });
  for await (const { type, value } of client)
    if (type === 'said' && value.player === client.slot.index) return;
  assert.fail('the connection has ended');
}

for (const rtt of RTTS)
  test(`at ${rtt} ms, ${TIMES} times`, { timeout: 60_000 }, async (t) => {
    path.rtt = rtt;
    for (let turn = 0; turn < TIMES; turn++) {
      const token = await place.server.token({ timeoutSeconds: 10 });
      const began = performance.now();
      const since = () => performance.now() - began;
      const client = await connect(path.url, {
        token,
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
      assertSoon(t, rtt, { answered, moved });
      assert.deepEqual(player.states, []);
      assertGap(t, player, 100 + rtt);
      client.disconnect();
    }
  });
