// The demo page in a real Chromium, through the real relay, to the native game server.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { startChromium } from '../support/chromium.mjs';
import { startDemo } from '../support/demo.mjs';

let demo;
let browser;

before(async () => {
  demo = await startDemo('--rtc', '127.0.0.1:0');
  browser = await startChromium();
});

after(async () => {
  await browser?.close();
  await demo?.stop();
});

/** The number that the page shows. */
const shown = async (page, id) => Number(await page.textContent(`#${id}`));

/** Waits until the number that the page shows is within limits. */
const waitFor = (page, id, least, most = Infinity) =>
  page.waitForFunction(
    ([name, low, high]) => {
      const value = Number(document.getElementById(name).textContent);
      return value >= low && value <= high;
    },
    [id, least, most],
    { timeout: 30_000 },
  );

const slide = (page, id, value) => page.locator(`#${id}`).fill(String(value));

const open = async (parameters, from = demo) => {
  const page = await browser.newPage();
  page.faults = [];
  page.on('pageerror', (error) => page.faults.push(error));
  await page.goto(from.page(parameters));
  return page;
};

test('packets are acked through relay and UDP, and the loss of the slider is seen', async () => {
  const page = await open();
  await waitFor(page, 'packets-acked', 60);
  await waitFor(page, 'packets-received', 60);
  assert.match(await page.textContent('#state'), /^connected/);
  assert.ok((await shown(page, 'rtt')) > 0);
  // A page that is starting up may be late for a packet or two.
  assert.ok((await shown(page, 'packets-lost')) < 30);
  await waitFor(page, 'loss-sent', 0, 5);

  await slide(page, 'loss', 20);
  assert.equal(await page.textContent('#loss-value'), '20 % each way');
  await waitFor(page, 'loss-sent', 15, 25);
  await waitFor(page, 'loss-received', 15, 25);
  assert.ok((await shown(page, 'packets-lost')) > 10);

  await slide(page, 'loss', 0);
  await waitFor(page, 'loss-sent', 0, 5);
  assert.deepEqual(page.faults, []);
  await page.close();
});

test('chat arrives whole and in order at 20 % loss, and players see each other', async () => {
  const [one, two] = [await open(), await open()];
  await waitFor(one, 'packets-acked', 60);
  await waitFor(two, 'packets-acked', 60);
  await slide(one, 'loss', 20);
  await slide(two, 'loss', 20);
  const texts = Array.from({ length: 12 }, (_, i) => `line ${i}`);
  for (const text of texts) {
    await one.locator('#chat-text').fill(text);
    await one.locator('#chat-text').press('Enter');
  }
  for (const page of [one, two]) {
    await page.waitForFunction(
      (count) => document.querySelectorAll('#chat-lines li').length === count,
      texts.length,
      { timeout: 30_000 },
    );
    const lines = await page.locator('#chat-lines li').allTextContents();
    assert.deepEqual(
      lines.map((line) => line.replace(/^Player \d+ /, '')),
      texts,
    );
    await page.waitForFunction(
      () => Number(document.getElementById('arena').dataset.players) >= 2,
      undefined,
      { timeout: 30_000 },
    );
    assert.deepEqual(page.faults, []);
  }
  await one.close();
  await two.close();
});

test('the latency of the slider is seen in the round trip', async () => {
  const page = await open();
  await waitFor(page, 'packets-acked', 60);
  await slide(page, 'latency', 100);
  await waitFor(page, 'rtt', 195, 300);
  assert.deepEqual(page.faults, []);
  await page.close();
});

test('over WebRTC when the relay has it', async () => {
  const page = await open();
  await waitFor(page, 'packets-acked', 60);
  assert.equal(await page.textContent('#state'), 'connected: webrtc');
  await page.close();
});

/** How long the page takes to be connected over WebSocket, in seconds. */
const fallBack = async (...options) => {
  const other = await startDemo(...options);
  try {
    const page = await open({}, other);
    const begin = performance.now();
    await page.waitForFunction(
      () => document.getElementById('state').textContent === 'connected: websocket',
    );
    const seconds = (performance.now() - begin) / 1000;
    await waitFor(page, 'packets-acked', 1);
    await page.close();
    return seconds;
  } finally {
    await other.stop();
  }
};

test('over WebSocket when the relay has no WebRTC', async () => {
  assert.ok((await fallBack()) < 2);
});

test('over WebSocket when UDP does not come through', async () => {
  assert.ok((await fallBack('--rtc', '127.0.0.1:0', '--rtc-advertise', '127.0.0.1:9')) < 2);
});

test('over WebSocket when the page asks for it', async () => {
  const page = await open({ transport: 'websocket' });
  await waitFor(page, 'packets-acked', 60);
  assert.equal(await page.textContent('#state'), 'connected: websocket');
  await page.close();
});

test('the page shows that the relay ended', async () => {
  const page = await open({ transport: 'websocket' });
  const rtc = await open({ transport: 'webrtc' });
  await waitFor(page, 'packets-acked', 1);
  await waitFor(rtc, 'packets-acked', 1);
  assert.equal(await demo.relay.stop(), 0);
  await page.waitForFunction(() => document.getElementById('state').dataset.state === 'closed');
  assert.match(await page.textContent('#state'), /^closed: the relay .*1001/);
  await page.close();
  await rtc.waitForFunction(() => document.getElementById('state').dataset.state === 'closed');
  await rtc.close();
});
