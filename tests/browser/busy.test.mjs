// A page that is busy for most of each frame drops none of its own datagrams: a real Chromium, over WebRTC.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { attempt, leave, openPage, startChat } from '../support/chat_page.mjs';
import { startChromium } from '../support/browsers.mjs';

const place = await startChat(test);
const browser = await startChromium(test);

/** The milliseconds of each frame in which the page does something else. */
const BUSY = 14;

/** Plays for some seconds; returns how many datagrams the page sent, and how many it dropped. */
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
      await new Promise((resolve) => setTimeout(resolve, time * 1000));
      const after = (await client.stats()).transport;
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
    const { frames, sent, dropped } = await play(page, 10);
    t.diagnostic(`${frames} frames, ${sent} datagrams sent, ${dropped} dropped`);
    assert.ok(
      frames > 100 && sent > 100,
      `${frames} frames, ${sent} datagrams: nothing was tested`,
    );
    assert.ok(dropped <= most * sent, `${dropped} of ${sent + dropped} datagrams were dropped`);
    await leave(page);
  });
