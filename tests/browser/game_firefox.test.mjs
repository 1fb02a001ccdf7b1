// The game in a real Firefox: over WebRTC and without it.
import { after, before, test } from 'node:test';
import { startDemo } from '../support/demo.mjs';
import { startFirefox } from '../support/firefox.mjs';
import { playThroughLoss, playing } from '../support/game_page.mjs';
import { randomFrom } from '../support/secure.mjs';

const SECONDS = Number(process.env.GAME_SECONDS ?? 10);
let browser;

before(async () => {
  browser = await startFirefox();
});

after(() => browser?.close());

for (const [transport, options, seconds] of [
  ['webrtc', ['--rtc', '127.0.0.1:0'], SECONDS],
  ['websocket', [], 5],
]) {
  test(`${seconds} s over ${transport} at 10 % loss: what is predicted is what happens`, async (t) => {
    const demo = await startDemo(...options);
    const page = await browser.newPage();
    try {
      await page.goto(demo.page());
      await playing(page, transport);
      const { p99, corrections, states } = await playThroughLoss(page, seconds, randomFrom(2));
      t.diagnostic(`frames: 99 in 100 within ${p99.toFixed(1)} ms`);
      t.diagnostic(`${corrections} corrections of ${states} states`);
    } finally {
      await page.close();
      await demo.stop();
    }
  });
}
