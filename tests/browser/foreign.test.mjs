// A page stays on a server that knows nothing of it: the second implementation of netcode, which sees one client
// at one address, whatever breaks between page and relay.
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { attempt, makeRoot, openPage } from '../support/chat_page.mjs';
import { startDelayPath } from '../support/delay_path.mjs';
import { PROTOCOL, foreignToken, startForeignServer } from '../support/netcode_rig.mjs';
import { reportGap } from '../support/player.mjs';
import { startRelay } from '../support/relay.mjs';
import { browsers } from '../support/browsers.mjs';
import { share } from '../support/fixture.mjs';
import { sleep, until } from '../support/patience.mjs';

/** Opens a page that talks over a path with distance, and a server that sends all of it back. */
async function play(t, browser, transports) {
  const path = await startDelayPath(t, { rtt: 40 });
  const server = await startForeignServer(t);
  const seen = [];
  server.on('connected', ({ address }) => seen.push(`connected ${address}`));
  server.on('disconnected', (_, by) => seen.push(`disconnected by ${by}`));
  server.on('payload', (client, payload) => server.send(client, payload));
  const relay = await startRelay(t, {
    upstream: server.address,
    gated: true,
    args: ['--protocol-id', String(PROTOCOL), '--root', makeRoot(t), ...path.relayOptions],
  });
  path.to(relay);
  const page = await openPage(t, browser, path);
  const came = await attempt(page, foreignToken({ addresses: [server.address] }), { transports });
  assert.ok(came.transport, JSON.stringify(came));
  await page.evaluate(() => {
    const { client } = globalThis;
    const notes = (globalThis.notes = { sent: 0, said: [], states: [], gap: 0 });
    let last = performance.now();
    client.addEventListener('message', ({ message: { value } }) => {
      notes.gap = Math.max(notes.gap, performance.now() - last);
      last = performance.now();
      notes.said.push(Number(value.text));
    });
    client.addEventListener('state', ({ state }) => notes.states.push(state));
    notes.say = () => client.send(0, 'say', { text: String(notes.sent++) });
    notes.timer = setInterval(notes.say, 50);
  });
  const is = (name, value) =>
    until(`${name} ${value}`, () =>
      page.evaluate(([key, wanted]) => globalThis.client[key] === wanted, [name, value]),
    );
  /** Waits until the page has lost its link; it may have another one when somebody looks. */
  const lost = () =>
    until('the loss of the link', () =>
      page.evaluate(() => globalThis.notes.states.includes('reconnecting')),
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
  return { path, relay, is, lost, rest };
}

for (const [name, start] of Object.entries(browsers))
  describe(name, () => {
    const browser = share(start);

    test('a page moves from WebSocket to WebRTC', async (t) => {
      const { path, is, rest } = await play(t, browser());
      await is('transport', 'webrtc');
      await sleep(300);
      await rest(100 + path.rtt);
    });

    test('a WebSocket that is reset is replaced', async (t) => {
      const { path, is, lost, rest } = await play(t, browser(), ['websocket']);
      await sleep(300);
      path.cut();
      await lost();
      await is('state', 'connected');
      await rest(1000);
    });

    for (const transports of [['websocket'], ['webrtc']])
      test(`${transports[0]}: the network changes`, async (t) => {
        const { path, is, rest } = await play(t, browser(), transports);
        await sleep(300);
        path.roam();
        await sleep(1500);
        await is('state', 'connected');
        await rest(1000);
      });

    test('WebRTC that dies gives way to the WebSocket', async (t) => {
      const { path, relay, is, rest } = await play(t, browser());
      await is('transport', 'webrtc');
      await sleep(300);
      path.to({ port: relay.port, rtcPort: 9 });
      await is('transport', 'websocket');
      await is('state', 'connected');
      await rest(1000);
    });
  });
