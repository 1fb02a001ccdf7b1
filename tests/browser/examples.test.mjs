// The page of web/examples in a real Chromium, on the echo server of core/examples.
import assert from 'node:assert/strict';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { newPage, startChromium } from '../support/browsers.mjs';
import { startEchoPage, startProtocolPage } from '../support/examples.mjs';

const pictures = join(process.env.CAUSEWAY_BUILD, 'screenshots');
const sizes = { desktop: { width: 1280, height: 800 }, phone: { width: 390, height: 844 } };

for (const [name, viewport] of Object.entries(sizes))
  test(`the page says what comes back, and how it ends: ${name}`, async (t) => {
    const { server, url } = await startEchoPage(t);
    const page = await newPage(t, await startChromium(t), { viewport });
    const errors = [];
    page.on('pageerror', (error) => errors.push(error.message));
    await page.goto(url);
    await page.getByText('The connection is connected.').waitFor();
    const texts = ['hello', '\u{10ffff}'.repeat(30), 'ж'.repeat(60), 'bye'];
    for (const text of texts) {
      await page.getByLabel('Message').fill(text);
      await page.getByLabel('Message').press('Enter');
      await page.getByRole('listitem').getByText(text, { exact: true }).waitFor();
    }
    assert.deepEqual(await page.getByRole('listitem').allTextContents(), texts);
    const width = await page.evaluate(() => globalThis.document.documentElement.scrollWidth);
    assert.ok(width <= viewport.width, `${width} pixels`);
    mkdirSync(pictures, { recursive: true });
    await page.screenshot({ path: join(pictures, `examples-${name}.png`) });
    await server.stop();
    await page.getByText('The connection is ended: stopping.').waitFor();
    assert.deepEqual(errors, []);
  });

const others = { rudp: process.env.CAUSEWAY_RUDP_ECHO, notify: process.env.CAUSEWAY_NOTIFY_ECHO };
for (const [protocol, program] of Object.entries(others))
  test(`a page speaks ${protocol} with a native server, through a relay with --raw`, async (t) => {
    const url = await startProtocolPage(t, program);
    const page = await newPage(t, await startChromium(t), { viewport: sizes.phone });
    await page.goto(`${url}protocols.html?protocol=${protocol}`);
    await page.getByText('100 of 100 packages have come back.').waitFor();
    await page.screenshot({ path: join(pictures, `examples-${protocol}.png`) });
  });
