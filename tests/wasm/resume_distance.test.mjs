// Near or far, a player begins over what opens first, and ends up on WebRTC every time, with everything real. The times
// are in distance.test.mjs: here only the events count, and their order.
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { startDelayPath } from '../support/delay_path.mjs';
import { until as eventually } from '../support/patience.mjs';
import { RTTS, TIMES } from '../support/distance.mjs';
import { startPlayer, until } from '../support/player.mjs';
import { startSecureServer } from '../support/secure.mjs';
import { join } from '../support/join.mjs';
import { RTCPeerConnection } from '../support/wrtc.mjs';
import { own } from '../support/fixture.mjs';

/**
 * The milliseconds of a round trip that is longer than the time in which a nearby server must be heard over a new link.
 */
const FAR = 1200;

/** Says something, and resolves when it has come back. */
async function talk(client) {
  client.send(0, 'say', { text: 'first' });
  for await (const { type, value } of client)
    if (type === 'said' && value.player === client.slot.index) return;
  assert.fail('the connection has ended');
}

async function play(t, { path, server }) {
  const token = await server.token({ timeoutSeconds: 10 });
  const client = await join(path, { token, transports: undefined, RTCPeerConnection });
  own(t, () => client.disconnect());
  await talk(client);
  const player = startPlayer(client);
  await until(client, 'transport', 'webrtc');
  // All has come back over the link that opened first, or comes over the other, each once and in order.
  await player.rest();
  // A machine that stalls lets links fall silent, which the client answers; distance.test.mjs shows in virtual time
  // that nothing else makes it do so.
  assert.match(player.states.join(), /^(reconnecting,connected(,|$))*$/);
  await until(client, 'transport', 'webrtc');
  await eventually('the WebSocket is closed', () => path.connections === 0);
  client.disconnect();
}

describe('near or far', { concurrency: true }, () => {
  for (const [rtt, times] of [...RTTS.map((each) => [each, TIMES]), [FAR, 1]])
    test(`at ${rtt} ms, ${times} times`, async (t) => {
      const path = await startDelayPath(t, { rtt });
      const { relayOptions } = path;
      const { relay, server } = await startSecureServer(t, { relayOptions });
      path.to(relay);
      for (let turn = 0; turn < times; turn++) await play(t, { path, server });
    });
});
