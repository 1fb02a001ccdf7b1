// Near or far, a page begins over what opens first, and ends up on WebRTC every time.
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { openPage, startChat } from '../support/chat_page.mjs';
import { startDelayPath } from '../support/delay_path.mjs';
import { RTTS, TIMES, reportSoon } from '../support/distance.mjs';
import { browsers } from '../support/browsers.mjs';
import { share } from '../support/fixture.mjs';

const path = await startDelayPath(test, { rtt: 0 });
const place = await startChat(test, { relayOptions: path.relayOptions });
path.to(place.relay);

/** Connects in the page, talks, and again when it is on WebRTC; returns when each happened, in milliseconds. */
const join = (page, token) =>
  page.evaluate(
    async (bytes) => {
      const { connect, loadCore } = await import('/causeway-net/core/index.js');
      const { messages } = await import('/chat_schema.js');
      await loadCore();
      const began = performance.now();
      const client = await connect('/', { token: new Uint8Array(bytes), schema: messages });
      const states = [];
      client.addEventListener('state', ({ state }) => states.push(state));
      const talk = async (text) => {
        client.send(0, 'say', { text });
        for await (const { type, value } of client)
          if (type === 'said' && value.player === client.slot.index) return value.text;
      };
      const said = [await talk('first')];
      const answered = performance.now() - began;
      while (client.transport !== 'webrtc')
        await new Promise((resolve) =>
          client.addEventListener('transport', resolve, { once: true }),
        );
      const moved = performance.now() - began;
      said.push(await talk('second'));
      client.disconnect();
      return { said, states, answered, moved };
    },
    [...token],
  );

for (const [name, start] of Object.entries(browsers))
  describe(name, () => {
    const browser = share(start);

    for (const rtt of RTTS)
      test(`at ${rtt} ms, ${TIMES} times`, async (t) => {
        // The measured time does not include what a page loads before it connects.
        path.rtt = 0;
        const page = await openPage(t, browser(), path);
        await page.evaluate(async () =>
          (await import('/causeway-net/core/index.js')).loadCore().then(() => {}),
        );
        path.rtt = rtt;
        for (let turn = 0; turn < TIMES; turn++) {
          const token = await place.server.token({ timeoutSeconds: 10 });
          const { said, states, ...times } = await join(page, token);
          assert.deepEqual(said, ['first', 'second']);
          // A machine that stalls lets links fall silent, which the client answers; that nothing else makes it do so
          // is shown in virtual time by wasm.distance.
          assert.match(states.join(), /^(reconnecting,connected,)*disconnected$/);
          reportSoon(t, rtt, times);
        }
      });
  });
