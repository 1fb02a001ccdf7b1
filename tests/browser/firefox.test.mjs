// The demo page in a real Firefox: a secure connection, over WebRTC and without it.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { startDemo } from '../support/demo.mjs';
import { startFirefox } from '../support/firefox.mjs';

let browser;

before(async () => {
  browser = await startFirefox();
});

after(() => browser?.close());

for (const [transport, options] of Object.entries({
  webrtc: ['--rtc', '127.0.0.1:0'],
  websocket: [],
})) {
  test(`the demo connects over ${transport}, and what is said comes back`, async () => {
    const demo = await startDemo(...options);
    const page = await browser.newPage();
    try {
      await page.goto(demo.page());
      await page.waitForFunction(
        () => Number(document.getElementById('packets-acked').textContent) > 60,
        { timeout: 30_000 },
      );
      const state = await page.$eval('#state', (element) => element.textContent);
      assert.equal(state, `connected: ${transport}`);
      await page.type('#chat-text', 'hello');
      await page.keyboard.press('Enter');
      await page.waitForFunction(
        () => document.getElementById('chat-lines').textContent.includes('hello'),
        { timeout: 30_000 },
      );
    } finally {
      await page.close();
      await demo.stop();
    }
  });
}
