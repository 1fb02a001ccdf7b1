// A page that is busy for most of each frame drops none of its own datagrams: a real Chromium, over WebRTC.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { attempt, leave, openPage, startChat } from '../support/chat_page.mjs';
import { startChromium } from '../support/browsers.mjs';

const place = await startChat(test);
const browser = await startChromium(test);

/** The milliseconds of each frame in which the page does something else. */
const BUSY = 14;

/** Plays for some seconds, and longer where that is too little to count; returns how many datagrams the page sent, and how many it dropped. */
const play = (page, seconds) =>
  page.evaluate(
    async ([busy, time]) => {
      const { client } = globalThis;
      let frames = 0;
      let runs = true;
      const frame = () => {
        const end = performance.now() + busy;
        while (performance.now() < end);
        frames++;
        if (runs) requestAnimationFrame(frame);
      };
      requestAnimationFrame(frame);
      const timer = setInterval(
        () => void client.send(1, 'move', { x: Math.random(), y: 0.5 }),
        1000 / 60,
      );
      const before = (await client.stats()).transport;
      let [left, after] = [time];
      do {
        await new Promise((resolve) => setTimeout(resolve, 1000));
        after = (await client.stats()).transport;
      } while (--left > 0 || frames <= 100 || after.datagramsSent - before.datagramsSent < 500);
      clearInterval(timer);
      runs = false;
      return {
        frames,
        sent: after.datagramsSent - before.datagramsSent,
        dropped: after.droppedBacklog - before.droppedBacklog,
      };
    },
    [BUSY, seconds],
  );

for (const [where, inWorker, most] of [
  ['the page', false, 0.005],
  ['a Worker', true, 0],
])
  test(`a client in ${where} keeps its datagrams when the page is busy`, async (t) => {
    const page = await openPage(t, browser, place);
    const token = await place.server.token();
    const options = { transports: ['webrtc'], inWorker };
    assert.deepEqual(await attempt(page, token, options), { transport: 'webrtc' });
    // A browser whose other processes get no turn for a while drops datagrams too.
    for (let tries = 1; ; tries++) {
      const { frames, sent, dropped } = await play(page, 10);
      t.diagnostic(`${frames} frames, ${sent} datagrams sent, ${dropped} dropped`);
      if (dropped <= most * sent) break;
      assert.ok(
        tries < 3,
        `${dropped} of ${sent + dropped} datagrams were dropped, ${tries} times`,
      );
    }
    await leave(page);
  });
