// Two tabs of one player in a real browser: the newer one wins, the older one knows and leaves it alone.
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { chat, ending, openPage, startChat } from '../support/chat_page.mjs';
import { browsers } from '../support/browsers.mjs';
import { share } from '../support/fixture.mjs';
import { sleep } from '../support/patience.mjs';

const place = await startChat(test);

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

for (const [name, start] of Object.entries(browsers))
  describe(name, () => {
    let clientId = 100;
    const browser = share(start);

    for (const kind of ['websocket', 'webrtc'])
      test(`${kind}: the newer tab wins, and the older knows`, async (t) => {
        clientId++;
        let made = 0;
        /** The later a token is made, the later it expires. */
        const token = () => place.server.token({ clientId, expireSeconds: 300 + made++ });
        const older = await openPage(t, browser(), place);
        await join(older, [await token(), await token()], [kind]);
        const newer = await openPage(t, browser(), place);
        await newer.bringToFront();
        await join(newer, [await token(), await token()], [kind]);
        assert.equal(await ending(older), 'replaced');
        // On a machine that stalls a page may have opened another link before, so only what comes now counts.
        const seen = () => older.evaluate(() => [globalThis.states.join(), globalThis.left.length]);
        const end = await seen();
        assert.match(end[0], /(^|,)disconnected$/);
        await sleep(1000);
        const { sent, said } = await chat(newer, 40);
        assert.deepEqual(said, sent);
        assert.deepEqual(await seen(), end);
        assert.doesNotMatch(await newer.evaluate(() => globalThis.states.join()), /disconnected/);
      });
  });
