// Two tabs of one player in a real browser: the newer one wins, the older one knows and leaves it alone.
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { chat, ending, makeRoot, openPage, startChat } from '../support/chat_page.mjs';
import { startChromium } from '../support/chromium.mjs';
import { startFirefox } from '../support/firefox.mjs';

let root;
let place;

before(async () => {
  root = makeRoot();
  place = await startChat(root);
});

after(async () => {
  await place.stop();
  root.remove();
});

/** Connects in the page, which has one more token than it needs. */
const join = (page, tokens, transports) =>
  page.evaluate(
    async ([left, kinds]) => {
      const { connect } = await import('causeway-net');
      const { messages } = await import('/chat_schema.js');
      globalThis.states = [];
      globalThis.left = left;
      globalThis.client = await connect('/', {
        token: () => Promise.resolve(new Uint8Array(left.shift())),
        schema: messages,
        transports: kinds,
      });
      globalThis.client.addEventListener('state', ({ state }) => globalThis.states.push(state));
    },
    [tokens.map((token) => [...token]), transports],
  );

for (const [name, start] of Object.entries({ Chromium: startChromium, Firefox: startFirefox }))
  describe(name, () => {
    let browser;
    let clientId = 100;

    before(async () => {
      browser = await start();
    });

    after(() => browser?.close());

    for (const kind of ['websocket', 'webrtc'])
      test(`${kind}: the newer tab wins, and the older knows`, async (t) => {
        clientId++;
        let made = 0;
        /** The later a token is made, the later it expires. */
        const token = () => place.server.token({ clientId, expireSeconds: 300 + made++ });
        const older = await openPage(browser, place);
        t.after(() => older.close());
        await join(older, [await token(), await token()], [kind]);
        const newer = await openPage(browser, place);
        t.after(() => newer.close());
        await newer.bringToFront();
        await join(newer, [await token(), await token()], [kind]);
        assert.equal(await ending(older), 'replaced');
        // On a machine that stalls a page may have opened another link before, so only what comes now counts.
        const seen = () => older.evaluate(() => [globalThis.states.join(), globalThis.left.length]);
        const end = await seen();
        assert.match(end[0], /(^|,)disconnected$/);
        await sleep(1000);
        const { sent, said } = await chat(newer, 2000);
        assert.deepEqual(said, sent);
        assert.deepEqual(await seen(), end);
        assert.doesNotMatch(await newer.evaluate(() => globalThis.states.join()), /disconnected/);
      });
  });
