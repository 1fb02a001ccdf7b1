// Browsers without the features that the oldest supported ones lack: all of the package works in them.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, test } from 'node:test';
import { attempt, chat, ending, leave, startChat } from '../support/chat_page.mjs';
import { newPage, startChromium, startFirefox } from '../support/browsers.mjs';
import { share } from '../support/fixture.mjs';

const oldEngine = readFileSync(new URL('../support/old_engine.js', import.meta.url), 'utf8');

/** Each browser's way to run a script before all others of a page. */
const engines = {
  Chromium: { start: startChromium, prepare: (page) => page.addInitScript(oldEngine) },
  Firefox: { start: startFirefox, prepare: (page) => page.evaluateOnNewDocument(oldEngine) },
};

const place = await startChat(test);

for (const [name, { start, prepare }] of Object.entries(engines))
  describe(name, () => {
    const browser = share(start);

    async function openOldPage(t) {
      const page = await newPage(t, browser());
      await prepare(page);
      await page.goto(place.url);
      const old = await page.evaluate(
        () =>
          !AbortSignal.any &&
          !Symbol.dispose &&
          !('reason' in AbortSignal.prototype) &&
          !('connectionState' in RTCPeerConnection.prototype),
      );
      assert.ok(old);
      return page;
    }

    for (const transport of ['webrtc', 'websocket'])
      test(`${transport}: messages travel both ways`, async (t) => {
        const page = await openOldPage(t);
        const came = await attempt(page, await place.server.token(), { transports: [transport] });
        assert.deepEqual(came, { transport });
        const { sent, said } = await chat(page, 10);
        assert.deepEqual(said, sent);
        await leave(page);
        assert.equal(await ending(page), 'client');
      });

    test('an attempt that is aborted ends', async (t) => {
      const page = await openOldPage(t);
      const forged = await place.server.token({ privateKey: new Uint8Array(32).fill(1) });
      assert.equal((await attempt(page, forged, { abortAfter: 300 })).name, 'AbortError');
    });

    test('the game kit is read and runs', async (t) => {
      const page = await openOldPage(t);
      const kit = await page.evaluate(async () => {
        const { ClockSync, loadGame } = await import('causeway-net/game');
        return 'undefined' in new ClockSync(await loadGame());
      });
      assert.equal(kit, false);
    });
  });

describe('the demo, where its script cannot run', () => {
  const note = '#unsupported';
  const browser = share(startChromium);

  test('without JavaScript it says so', async (t) => {
    const page = await newPage(t, browser(), { javaScriptEnabled: false });
    await page.goto(place.url);
    assert.ok(await page.locator(note).isVisible());
  });

  test('with a script that is not read it says so after a while', async (t) => {
    const page = await newPage(t, browser());
    await page.route('**/causeway-net/index.js', (route) =>
      route.fulfill({ contentType: 'text/javascript', body: 'this is newer than the browser' }),
    );
    await page.goto(place.url);
    await page.locator(note).waitFor({ state: 'visible' });
  });

  test('without import maps it says so after a while', async (t) => {
    const page = await newPage(t, browser());
    await page.route(place.url, async (route) => {
      const response = await route.fetch();
      const body = (await response.text()).replace('type="importmap"', 'type="unknown"');
      await route.fulfill({ response, body });
    });
    await page.goto(place.url);
    await page.locator(note).waitFor({ state: 'visible' });
    assert.match(await page.locator(note).innerText(), /import maps.*Safari 16\.4/);
  });

  test('where it runs there is no such note', async (t) => {
    const page = await newPage(t, browser());
    await page.goto(place.url);
    await page.locator(note).waitFor({ state: 'detached' });
  });
});
