// Pages that the browser keeps from the relay by a rule of theirs say so, and what to add: a real Chromium.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { test } from 'node:test';
import { makeRoot, openPage, startChat } from '../support/chat_page.mjs';
import { startChromium } from '../support/browsers.mjs';
import { own } from '../support/fixture.mjs';
import { freePort } from '../support/free_port.mjs';
import { startGate } from '../support/secure.mjs';

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
      } catch ({ name, code, message, retryable, cause }) {
        return { name, code, message, retryable, cause: String(cause) };
      }
    },
    [url, [...given.token], given.wasm && [...given.wasm]],
  );

test('a policy without the relay in connect-src', async (t) => {
  const page = await openPage(t, browser, { url: new URL('lonely.html', place.url).href });
  const token = await place.server.token();
  const { host } = new URL(place.url);
  const { cause, ...error } = await refusal(page, place.url, { token, wasm });
  assert.doesNotMatch(cause, /did not connect in/); // It is told at once.
  assert.deepEqual(error, {
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

/** Has the doctor examine a relay in a page; returns what it says. */
const examine = (page, relay, { timeoutSeconds = 60, token }) =>
  page.evaluate(
    async ([home, url, seconds, bytes]) => {
      const { doctor } = await import(new URL('/causeway-net/doctor/index.js', home).href);
      const token = bytes && { token: new Uint8Array(bytes) };
      return doctor(url, { timeoutSeconds: seconds, ...token });
    },
    [place.url, relay, timeoutSeconds, token && [...token]],
  );

test('the doctor finds nothing wrong, and measures the path', async (t) => {
  const page = await openPage(t, browser, { url: place.url });
  const { ok, checks, path } = await examine(page, '/', {
    token: await place.server.token(),
  });
  assert.ok(ok, JSON.stringify(checks));
  const passed = checks.filter(({ state }) => state === 'ok').map(({ name }) => name);
  const wanted = ['path by webrtc', 'server', 'token', 'webrtc', 'websocket'];
  assert.deepEqual(passed.sort(), wanted, JSON.stringify(checks));
  assert.deepEqual([path.rtt > 0, path.lossUp, path.lossDown], [true, 0, 0]);
});

const other = createServer((_, response) => response.end('hello'));
own(test, () => other.close());
await once(other.listen(0, '127.0.0.1'), 'listening');
const start = async (...args) => (await startGate(test, place.server, args)).url;
for (const [what, code, name, relay] of [
  ['a policy', 'POLICY', 'lonely.html', place.url],
  ['a closed port', 'UNREACHABLE', '', `http://127.0.0.1:${await freePort('tcp')}/`],
  ['a server that is no relay', 'NOT_RELAY', '', `http://127.0.0.1:${other.address().port}/`],
  ['another origin', 'ORIGIN', '', await start('--origin', 'https://game.example')],
  [
    'UDP that is blocked',
    'UDP_BLOCKED',
    '',
    await start('--origin', '*', '--rtc-advertise', '127.0.0.1:9'),
  ],
])
  test(`the doctor in a page names ${what}`, async (t) => {
    const page = await openPage(t, browser, { url: new URL(name, place.url).href });
    // A way without UDP says nothing, so time has to end that check.
    const timeoutSeconds = code === 'UDP_BLOCKED' ? 10 : 60;
    const said = await examine(page, relay, { timeoutSeconds });
    assert.deepEqual([said.ok, said.code], [false, code], JSON.stringify(said, null, 1));
  });
