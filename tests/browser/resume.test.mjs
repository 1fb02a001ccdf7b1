// A player in a real Chromium stays connected, whatever breaks between page and server.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { attempt, openPage, startChat } from '../support/chat_page.mjs';
import { startDelayPath } from '../support/delay_path.mjs';
import { reportGap } from '../support/player.mjs';
import { startGate } from '../support/secure.mjs';
import { startChromium } from '../support/browsers.mjs';
import { sleep, until } from '../support/patience.mjs';

const browser = await startChromium(test);

/** Opens a page that plays over a path with distance, and notes the events of its connection. */
async function play(t, { rtt, transports }) {
  const path = await startDelayPath(t, { rtt });
  const place = await startChat(t, { relayOptions: path.relayOptions });
  path.to(place.relay);
  const page = await openPage(t, browser, path);
  const token = await place.server.token({ timeoutSeconds: 10 });
  const came = await attempt(page, token, { ...(transports && { transports }) });
  assert.ok(came.transport, JSON.stringify(came));
  await page.evaluate(() => {
    const { client } = globalThis;
    const notes = (globalThis.notes = { sent: 0, said: [], states: [], gap: 0 });
    const { index } = client.slot;
    let last = performance.now();
    client.addEventListener('message', ({ message: { type, value } }) => {
      notes.gap = Math.max(notes.gap, performance.now() - last);
      last = performance.now();
      if (type === 'said' && value.player === index) notes.said.push(Number(value.text));
    });
    client.addEventListener('state', ({ state }) => notes.states.push(state));
    globalThis.talk = setInterval(() => {
      client.send(0, 'say', { text: String(notes.sent++) });
      client.send(1, 'move', { x: 0.5, y: 0.5 });
    }, 50);
  });
  return { page, path, place };
}

const is = (page, name, value) =>
  until(`${name} ${value}`, () =>
    page.evaluate(([key, wanted]) => globalThis.client[key] === wanted, [name, value]),
  );

/** Waits until the page has lost its link; on a machine that stalls it may have another one when somebody looks. */
const lost = (page) =>
  until('the loss of the link', () =>
    page.evaluate(() => globalThis.notes.states.includes('reconnecting')),
  );

/** Checks that nothing that was said is missing; returns the longest gap in milliseconds. */
async function rest(page) {
  await page.evaluate(() => clearInterval(globalThis.talk));
  await until('all that was said', () =>
    page.evaluate(() => globalThis.notes.said.length === globalThis.notes.sent),
  );
  const { said, gap, states } = await page.evaluate(() => globalThis.notes);
  assert.deepEqual(
    said,
    said.map((_, i) => i),
  );
  return { gap, states };
}

for (const rtt of [20, 180, 300])
  test(`at ${rtt} ms a page ends up on WebRTC`, async (t) => {
    const { page } = await play(t, { rtt });
    await is(page, 'transport', 'webrtc');
    await sleep(300);
    const { gap, states } = await rest(page);
    assert.ok(!states.includes('disconnected')); // a machine that stalls may lose a link
    reportGap(t, { gap }, 100 + rtt);
  });

for (const kind of ['websocket', 'webrtc'])
  test(`${kind}: a relay that crashes and is back loses nobody`, async (t) => {
    const { page, path, place } = await play(t, { rtt: 40, transports: [kind] });
    await sleep(300);
    await place.relay.stop('SIGKILL');
    path.to(await startGate(t, place.server, path.relayOptions));
    await lost(page);
    await is(page, 'state', 'connected');
    const { gap, states } = await rest(page);
    assert.match(states.join(), /^(reconnecting,connected(,|$))+$/);
    reportGap(t, { gap }, 1500);
  });

test('when no datagram passes any more, the WebSocket is back', async (t) => {
  const { page, path, place } = await play(t, { rtt: 40 });
  await is(page, 'transport', 'webrtc');
  await sleep(300);
  path.to({ port: place.relay.port, rtcPort: 9 });
  await is(page, 'transport', 'websocket');
  await is(page, 'state', 'connected');
  const { gap } = await rest(page);
  reportGap(t, { gap }, 1000);
});

test('a WebSocket that is reset is replaced', async (t) => {
  const { page, path } = await play(t, { rtt: 40, transports: ['websocket'] });
  await sleep(300);
  path.cut();
  await lost(page);
  await is(page, 'state', 'connected');
  const { gap } = await rest(page);
  reportGap(t, { gap }, 1000);
});
