// The demo as a visitor finds it: what the page says, how it fills the window, and what stands out from the floor.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { newPage, startChromium } from '../support/browsers.mjs';
import { startDemo } from '../support/demo.mjs';
import { playing } from '../support/game_page.mjs';

const demo = await startDemo(test, '--rtc', '127.0.0.1:0');
const browser = await startChromium(test);

const open = async (t, { parameters, ...options } = {}) => {
  const page = await newPage(t, browser, { viewport: { width: 1440, height: 900 }, ...options });
  page.faults = [];
  page.on('pageerror', (error) => page.faults.push(error));
  await page.goto(demo.page(parameters));
  await playing(page);
  return page;
};

test('the page says what Causeway is, how to start, and where the guides are', async (t) => {
  const page = await open(t);
  assert.match(await page.locator('header').innerText(), /Causeway\s+carries game packets [^.]+\./);
  assert.equal(await page.locator('#start code').innerText(), 'npx causeway-net init my-game');
  for (const property of ['og:title', 'og:description'])
    assert.notEqual(await page.getAttribute(`meta[property="${property}"]`, 'content'), '');
  assert.match(await page.getAttribute('meta[name=description]', 'content'), /Causeway/);
  const linked = await page.$$eval('nav a', (links) => links.map(({ href }) => href));
  assert.equal(linked.length, 4);
  for (const address of linked) {
    const response = await page.request.get(address);
    assert.equal(response.status(), 200, address);
    assert.match(response.headers()['content-type'], /^text\/(plain|html)/, address);
  }
});

test('the arena fills the window that the bars leave', async (t) => {
  for (const viewport of [
    { width: 1440, height: 900 },
    { width: 390, height: 844 },
  ]) {
    const page = await open(t, { viewport });
    const { width, height } = await page.locator('#arena').boundingBox();
    assert.equal(width, viewport.width);
    assert.ok(height > viewport.height * 0.7, `the arena is ${height} px high`);
    const scrolls = await page.evaluate(() => document.documentElement.scrollHeight > innerHeight);
    assert.equal(scrolls, false);
    await page.close();
  }
});

test('a preset makes the network worse, and another makes it good again', async (t) => {
  const page = await open(t);
  await page.locator('#lab summary').click();
  const preset = (name) => page.getByRole('button', { name });
  await preset('Satellite').click();
  assert.equal(await preset('Satellite').getAttribute('aria-pressed'), 'true');
  assert.equal(await page.locator('#latency-value').innerText(), '280 ms each way');
  await page.waitForFunction(() => globalThis.page.play.client.stats().rtt > 0.4);
  await preset('Good line').click();
  assert.equal(await preset('Satellite').getAttribute('aria-pressed'), 'false');
  await page.waitForFunction(() => globalThis.page.play.client.stats().rtt < 0.3);
});

for (const colorScheme of ['light', 'dark'])
  test(`in the ${colorScheme} scheme all bodies stand out from the floor by 3 to 1`, async (t) => {
    const page = await open(t, { colorScheme });
    const contrasts = await page.evaluate(async () => {
      const { colorOf } = await import('/colors.js');
      const style = getComputedStyle(document.getElementById('arena'));
      const floor = style.getPropertyValue('--floor');
      const context = document.createElement('canvas').getContext('2d');
      const luminance = (color) => {
        context.fillStyle = color;
        context.fillRect(0, 0, 1, 1);
        const [red, green, blue] = [...context.getImageData(0, 0, 1, 1).data].map((part) => {
          const share = part / 255;
          return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
        });
        return 0.2126 * red + 0.7152 * green + 0.0722 * blue + 0.05;
      };
      const under = luminance(floor);
      const players = Array.from({ length: 32 }, (_, player) => colorOf(player, floor));
      return [style.getPropertyValue('--idle'), ...players].map((color) => {
        const over = luminance(color);
        return Math.max(over, under) / Math.min(over, under);
      });
    });
    assert.ok(Math.min(...contrasts) >= 3, `the least contrast is ${Math.min(...contrasts)}`);
  });
