// The package and the demo in WebKit, as in Safari, but without WebRTC.
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { attempt, chat, leave, startChat } from '../support/chat_page.mjs';
import { startDemo } from '../support/demo.mjs';
import { playing, until as untilPage } from '../support/game_page.mjs';
import { startWebKit, webKitMisses } from '../support/webkit.mjs';
import { until } from '../support/patience.mjs';
import { share } from '../support/fixture.mjs';

describe('WebKit', { skip: webKitMisses() }, () => {
  const browser = share(startWebKit);

  test('it chats at 20 % loss over what the default order finds', async (t) => {
    const { page } = browser();
    const place = await startChat(t, { loss: 0.2 });
    await page.goto(place.url);
    const came = await attempt(page, await place.server.token());
    assert.deepEqual(came, { transport: 'websocket' });
    const { sent, said, worlds, stats } = await chat(page, 100);
    assert.deepEqual(said, sent);
    assert.ok(worlds > 20);
    assert.ok(stats.packetsLost > 0 && stats.packetsMissed > 0);
    await leave(page);
  });

  test('it sees that the relay stops', async (t) => {
    const { page } = browser();
    const place = await startChat(t);
    await page.goto(place.url);
    await attempt(page, await place.server.token());
    await place.relay.stop();
    await untilPage(page, 'it is not connected', () => globalThis.client.state !== 'connected');
    await page.goto('about:blank');
  });

  test('a page that is left gives its place free, and connects when it comes back', async (t) => {
    const { page } = browser();
    const small = await startChat(t, { players: 1 });
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
  });

  test('the demo plays, and again when Back brings it back', async (t) => {
    const { page } = browser();
    const demo = await startDemo(t);
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
  });
});
