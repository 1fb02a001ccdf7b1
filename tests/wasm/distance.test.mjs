// The time until a player at a distance is heard, and the gap when a better link takes over, in virtual time. For real
// links see resume_distance.test.mjs.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { connect, loadCore } from '../support/causeway.mjs';
import { OPEN_TRIPS, TICK_MS, VirtualDistance } from '../support/virtual_distance.mjs';
import { own } from '../support/fixture.mjs';

await loadCore();

/** Round trips for the WebSocket, the handshake with the server, and the message. */
const TRIPS = OPEN_TRIPS.websocket + 2 + 1;
/** A message waits for a tick of the client and one of the server, and a millisecond is the finest step. */
const WAIT = 2 * TICK_MS + 5;
/** The milliseconds between messages. */
const SAY_MS = 50;

for (const rtt of [20, 60, 100, 180, 300, 1200])
  test(`at ${rtt} ms`, async (t) => {
    const distance = new VirtualDistance(rtt);
    own(t, () => distance.stop());
    let client;
    const connecting = connect('http://relay.test/', {
      ...distance.options,
      token: await distance.token(),
    });
    connecting.then((connected) => (client = connected));
    await distance.passUntil('connected', () => client, 20 * rtt + 1000);

    const [said, states, transports] = [[], [], []];
    let [sent, gap, last] = [0, 0, distance.now];
    client.addEventListener('state', ({ state }) => states.push(state));
    client.addEventListener('transport', ({ transport }) => transports.push(transport));
    client.addEventListener('message', ({ message }) => {
      if (message.type !== 'said') return;
      // The first message is alone at first.
      if (said.length > 1) gap = Math.max(gap, distance.now - last);
      last = distance.now;
      said.push(message.value.text);
    });
    const say = () => client.send(0, 'say', { text: String(sent++) });
    say();
    await distance.passUntil('answered', () => said.length > 0, 20 * rtt + 1000);
    const answered = distance.now;
    const timer = setInterval(say, SAY_MS);
    await distance.passUntil('moved', () => client.transport === 'webrtc', 20 * rtt + 1000);
    const moved = distance.now;
    const enough = sent + 10;
    await distance.passUntil('more was said', () => sent === enough, 1000);
    clearInterval(timer);
    await distance.passUntil('all arrived', () => said.length === sent, 3 * rtt + 1000);

    t.diagnostic(`answered after ${answered} ms, moved after ${moved} ms, a gap of ${gap} ms`);
    assert.ok(answered <= TRIPS * rtt + WAIT, `answered after ${answered} ms`);
    // The first datagram over the new link comes a round trip after one has gone over it.
    assert.ok(moved <= (OPEN_TRIPS.webrtc + 1) * rtt + WAIT + 100, `moved after ${moved} ms`);
    assert.ok(gap <= SAY_MS + WAIT, `a gap of ${gap} ms`);
    assert.deepEqual(transports, ['webrtc']);
    assert.deepEqual(states, []);
    assert.deepEqual(
      said,
      Array.from({ length: sent }, (_, i) => String(i)),
    );
    client.disconnect();
  });
