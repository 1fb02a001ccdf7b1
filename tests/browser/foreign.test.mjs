// A page stays on a server that knows nothing of it: the second implementation of netcode, which sees one client
// at one address, whatever breaks between page and relay.
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { attempt, makeRoot, openPage } from '../support/chat_page.mjs';
import { startChromium } from '../support/chromium.mjs';
import { startDelayPath } from '../support/delay_path.mjs';
import { startFirefox } from '../support/firefox.mjs';
import { PROTOCOL, foreignToken, startForeignServer } from '../support/netcode_rig.mjs';
import { reportGap } from '../support/player.mjs';
import { startGatedRelay } from '../support/relay.mjs';
import { until } from '../support/rtc.mjs';

let root;

before(() => {
  root = makeRoot();
});

after(() => root.remove());

/** Opens a page that talks over a path with distance, and a server that sends all of it back. */
async function play(t, browser, transports) {
  const path = await startDelayPath({ rtt: 40 });
  const server = await startForeignServer(t);
  const seen = [];
  server.on('connected', ({ address }) => seen.push(`connected ${address}`));
  server.on('disconnected', (_, by) => seen.push(`disconnected by ${by}`));
  server.on('payload', (client, payload) => server.send(client, payload));
  const relay = await startGatedRelay(
    Number(/\d+$/.exec(server.address)[0]),
    ...['--protocol-id', String(PROTOCOL), '--root', root.path, ...path.relayOptions],
  );
  path.to(relay);
  const page = await openPage(browser, { url: path.url });
  t.after(async () => {
    await page.close();
    await relay.stop();
    await path.close();
  });
  const came = await attempt(page, foreignToken({ addresses: [server.address] }), { transports });
  assert.ok(came.transport, JSON.stringify(came));
  await page.evaluate(() => {
    const { client } = globalThis;
    const notes = (globalThis.notes = { sent: 0, said: [], gap: 0 });
    let last = performance.now();
    client.addEventListener('message', ({ message: { value } }) => {
      notes.gap = Math.max(notes.gap, performance.now() - last);
      last = performance.now();
      notes.said.push(Number(value.text));
    });
    notes.say = () => client.send(0, 'say', { text: String(notes.sent++) });
    notes.timer = setInterval(notes.say, 50);
  });
  const is = (name, value) =>
    until(
      `${name} ${value}`,
      () => page.evaluate(([key, wanted]) => globalThis.client[key] === wanted, [name, value]),
      30_000,
    );
  /** Checks that nothing that was said is missing, and that the server has seen nothing of what happened. */
  const rest = async (goalMs) => {
    await page.evaluate(() => {
      clearInterval(globalThis.notes.timer);
      globalThis.notes.say();
    });
    await until('all that was said', () =>
      page.evaluate(() => globalThis.notes.said.length === globalThis.notes.sent),
    );
    const { said, gap } = await page.evaluate(() => ({
      said: globalThis.notes.said,
      gap: globalThis.notes.gap,
    }));
    assert.deepEqual(
      said,
      said.map((_, i) => i),
    );
    assert.deepEqual(seen, [`connected ${server.clients[0].address}`]);
    reportGap(t, { gap }, goalMs);
  };
  return { path, relay, is, rest };
}

for (const [name, start] of Object.entries({ Chromium: startChromium, Firefox: startFirefox }))
  describe(name, () => {
    let browser;

    before(async () => {
      browser = await start();
    });

    after(() => browser?.close());

    test('a page moves from WebSocket to WebRTC', async (t) => {
      const { path, is, rest } = await play(t, browser);
      await is('transport', 'webrtc');
      await sleep(300);
      await rest(100 + path.rtt);
    });

    test('a WebSocket that is reset is replaced', async (t) => {
      const { path, is, rest } = await play(t, browser, ['websocket']);
      await sleep(300);
      path.cut();
      await is('state', 'reconnecting');
      await is('state', 'connected');
      await rest(1000);
    });

    for (const transports of [['websocket'], ['webrtc']])
      test(`${transports[0]}: the network changes`, async (t) => {
        const { path, is, rest } = await play(t, browser, transports);
        await sleep(300);
        path.roam();
        await sleep(1500);
        await is('state', 'connected');
        await rest(1000);
      });

    test('WebRTC that dies gives way to the WebSocket', async (t) => {
      const { path, relay, is, rest } = await play(t, browser);
      await is('transport', 'webrtc');
      await sleep(300);
      path.to({ port: relay.port, rtcPort: 9 });
      await is('transport', 'websocket');
      await is('state', 'connected');
      await rest(1000);
    });
  });
