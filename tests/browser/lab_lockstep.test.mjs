// The lab's page with lockstep beside prediction in a real Chromium, in the time of its run, step by step.
import assert from 'node:assert/strict';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { newPage, startChromium } from '../support/browsers.mjs';
import { slide } from '../support/game_page.mjs';
import { serveLab } from '../support/lab_page.mjs';

const SECOND = 60;
const pictures = join(process.env.CAUSEWAY_BUILD, 'screenshots');
mkdirSync(pictures, { recursive: true });
const lab = await serveLab(test);
const browser = await startChromium(test);

/** Opens the page, stopped, as the address after # says. */
async function open(t, fragment = '', options = {}) {
  const page = await newPage(t, browser, { viewport: { width: 1440, height: 900 }, ...options });
  page.faults = [];
  page.on('pageerror', (error) => page.faults.push(error));
  page.on('console', (message) => message.type() === 'error' && page.faults.push(message.text()));
  await page.goto(`${lab}lockstep.html#${fragment}`);
  await page.waitForFunction(() => globalThis.page?.designs);
  await step(page, 0);
  return page;
}

/** Does the run again from its beginning, for so many ticks; returns what the page shows. */
const runFor = async (page, ticks) => {
  await page.evaluate((count) => {
    globalThis.page.restart();
    globalThis.page.step(count);
  }, ticks);
  return shown(page);
};

const step = (page, ticks) => page.evaluate((count) => globalThis.page.step(count), ticks);

async function close(page) {
  assert.deepEqual(page.faults, []);
  await page.close();
}

/** Returns the figures of both designs that the page shows, for each player, and the hashes. */
const shown = (page) =>
  page.locator('.column').evaluateAll((columns) =>
    columns.map((column) => ({
      hash: column.querySelector('code').textContent,
      verdict: column.querySelector('code').className,
      players: [...column.querySelectorAll('tbody tr')].map((row) => {
        const [own, others, stalled] = [...row.cells]
          .slice(1)
          .map((cell) => parseFloat(cell.textContent));
        return { own, others, stalled };
      }),
    })),
  );

const picture = (page, name) =>
  page.screenshot({ path: join(pictures, `lab-lockstep-${name}.png`), fullPage: true });

test('lockstep is as slow as the slow player, and prediction is not', async (t) => {
  const page = await open(t, 'rtt=50&slow=100&loss=0');
  for (const [slow, own] of [
    [100, 83],
    [500, 283],
    [1000, 533],
  ]) {
    await slide(page, 'slow', slow);
    await step(page, 20 * SECOND);
    const [lockstep, prediction] = await shown(page);
    for (const player of lockstep.players) assert.ok(Math.abs(player.own - own) < 20, `${slow}`);
    for (const player of prediction.players) assert.equal(player.own, 0);
    assert.equal(lockstep.hash, prediction.hash);
    assert.match(lockstep.hash, /^[0-9a-f]{16}$/);
    assert.deepEqual([lockstep.verdict, prediction.verdict], ['same', 'same']);
  }
  await close(page);
});

test('a cut line stops lockstep for all, and the server goes on', async (t) => {
  const page = await open(t, 'rtt=50&slow=300&loss=0&viewer=0');
  const before = await shown(page);
  await page.keyboard.press('c');
  assert.equal(await page.locator('#cut').getAttribute('aria-pressed'), 'true');
  await step(page, 2 * SECOND);
  const [lockstep, prediction] = await shown(page);
  for (const [i, { stalled }] of lockstep.players.entries())
    assert.ok(stalled - before[0].players[i].stalled > 1.5);
  for (const { stalled } of prediction.players) assert.equal(stalled, 0);
  assert.equal(await page.locator('.pitch.stalled').count(), 1);
  await picture(page, 'cut');
  await page.locator('#cut').click();
  await step(page, 5 * SECOND);
  const [together, other] = await shown(page);
  assert.equal(together.verdict, 'same', 'the players of lockstep agree still');
  assert.equal(other.verdict, 'other', 'the server did not wait');
  assert.match(await page.textContent('#verdict'), /did not wait for \d+ moves/);
  await close(page);
});

test('a shared address gives the same run', async (t) => {
  const page = await open(t, 'loss=5&seed=7&viewer=2');
  const run = await runFor(page, 5 * SECOND);
  const other = await open(t, new URL(page.url()).hash.slice(1));
  assert.deepEqual(await runFor(other, 5 * SECOND), run);
  assert.equal(await other.locator('#viewer').inputValue(), '2');
  await other.locator('#seed').fill('8');
  await other.locator('#seed').press('Enter');
  assert.notEqual((await runFor(other, 5 * SECOND))[0].hash, run[0].hash);
  await other.locator('#viewer').selectOption('0');
  await other.locator('#restart').click();
  assert.equal(await other.textContent('#time'), '0.0');
  await close(other);
  await close(page);
});

test('it plays by itself, and the lab has a link to it', async (t) => {
  const page = await newPage(t, browser, { viewport: { width: 1440, height: 900 } });
  await page.goto(lab);
  await page.locator('#lockstep').click();
  await page.waitForFunction(() => globalThis.page?.designs);
  const { ticks } = await page.evaluate(() => ({ ticks: globalThis.page.ticks }));
  await page.waitForFunction((before) => globalThis.page.ticks > before + 30, ticks);
  await page.locator('#play').click();
  assert.equal(await page.evaluate(() => globalThis.page.playing), false);
  await page.close();
});
