// Clients in the Workers of real browsers, through the real relay.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { attempt, chat, leave, openPage, startChat } from '../support/chat_page.mjs';
import { startChromium, startFirefox } from '../support/browsers.mjs';
import { sentByBusyPage } from '../support/busy_page.mjs';
import { until } from '../support/patience.mjs';

const place = await startChat(test);
const browsers = { chromium: await startChromium(test), firefox: await startFirefox(test) };

for (const name of ['chromium', 'firefox'])
  for (const kind of ['webrtc', 'websocket'])
    test(`${name}, ${kind}: a client in a Worker talks, and sends on while its page is busy`, async (t) => {
      const page = await openPage(t, browsers[name], place);
      const options = { transports: [kind], inWorker: true };
      assert.deepEqual(await attempt(page, await place.server.token(), options), {
        transport: kind,
      });
      // Firefox carries the WebSockets of Workers by way of their page.
      const offloaded = kind === 'webrtc' || name === 'chromium';
      assert.equal(await page.evaluate(() => globalThis.client.offloaded), offloaded);
      const { sent, said } = await chat(page, 10);
      assert.deepEqual(said, sent);
      if (offloaded) assert.ok((await sentByBusyPage(page, 5)) >= 5);
      await leave(page);
    });

const departures = {
  closed: (page) => page.close(),
  left: (page) => page.goto('about:blank'),
};

for (const kind of ['webrtc', 'websocket'])
  for (const [what, depart] of Object.entries(departures))
    test(`${kind}: a page that is ${what} gives the place of its Worker free`, async (t) => {
      const browser = browsers.chromium;
      const small = await startChat(t, { players: 1 });
      const first = await openPage(t, browser, small);
      const second = await openPage(t, browser, small);
      // The server would wait an hour for a client that does not say that it goes.
      const token = await small.server.token({ timeoutSeconds: 3600 });
      const options = { transports: [kind], inWorker: true };
      assert.deepEqual(await attempt(first, token, options), { transport: kind });
      await depart(first);
      await until('the place is free', async () => {
        const came = await attempt(second, await small.server.token(), options);
        return came.transport === kind;
      });
    });
