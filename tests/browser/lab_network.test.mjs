// The lab's columns in a real Chromium, over a real relay to a real lab server.
import assert from 'node:assert/strict';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { newPage, startChromium } from '../support/browsers.mjs';
import { freePort } from '../support/free_port.mjs';
import { slide } from '../support/game_page.mjs';
import { runFor, startLabRelay, startLabServer } from '../support/lab_page.mjs';

/** A column works when so many of its messages have come back. */
const MESSAGES = 20;
const sizes = { desktop: { width: 1440, height: 900 }, phone: { width: 390, height: 844 } };
const pictures = join(process.env.CAUSEWAY_BUILD, 'screenshots');
mkdirSync(pictures, { recursive: true });
const browser = await startChromium(test);
const { upstream } = await startLabServer(test);
const relay = await startLabRelay(test, upstream);

/** Opens the lab as this relay serves it. */
async function open(t, { url = relay.url, fragment = '', viewport = sizes.desktop } = {}) {
  const page = await newPage(t, browser, { viewport });
  page.faults = [];
  page.on('pageerror', (error) => page.faults.push(error));
  await page.goto(`${url}#${fragment}`);
  await page.waitForFunction(() => globalThis.page?.run);
  await page.evaluate(() => (document.getElementById('network').open = true));
  return page;
}

const turn = (page) => page.locator('#mine').click();

/** Waits until messages have come back in every column. */
const comeBack = (page) =>
  page.waitForFunction(
    (least) =>
      globalThis.page.run.tracks.every(({ latencies }) => latencies.message.count >= least),
    MESSAGES,
  );

const failure = async (page) => {
  const line = page.locator('#failure');
  await line.waitFor();
  return line.textContent();
};

const close = async (page) => {
  assert.deepEqual(page.faults, []);
  await page.close();
};

for (const [name, viewport] of Object.entries(sizes))
  test(`messages come back in every column: ${name}`, async (t) => {
    const page = await open(t, { viewport });
    await turn(page);
    await comeBack(page);
    const shown = await page.evaluate(() =>
      [...document.querySelectorAll('.column')].map((card) => ({
        protocol: card.querySelector('.protocol').value,
        median: parseFloat(card.querySelector('.median').textContent),
        bytes: parseFloat(card.querySelector('.bytes').textContent),
      })),
    );
    t.diagnostic(JSON.stringify(shown));
    assert.deepEqual(
      shown.map(({ protocol }) => protocol),
      ['plain', 'rudp', 'notify', 'websocket'],
    );
    for (const { median, bytes } of shown) assert.ok(median > 0 && bytes > 64);
    assert.match(await page.textContent('#line'), /^A packet takes \d+ ms there and back/);
    assert.equal(await page.textContent('#measured-through'), relay.url);
    const disabled = await page.evaluate(() =>
      [...document.querySelectorAll('#sliders input, #bar :disabled, #flood')]
        .filter((control) => control.disabled)
        .map(({ id }) => id),
    );
    assert.deepEqual(disabled.sort(), [
      ...['bandwidth', 'bursts', 'flood', 'jitter', 'loss', 'queue', 'rtt', 'speed', 'step'],
    ]);
    const width = await page.evaluate(() => document.documentElement.scrollWidth);
    assert.ok(width <= viewport.width, `the page is ${width} px wide`);
    await page.screenshot({ path: join(pictures, `lab-network-${name}.png`), fullPage: true });
    await close(page);
  });

test('each protocol of the lab runs over the real network', async (t) => {
  const page = await open(t, { fragment: 'protocols=plain.plain.plain.plain' });
  await turn(page);
  const known = await page.locator('.protocol').first().locator('option').all();
  const names = await Promise.all(known.map((option) => option.getAttribute('value')));
  assert.ok(names.includes('tcp') && names.includes('websocket'));
  for (let first = 0; first < names.length; first += 4) {
    const four = names.slice(first, first + 4);
    for (const [place, name] of four.entries())
      await page.locator('.protocol').nth(place).selectOption(name);
    await comeBack(page);
    assert.notEqual(await page.locator('.why p').first().textContent(), '');
  }
  await close(page);
});

test('a change begins anew, a pause stops, and the way back gives the simulated run', async (t) => {
  const page = await open(t, { fragment: 'protocols=plain.tcp&blocks=1' });
  const before = await runFor(page, 60);
  await turn(page);
  await comeBack(page);
  await slide(page, 'messages', 11);
  await comeBack(page);
  const blocks = () =>
    page.waitForFunction(() =>
      globalThis.page.run.tracks.every(({ latencies }) => latencies.block.count > 0),
    );
  await blocks();
  await page.locator('#play').click();
  const ticks = () => page.evaluate(() => globalThis.page.run.ticks);
  const stopped = await ticks();
  assert.ok(stopped > 0);
  await page.evaluate(() => globalThis.page.step(10));
  assert.equal(await ticks(), stopped);
  await page.locator('#play').click();
  await comeBack(page);
  await slide(page, 'messages', 9);
  await page.keyboard.press('m');
  await page.waitForFunction(() => globalThis.page.run.settings.protocols[1] === 'tcp');
  assert.deepEqual(await runFor(page, 60), before);
  assert.ok(await page.locator('#rtt').isEnabled());
  await close(page);
});

test('where there is no relay, the page says so in a sentence, and takes another', async (t) => {
  const page = await open(t);
  const nowhere = `http://127.0.0.1:${await freePort('tcp')}/`;
  await turn(page);
  await page.locator('#relay').fill(nowhere);
  await page.locator('#relay').press('Enter');
  assert.equal(await failure(page), `There is no relay at ${nowhere}.`);
  assert.equal(await page.evaluate(() => globalThis.page.playing), false);
  await page.locator('#relay').fill(relay.url);
  await page.locator('#relay').press('Enter');
  await comeBack(page);
  assert.ok(await page.locator('#failure').isHidden());
  await close(page);
});

test('where no lab server is behind the relay, the page says so', async (t) => {
  const { url } = await startLabRelay(t, `127.0.0.1:${await freePort('udp')}`);
  const page = await open(t, { url });
  await turn(page);
  assert.match(await failure(page), /no lab server/);
  await close(page);
});

test('a lab server that goes away is missed', async (t) => {
  const { server, upstream: address } = await startLabServer(t);
  const { url } = await startLabRelay(t, address);
  const page = await open(t, { url });
  await turn(page);
  await comeBack(page);
  server.kill('SIGKILL');
  assert.match(await failure(page), /no lab server/);
  await close(page);
});
