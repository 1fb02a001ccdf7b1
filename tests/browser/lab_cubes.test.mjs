// The lab's cubes in a real Chromium, over a real relay, from a real lab server.
import assert from 'node:assert/strict';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { newPage, startChromium } from '../support/browsers.mjs';
import { freePort } from '../support/free_port.mjs';
import { startLabRelay, startLabServer } from '../support/lab_page.mjs';

/** A cube has so many figures: its position, its orientation, and whether it was touched. */
const FIGURES = 8;
/** The most kbit/s of the codings that send every cube. */
const ALL = [17_500, 12_400, 8_000, 7_000, 4_500];
/**
 * The codings that send deltas. The size of a delta depends on the moment, and on how late the acks come on a busy
 * machine; the test lab.cubes compares them in the same world.
 */
const DELTAS = [5, 6, 7, 8];
const pictures = join(process.env.CAUSEWAY_BUILD, 'screenshots');
mkdirSync(pictures, { recursive: true });
const browser = await startChromium(test);
const { upstream } = await startLabServer(test);
const relay = await startLabRelay(test, upstream, '--peer-rate', '0');

async function open(t, url = relay.url, options = { viewport: { width: 800, height: 800 } }) {
  const page = await newPage(t, browser, options);
  page.faults = [];
  page.on('pageerror', (error) => page.faults.push(error));
  await page.goto(`${url}cubes.html`);
  await page.waitForFunction(() => globalThis.page?.view);
  return page;
}

const close = async (page) => {
  assert.deepEqual(page.faults, []);
  await page.close();
};

const figures = (page) => page.evaluate(() => [...globalThis.page.view.figures]);

const choose = (page, coding) => page.locator(`input[value="${coding}"]`).click();

/** Waits until the rate of the coding is one of a whole second, and returns it. */
async function rateOf(page, coding) {
  await choose(page, coding);
  await page.waitForFunction((tick) => {
    const { newest, first } = globalThis.page.view.stats;
    return newest - first > tick;
  }, 60);
  return page.evaluate(() => globalThis.page.view.rate());
}

test('the cubes move in each coding, and it takes the bits of its cubes', async (t) => {
  const page = await open(t);
  for (const coding of [...ALL.keys(), ...DELTAS]) {
    const earlier = await figures(page);
    const { kbit, whole } = await rateOf(page, coding);
    const now = await figures(page);
    t.diagnostic(
      `coding ${coding}: ${kbit.toFixed(0)} kbit/s, ${(100 * whole).toFixed(0)} % whole`,
    );
    const moved = now.filter((figure, i) => i % FIGURES < 2 && figure !== earlier[i]);
    assert.ok(moved.length > 4, `${moved.length} numbers have changed`);
    // A machine that is busy loses parts of snapshots, which count as bits but not as a whole one.
    const most = ALL[coding];
    if (most) assert.ok(kbit < most && kbit / whole > most / 4);
  }
  assert.match(await page.textContent('#state'), /^Over WebRTC, \d+ of 100 snapshots come whole/);
  const shown = await page.locator('td.rate').allTextContents();
  for (const text of shown) assert.match(text, /^\d+(\u2009\d{3})*$/);
  await page.screenshot({ path: join(pictures, 'cubes-measured.png') });
  await close(page);
});

test('what one visitor does, another sees', async (t) => {
  // Two pages must share what a busy machine leaves them.
  const small = { viewport: { width: 400, height: 400 } };
  const [one, other] = [await open(t, relay.url, small), await open(t, relay.url, small)];
  await choose(one, DELTAS[0]);
  await choose(other, DELTAS[2]);
  await one.keyboard.down('d');
  // No cube that the player would go to by itself is that far east.
  await other.waitForFunction(() => globalThis.page.view.figures[0] > 16);
  await one.keyboard.up('d');
  await Promise.all([one, other].map(close));
});

test('the player goes where it is sent', async (t) => {
  const page = await open(t);
  await rateOf(page, DELTAS[1]);
  const place = () => page.evaluate(() => [...globalThis.page.view.figures.subarray(0, 2)]);
  await page.locator('#climb').focus();
  for (const [key, axis, sign] of [
    ['ArrowRight', 0, 1],
    ['a', 0, -1],
    ['w', 1, 1],
  ]) {
    const start = (await place())[axis];
    await page.keyboard.down(key);
    await page.waitForFunction(
      ([at, sense, from]) => sense * (globalThis.page.view.figures[at] - from) > 2,
      [axis, sign, start],
    );
    await page.keyboard.up(key);
  }
  const start = (await place())[0];
  await page.locator('#scene').scrollIntoViewIfNeeded();
  const box = await page.locator('#scene').boundingBox();
  await page.mouse.move(box.x + box.width - 5, box.y + box.height / 2);
  await page.mouse.down();
  await page.waitForFunction((from) => globalThis.page.view.figures[0] - from > 2, start);
  await page.mouse.up();
  await close(page);
});

test('all are tried in turn, until one is chosen', async (t) => {
  const page = await open(t);
  await page.locator('#climb').click();
  assert.equal(await page.locator('#climb').getAttribute('aria-pressed'), 'true');
  // The next coding could come before another command to the page.
  const chosen = await page.waitForFunction(() => {
    if (globalThis.page.coding !== 1) return 0;
    document.getElementById('more-coding').click();
    return globalThis.page.coding;
  });
  assert.equal(await chosen.jsonValue(), 2);
  assert.equal(await page.locator('#climb').getAttribute('aria-pressed'), 'false');
  await close(page);
});

test('it says what is missing', async (t) => {
  const page = await open(t);
  const says = async (address, pattern) => {
    await page.locator('#relay').fill(address);
    await page.locator('#relay').press('Enter');
    await page.waitForFunction(
      (source) => new RegExp(source).test(document.getElementById('failure').innerText),
      pattern,
    );
  };
  const port = await freePort();
  await says(`http://127.0.0.1:${port}/`, 'There is no relay at');
  await page.locator('#relay').fill(relay.url);
  await page.locator('#relay').press('Enter');
  await page.waitForFunction(() => document.getElementById('failure').hidden);
  await close(page);
  const without = await startLabRelay(t, `127.0.0.1:${await freePort()}`);
  const alone = await open(t, without.url);
  await alone.waitForFunction(() =>
    document.getElementById('failure').innerText.includes('no lab server'),
  );
  await close(alone);
});
