// The package and the demo in WebKit, as in Safari, but without WebRTC.
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { attempt, chat, leave, makeRoot, startChat } from '../support/chat_page.mjs';
import { startDemo } from '../support/demo.mjs';
import { playing, until as untilPage } from '../support/game_page.mjs';
import { until } from '../support/rtc.mjs';
import { startWebKit, webKitMisses } from '../support/webkit.mjs';

describe('WebKit', { skip: webKitMisses() }, () => {
  let browser;
  let page;
  let root;

  before(async () => {
    root = makeRoot();
    browser = await startWebKit();
    page = browser.page;
  });

  after(async () => {
    await browser?.close();
    root.remove();
  });

  test('it chats at 20 % loss over what the default order finds', async () => {
    const place = await startChat(root, { loss: 0.2 });
    await page.goto(place.url);
    const came = await attempt(page, await place.server.token());
    assert.deepEqual(came, { transport: 'websocket' });
    const { sent, said, worlds, stats } = await chat(page, 5000);
    assert.deepEqual(said, sent);
    assert.ok(sent.length > 20 && worlds > 20);
    assert.ok(stats.packetsLost > 0 && stats.packetsMissed > 0);
    await leave(page);
    assert.equal(await place.stop(), 0);
  });

  test('it sees that the relay stops', async () => {
    const place = await startChat(root);
    await page.goto(place.url);
    await attempt(page, await place.server.token());
    await place.relay.stop();
    await untilPage(page, 'it is not connected', () => globalThis.client.state !== 'connected');
    await page.goto('about:blank');
    await place.server.stop();
  });

  test('a page that is left gives its place free, and connects when it comes back', async () => {
    const small = await startChat(root, { players: 1 });
    await page.goto(small.url);
    // The server would wait an hour for a client that does not say that it goes.
    const token = await small.server.token({ timeoutSeconds: 3600 });
    assert.deepEqual(await attempt(page, token), { transport: 'websocket' });
    await page.goto('about:blank');
    await page.goBack();
    await until('the place is free', async () => {
      const came = await attempt(page, await small.server.token());
      return came.transport === 'websocket';
    });
    await page.goto('about:blank');
    await small.stop();
  });

  test('the demo plays, and again when Back brings it back', async () => {
    const demo = await startDemo();
    await page.goto(demo.page());
    assert.equal(await playing(page), 'websocket');
    await page.evaluate(() => {
      const { fetch } = globalThis;
      globalThis.asked = 0;
      globalThis.fetch = (url, ...more) => {
        globalThis.asked += Number(String(url).endsWith('/token'));
        return fetch(url, ...more);
      };
    });
    await page.goto(`${demo.relay.url}lab/`);
    await page.goBack();
    assert.equal(await playing(page), 'websocket');
    // The page has come out of the cache, and is still one player.
    assert.equal(await page.evaluate(() => globalThis.asked), 1);
    await page.goto('about:blank');
    await demo.stop();
  });
});
