// The overlay over a page with a connection.
import assert from 'node:assert/strict';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { attempt, chat, leave, openPage, startChat } from '../support/chat_page.mjs';
import { startChromium } from '../support/browsers.mjs';

const browser = await startChromium(test);
const pictures = join(process.env.CAUSEWAY_BUILD, 'screenshots');
mkdirSync(pictures, { recursive: true });
const place = await startChat(test, { loss: 0.2 });

/** Opens a page that is connected, with the overlay. */
async function openOverlay(t, options, inWorker = false) {
  const page = await openPage(t, browser, place);
  const token = await place.server.token();
  await attempt(page, token, { transports: ['websocket'], inWorker });
  await page.evaluate(async (given) => {
    const { overlay } = await import('/causeway-net/overlay.js');
    globalThis.removeOverlay = overlay(globalThis.client, given);
  }, options);
  return page;
}

const shown = (page) => page.getByRole('group', { name: 'Network', exact: true });

/** Returns how many pixels of the graph are in the colour of this part. */
const pixels = (page, what) =>
  page.evaluate((color) => {
    const { shadowRoot } = document.querySelector('[aria-label="Network"]');
    const canvas = shadowRoot.querySelector('canvas');
    const { data } = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height);
    let count = 0;
    for (let i = 0; i < data.length; i += 4)
      if (data[i + 3] > 200 && color.every((part, j) => Math.abs(data[i + j] - part) < 40)) count++;
    return count;
  }, what);

const RTT = [76, 201, 224];
const LOSS = [255, 107, 122];
const FAINT = [163, 186, 192];

for (const inWorker of [false, true])
  test(`it shows transport, round trip, loss and bandwidth${inWorker ? ' of a Worker' : ''}`, async (t) => {
    const page = await openOverlay(t, undefined, inWorker);
    const box = shown(page);
    await chat(page, 60);
    const text = await box.evaluate(({ shadowRoot }) => shadowRoot.firstElementChild.innerText);
    assert.match(text, /WebSocket/);
    assert.match(text, /\d+(\.\d)? ms/);
    assert.match(text, /loss\s*↑ \d+\.\d % {2}↓ \d+\.\d %/);
    assert.match(text, /kB\/s\s*↑ \d+\.\d {2}↓ \d+\.\d/);
    assert.match(text, /token [0-9a-f]{16}/);
    assert.doesNotMatch(text, /loss\s*↑ 0\.0 % {2}↓ 0\.0 %/);
    assert.ok((await pixels(page, RTT)) > 10);
    assert.ok((await pixels(page, LOSS)) > 10);
    await leave(page);
    await page.waitForFunction(() =>
      document
        .querySelector('[aria-label="Network"]')
        .shadowRoot.textContent.startsWith('disconnected'),
    );
  });

test('it shows the good or bad mode, the penalty clock and the threshold', async (t) => {
  const page = await openPage(t, browser, place);
  await page.evaluate(async () => {
    const { overlay } = await import('/causeway-net/overlay.js');
    const path = { rtt: 0.3, lossSent: 0, lossReceived: 0 };
    globalThis.stats = { ...path, sentBytesPerSecond: 0, receivedBytesPerSecond: 0 };
    const client = { transport: 'webrtc', state: 'connected', stats: () => globalThis.stats };
    overlay(client);
  });
  const shows = (pattern) =>
    page.waitForFunction(
      (source) =>
        new RegExp(source).test(
          document.querySelector('[aria-label="Network"]').shadowRoot.firstElementChild.innerText,
        ),
      pattern,
    );
  const height = () =>
    shown(page).evaluate(({ shadowRoot }) => shadowRoot.firstElementChild.offsetHeight);
  const becomes = (changes) =>
    page.evaluate((given) => Object.assign(globalThis.stats, given), changes);
  await shows('300 ms');
  const before = await height();
  await becomes({ congestionState: 'NONE' });
  await shows('300 ms');
  assert.equal(await height(), before);
  assert.equal(await pixels(page, FAINT), 0);
  await becomes({ congestionState: 'BAD', packetsPerSecond: 10, penaltySeconds: 8 });
  await becomes({ goodSeconds: 2.5, rttThresholdSeconds: 0.25 });
  await shows('mode\\s*● bad, 10 packets/s\\s+penalty 2\\.5 of 8 s');
  assert.ok((await pixels(page, FAINT)) > 100, 'a line at the threshold');
  await becomes({ congestionState: 'GOOD', packetsPerSecond: 30, goodSeconds: 1 });
  await shows('mode\\s*● good, 30 packets/s\\s+for 1\\.0 s, penalty 8 s');
  await page.screenshot({ path: join(pictures, 'overlay-mode.png') });
});

for (const inWorker of [false, true])
  test(`it shows the newest packets, with acks as squares${inWorker ? ', of a Worker' : ''}`, async (t) => {
    const page = await openOverlay(t, { packets: true }, inWorker);
    const seen = () =>
      shown(page).evaluate(({ shadowRoot }) => ({
        window: shadowRoot.firstElementChild.lastElementChild.lastElementChild.innerText,
        packets: [...shadowRoot.querySelectorAll('.packet')].map((row) => ({
          head: row.firstElementChild.innerText,
          arrived: row.querySelectorAll('.acks .arrived').length,
          missing: row.querySelectorAll('.acks :not(.arrived)').length,
          carries: row.lastElementChild.innerText,
        })),
      }));
    let [missing, again, last] = [0, 0, -1];
    for (let i = 0; i < 8 || again === 0; i++) {
      await chat(page, 10);
      const { window, packets } = await seen();
      const { packetsSent, packetsReceived } = await page.evaluate(() => client.stats());
      assert.match(window, /^in flight\s*\d+\.\d of \d+\.\d kB$/);
      const numbers = packets.map(({ head }) => /^(sent|came) (\d+) acks up to (\d+)$/.exec(head));
      assert.deepEqual([numbers[0][1], numbers[1][1]], ['sent', 'came']);
      const [sent, acks, came, acked] = numbers.flatMap(([, , ...two]) => two.map(Number));
      // The overlay shows these somewhat later than the page has them.
      assert.ok(sent < packetsSent && sent > last, `${sent} of ${packetsSent}, after ${last}`);
      assert.ok(acks < 2 * packetsReceived && Math.abs(acks - came) < 32, `${acks} beside ${came}`);
      assert.ok(acked <= sent && acked > sent - 32, `${acked} beside ${sent}`);
      last = sent;
      for (const packet of packets) {
        assert.equal(packet.arrived + packet.missing, 32);
        const [, , more] = /^\d+ messages?(, (\d+) again)?, \d+ bytes$/.exec(packet.carries);
        again += Number(more ?? 0);
      }
      if (i > 0 && i < 8) missing += packets[0].missing;
    }
    assert.ok(missing > 0 && missing < 7 * 16, `${missing} of 224, a fifth of them lost`);
    await page.screenshot({ path: join(pictures, `overlay-packets${inWorker}.png`) });
  });

test('it shows the verdict on a game', async (t) => {
  const page = await openPage(t, browser, place);
  await page.evaluate(async () => {
    const { overlay } = await import('/causeway-net/overlay.js');
    const stats = { rtt: 0.03, lossSent: 0, lossReceived: 0 };
    const rates = { sentBytesPerSecond: 0, receivedBytesPerSecond: 0 };
    const client = {
      transport: 'webrtc',
      state: 'connected',
      stats: () => ({ ...stats, ...rates }),
    };
    globalThis.verdict = { type: 'good', text: 'good' };
    overlay(client, { game: { verdict: () => globalThis.verdict } });
  });
  const shows = (text) =>
    page.waitForFunction(
      (wanted) =>
        document.querySelector('[aria-label="Network"]').shadowRoot.textContent.includes(wanted),
      text,
    );
  await shows('\u25cf good');
  const text = 'diverging: field `x` of entity 7 at tick 4120';
  await page.evaluate((given) => {
    globalThis.verdict = { type: 'diverging', text: given };
  }, text);
  await shows(text);
  const width = await shown(page).evaluate(({ offsetWidth }) => offsetWidth);
  assert.ok(width < 200, `it is ${width} pixels wide`);
  await page.screenshot({ path: join(pictures, 'overlay-verdict.png') });
});

for (const [corner, x, y] of [
  [undefined, 8, 8],
  ['bottom right', 'right', 'bottom'],
])
  test(`in the corner ${corner ?? 'by default'} it fits on a phone and lets touches through`, async (t) => {
    const page = await openOverlay(t, { corner });
    await page.setViewportSize({ width: 320, height: 568 });
    const { box, below } = await page.evaluate(() => {
      const element = document.querySelector('[aria-label="Network"]');
      const { left, top, right, bottom } = element.getBoundingClientRect();
      const below = document.elementFromPoint((left + right) / 2, (top + bottom) / 2);
      return { box: { left, top, right, bottom }, below: below !== element };
    });
    assert.ok(below);
    assert.equal(x === 'right' ? 320 - box.right : box.left, 8);
    assert.equal(y === 'bottom' ? 568 - box.bottom : box.top, 8);
    assert.ok(box.right - box.left < 200 && box.bottom - box.top < 130);
  });

test('no policy of the page stops it, nor does its style change it', async (t) => {
  const page = await openOverlay(t);
  const height = () =>
    shown(page).evaluate(({ shadowRoot }) => shadowRoot.firstElementChild.offsetHeight);
  const before = await height();
  await page.evaluate(() => {
    const policy = document.createElement('meta');
    policy.httpEquiv = 'content-security-policy';
    policy.content = "style-src 'self'";
    document.head.append(policy);
    const { sheet } = [...document.querySelectorAll('link[rel=stylesheet]')][0];
    sheet.insertRule('div, span, canvas { font-size: 40px !important; padding: 30px !important }');
  });
  await page.evaluate(async () => {
    globalThis.removeOverlay();
    const { overlay } = await import('/causeway-net/overlay.js');
    globalThis.removeOverlay = overlay(globalThis.client);
  });
  assert.equal(await height(), before);
});

test('it is taken away without a trace', async (t) => {
  const page = await openOverlay(t);
  await shown(page).waitFor();
  await page.evaluate(() => globalThis.removeOverlay());
  assert.equal(await shown(page).count(), 0);
  const asked = await page.evaluate(async () => {
    const { stats } = globalThis.client;
    let count = 0;
    globalThis.client.stats = () => count++ && stats.call(globalThis.client);
    await new Promise((resolve) => setTimeout(resolve, 600));
    return count;
  });
  assert.equal(asked, 0);
});
