// The game in a real Firefox: over WebRTC and without it.
import { test } from 'node:test';
import { startDemo } from '../support/demo.mjs';
import { playThroughLoss, playing } from '../support/game_page.mjs';
import { randomFrom } from '../support/random.mjs';
import { newPage, startFirefox } from '../support/browsers.mjs';

const SECONDS = Number(process.env.GAME_SECONDS ?? 10);
const browser = await startFirefox(test);

for (const [transport, options, seconds] of [
  ['webrtc', ['--rtc', '127.0.0.1:0'], SECONDS],
  ['websocket', [], 5],
]) {
  test(`${seconds} s over ${transport} at 10 % loss: what is predicted is what happens`, async (t) => {
    const demo = await startDemo(t, ...options);
    const page = await newPage(t, browser);
    await page.goto(demo.page());
    await playing(page, transport);
    const { p99, corrections, states } = await playThroughLoss(page, seconds, randomFrom(2));
    t.diagnostic(`frames: 99 in 100 within ${p99.toFixed(1)} ms`);
    t.diagnostic(`${corrections} corrections of ${states} states`);
  });
}
