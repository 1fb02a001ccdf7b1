// Pages that are hidden: a real Chromium that lets their timers run once a minute. HIDDEN_SECONDS is the time for which
// they are hidden.
import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { attempt, chat, leave, makeRoot, startChat } from '../support/chat_page.mjs';
import { LOADED_GRACE_SECONDS, newPage, startHidingChromium } from '../support/browsers.mjs';

/** The seconds after which a server gives up a client. */
const TIMEOUT = 5;

/** The time is long enough for the server to give up clients that depend on timers, which run once a minute. */
const HIDDEN = Number(process.env.HIDDEN_SECONDS ?? 70);

const root = makeRoot(test);
const page = readFileSync(join(root, 'index.html'), 'utf8');
const policy = `<meta http-equiv="Content-Security-Policy" content="worker-src 'none'">`;
writeFileSync(join(root, 'strict.html'), page.replace('<head>', `<head>${policy}`));
assert.match(readFileSync(join(root, 'strict.html'), 'utf8'), /worker-src/);
const browser = await startHidingChromium(test);
const place = await startChat(test, { root });

/** Opens a client in a page that is hidden as soon as it is connected; the page notes how often timers run. */
async function openHidden(file, { timeoutSeconds = TIMEOUT } = {}) {
  const page = await newPage(test, browser);
  await page.goto(new URL(file, place.url).href);
  const token = await place.server.token({ timeoutSeconds });
  assert.deepEqual(await attempt(page, token, { transports: ['websocket'] }), {
    transport: 'websocket',
  });
  await page.evaluate(() => {
    globalThis.states = [];
    globalThis.client.addEventListener('state', ({ state }) => globalThis.states.push(state));
    globalThis.runs = globalThis.longest = 0;
    let last = performance.now();
    const note = () => {
      globalThis.longest = Math.max(globalThis.longest, performance.now() - last);
      last = performance.now();
      globalThis.runs++;
      setTimeout(note, 100);
    };
    note();
    globalThis.silent = () => (performance.now() - last) / 1000;
    globalThis.longestNow = () => Math.max(globalThis.longest / 1000, globalThis.silent());
  });
  const front = await newPage(test, browser);
  await front.bringToFront();
  assert.equal(await page.evaluate(() => document.visibilityState), 'hidden');
  return { page, front };
}

/** Waits until the timers of a hidden page run once a minute, and no longer once a second. */
async function throttled(page) {
  for (let i = 0; i < 2 * LOADED_GRACE_SECONDS; i++) {
    if ((await page.evaluate(() => globalThis.silent())) > TIMEOUT) return;
    await sleep(1000);
  }
  assert.fail('the browser does not throttle the page: nothing can be tested');
}

const timeout = (HIDDEN + 2 * LOADED_GRACE_SECONDS + 60) * 1000;

// The two pages wait at the same time.
test('hidden pages over WebSocket keep their players', { timeout }, async () => {
  const hidden = [];
  for (const [what, file] of [
    ['a Worker wakes it', 'index.html'],
    ['it may have no Worker', 'strict.html'],
  ])
    hidden.push({ what, ...(await openHidden(file)) });
  await Promise.all(hidden.map(({ page }) => throttled(page)));
  await sleep(HIDDEN * 1000);
  for (const { what, page, front } of hidden) {
    const [states, longest] = await page.evaluate(() => [
      globalThis.states,
      globalThis.longestNow(),
    ]);
    assert.ok(
      longest > 1.5 * TIMEOUT,
      `${what}: timers ran after ${longest} s: nothing was tested`,
    );
    // A machine that stalls lets the link fall silent, which the client answers.
    assert.match(states.join(), /^(reconnecting,connected(,|$))*$/, what);
    await page.bringToFront();
    const { sent, said } = await chat(page, 20);
    assert.deepEqual(said, sent, what);
    await leave(page);
    await Promise.all([page.close(), front.close()]);
  }
});

test('a hidden page to which nothing comes goes on sending', { timeout }, async () => {
  const { page, front } = await openHidden('index.html', { timeoutSeconds: 60 });
  await throttled(page);
  const figures = () =>
    page.evaluate(() => {
      const { runs, client } = globalThis;
      return { runs, sent: client.stats().transport.datagramsSent };
    });
  place.server.kill('SIGSTOP');
  const before = await figures();
  await page.evaluate(() => globalThis.client.send(0, 'say', { text: 'hello' }));
  let sent = 0;
  for (let i = 0; i < 100 && sent < 20; i++) {
    await sleep(100);
    sent = (await figures()).sent - before.sent;
  }
  const runs = (await figures()).runs - before.runs;
  place.server.kill('SIGCONT');
  assert.ok(sent >= 20, `${sent} datagrams in ten seconds`);
  assert.ok(runs < 5, `timers ran ${runs} times, so nothing was tested`);
  await leave(page);
  await Promise.all([page.close(), front.close()]);
});
