// A player in a real Chromium, of whose relays one dies.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startChromium } from '../support/browsers.mjs';
import { attempt, chat, openPage, startChat } from '../support/chat_page.mjs';
import { until } from '../support/patience.mjs';
import { startGate } from '../support/secure.mjs';

const browser = await startChromium(test);

for (const inWorker of [false, true])
  test(`the other relay takes over, ${inWorker ? 'in a Worker' : 'in the page'}`, async (t) => {
    const { server, relay, url } = await startChat(t, { relayOptions: ['--rtc', '127.0.0.1:0'] });
    const { origin } = new URL(url);
    const spare = await startGate(t, server, ['--origin', origin]);
    const page = await openPage(t, browser, { url });
    const came = await attempt(page, await server.token({ timeoutSeconds: 30 }), {
      relays: [url, spare.url],
      inWorker,
    });
    assert.ok(came.transport, JSON.stringify(came));
    const sessions = async (of) => (await of.stats()).sessions_open;
    // Both relays may have a session still when the player is in by one of them.
    const without = async () => {
      for (const one of [relay, spare]) if ((await sessions(one)) === 0) return one;
    };
    const loser = await until('the end of the other session', without);
    const winner = loser === relay ? spare : relay;
    const talk = chat(page, 60);
    await winner.stop('SIGKILL');
    const { sent, said } = await talk;
    assert.deepEqual(said, sent);
    assert.equal(await sessions(loser), 1);
    assert.equal(await page.evaluate(() => globalThis.client.state), 'connected');
  });
