// Pages that the browser keeps from the relay by a rule of theirs say so, and what to add: a real Chromium.
import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { makeRoot, openPage, startChat } from '../support/chat_page.mjs';
import { startChromium } from '../support/browsers.mjs';

const root = makeRoot(test);
const whole = readFileSync(join(root, 'index.html'), 'utf8');

/** Writes a page with a policy. */
const page = (name, policy) => {
  const meta = `<meta http-equiv="Content-Security-Policy" content="${policy}">`;
  writeFileSync(join(root, name), whole.replace('<head>', `<head>${meta}`));
};
page('lonely.html', "connect-src 'none'");
page('plain.html', "script-src 'self' 'unsafe-inline'");

const browser = await startChromium(test);
const place = await startChat(test, { root });
const wasm = new Uint8Array(readFileSync(join(root, 'causeway-net/causeway.wasm')));

/** Tries to connect, and returns the error. The module is given as bytes where the page may not fetch it. */
const refusal = (page, url, given) =>
  page.evaluate(
    async ([relay, token, bytes]) => {
      const { connect } = await import(new URL('/causeway-net/index.js', relay).href);
      const { messages } = await import(new URL('/chat_schema.js', relay).href);
      try {
        await connect(relay, {
          token: new Uint8Array(token),
          schema: messages,
          ...(bytes && { wasm: new Uint8Array(bytes) }),
        });
        return 'connected';
      } catch ({ name, code, message, retryable }) {
        return { name, code, message, retryable };
      }
    },
    [url, [...given.token], given.wasm && [...given.wasm]],
  );

test('a policy without the relay in connect-src', async (t) => {
  const page = await openPage(t, browser, { url: new URL('lonely.html', place.url).href });
  const token = await place.server.token();
  const { host } = new URL(place.url);
  assert.deepEqual(await refusal(page, place.url, { token, wasm }), {
    name: 'ConnectError',
    code: 'POLICY',
    message:
      `the page's Content-Security-Policy does not let it connect to ${host}: ` +
      `add to its connect-src http://${host} ws://${host}`,
    retryable: false,
  });
});

test('a policy that forbids WebAssembly', async (t) => {
  const page = await openPage(t, browser, { url: new URL('plain.html', place.url).href });
  const { name, message } = await refusal(page, place.url, { token: await place.server.token() });
  assert.equal(name, 'ConnectError');
  assert.match(
    message,
    /causeway\.wasm .*Content-Security-Policy.*script-src 'self' 'wasm-unsafe-eval'$/,
  );
});
