// The faults that axe-core finds on our pages, and how they look: a wide window and two phones, light and dark.
import assert from 'node:assert/strict';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { faultsOf } from '../support/axe.mjs';
import { newPage, startChromium } from '../support/browsers.mjs';
import { startDemo } from '../support/demo.mjs';
import { playing } from '../support/game_page.mjs';
import { openRecording } from '../support/lab_page.mjs';

const pictures = join(process.env.CAUSEWAY_BUILD, 'screenshots');
mkdirSync(pictures, { recursive: true });
const demo = await startDemo(test, '--rtc', '127.0.0.1:0');
const browser = await startChromium(test);

const lab = (page) => page.waitForFunction(() => globalThis.page);
const recorded = async (page) => {
  await lab(page);
  await openRecording(page);
};
const PAGES = {
  demo: { address: demo.page({ network: 'wifi' }), ready: playing },
  lab: { address: `${demo.relay.url}lab/`, ready: lab },
  cubes: { address: `${demo.relay.url}lab/cubes.html`, ready: lab },
  lockstep: { address: `${demo.relay.url}lab/lockstep.html`, ready: lab },
  recording: { address: `${demo.relay.url}lab/recording.html`, ready: recorded },
};
/** The panels are open; rendering what moves would take a core meanwhile, so the lab stands still. */
const LOOKS = [
  { colorScheme: 'light', viewport: { width: 1440, height: 900 } },
  { colorScheme: 'dark', viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true },
  { colorScheme: 'light', viewport: { width: 320, height: 568 }, hasTouch: true, isMobile: true },
];

for (const [name, { address, ready }] of Object.entries(PAGES))
  for (const look of LOOKS) {
    const { width } = look.viewport;
    test(`${name}, ${look.colorScheme}, ${width} px: axe-core finds nothing`, async (t) => {
      const page = await newPage(t, browser, { reducedMotion: 'reduce', ...look });
      await page.goto(address);
      await ready(page);
      await page.screenshot({ path: join(pictures, `${name}-${width}.png`) });
      await page.evaluate(() =>
        document.querySelectorAll('details').forEach((details) => (details.open = true)),
      );
      const wide = await page.evaluate(() => document.documentElement.scrollWidth);
      assert.ok(wide <= width, `the page is ${wide} px wide`);
      assert.deepEqual(await faultsOf(page), []);
    });
  }

test('a page with a fault does not pass', async (t) => {
  const page = await newPage(t, browser);
  await page.setContent('<html lang="en"><title>-</title><main><h1>-</h1><img src="a"></main>');
  assert.match((await faultsOf(page)).join(), /image-alt/);
});
