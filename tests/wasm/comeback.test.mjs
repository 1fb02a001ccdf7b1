// A client connects again after the end, with new tokens: when asked to, and by itself when the page is back.
import assert from 'node:assert/strict';
import { getEventListeners } from 'node:events';
import { afterEach, beforeEach, mock, test } from 'node:test';
import {
  CausewayError,
  connect,
  openSecureTransport,
  openTransport,
} from '../support/causeway.mjs';
import { messages, startSecureServer } from '../support/secure.mjs';
import { WebSocket, join as joinPlace } from '../support/join.mjs';
import { sleep, until } from '../support/patience.mjs';

let page;
let asked;
const clients = [];

const place = await startSecureServer(test);

beforeEach(() => {
  asked = 0;
  page = new EventTarget();
  for (const name of ['addEventListener', 'removeEventListener'])
    globalThis[name] = page[name].bind(page);
});

afterEach(() => {
  for (const client of clients.splice(0)) client.disconnect();
  mock.restoreAll();
  delete globalThis.addEventListener;
  delete globalThis.removeEventListener;
});

const token = () => {
  asked++;
  return place.server.token({ timeoutSeconds: 1 });
};

async function join(options = {}) {
  const client = await joinPlace(place, { token, ...options });
  clients.push(client);
  const events = [];
  client.addEventListener('state', ({ state }) => events.push(state));
  client.addEventListener('disconnect', ({ reason }) => events.push(`disconnect: ${reason}`));
  return { client, events };
}

const anew = ['opening', 'requesting', 'responding', 'connected'];

/** Says something, and waits until it comes back. */
async function talk(client, text) {
  client.send(0, 'say', { text });
  for await (const { type, value } of client)
    if (type === 'said' && value.player === client.slot.index)
      return assert.equal(value.text, text);
  assert.fail('the connection has ended');
}

/** Lets no timers run and no datagrams come for so many seconds, as in a page that is frozen. */
const freeze = (seconds) =>
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, seconds * 1000);

test('a client connects again when asked, with a new token', async () => {
  const { client, events } = await join();
  await talk(client, 'one');
  const fate = client.track(0, 'say', { text: 'lost' });
  client.disconnect();
  assert.equal(await fate, 'lost');
  assert.equal((await client.closed).reason, 'client');
  assert.equal(asked, 1);
  await client.reconnect();
  assert.equal(asked, 2);
  assert.deepEqual(events, ['disconnected', 'disconnect: client', ...anew]);
  await talk(client, 'two');
  const { closed } = client;
  client.disconnect();
  assert.equal((await closed).reason, 'client');
});

test('what cannot connect again says why', async () => {
  const { client } = await join({ token: await token() });
  await assert.rejects(client.reconnect(), { name: 'MisuseError', code: 'CONNECTED' });
  assert.equal(client.state, 'connected');
  client.disconnect();
  await assert.rejects(client.reconnect(), {
    name: 'MisuseError',
    code: 'TOKEN_USED',
    message: /pass a function as token/,
  });
  assert.equal(client.state, 'disconnected');
});

test('an attempt to connect again that fails can be repeated', async () => {
  let fault = new Error('no token today');
  const { client, events } = await join({
    token: () => {
      if (asked === 1 && fault) throw fault;
      return token();
    },
  });
  client.disconnect();
  events.length = 0;
  await assert.rejects(client.reconnect(), fault);
  // The caller has the error, so there is no second `disconnect` event.
  assert.deepEqual(events, ['opening', 'disconnected']);
  assert.equal((await client.closed).message, 'no token today');
  fault = undefined;
  const controller = new AbortController();
  const attempt = client.reconnect({ signal: controller.signal });
  controller.abort(new Error('enough'));
  await assert.rejects(attempt, /enough/);
  await client.reconnect();
  await talk(client, 'here again');
});

test('a page that Back restores connects anew', async () => {
  const { client, events } = await join();
  page.dispatchEvent(new Event('pagehide'));
  assert.equal(client.state, 'disconnected');
  page.dispatchEvent(Object.assign(new Event('pageshow'), { persisted: true }));
  await until('it is connected', () => client.state === 'connected');
  assert.deepEqual(events, ['disconnected', 'disconnect: client', 'reconnecting', ...anew]);
  assert.equal(asked, 2);
  await talk(client, 'back');
  client.disconnect();
  assert.equal(getEventListeners(page, 'pagehide').length, 0);
  assert.equal(getEventListeners(page, 'pageshow').length, 0);
  page.dispatchEvent(Object.assign(new Event('pageshow'), { persisted: true }));
  assert.equal(client.state, 'disconnected');
});

test('a page that was frozen for a moment goes on', async () => {
  const { client, events } = await join({
    token: () => {
      asked++;
      return place.server.token({ timeoutSeconds: 10 });
    },
  });
  freeze(2.5);
  await talk(client, 'still here');
  assert.equal(client.state, 'connected');
  assert.ok(
    events.every((state) => ['reconnecting', 'connected'].includes(state)),
    String(events),
  );
  assert.equal(asked, 1);
});

test('a page that was frozen for too long connects anew', async () => {
  const { client, events } = await join();
  const { closed } = client;
  freeze(2.5);
  await until('it is on the way', () => events.includes('opening'));
  await until('it is connected', () => client.state === 'connected');
  assert.deepEqual(events.slice(events.indexOf('opening')), anew);
  assert.equal(asked, 2);
  await talk(client, 'here again');
  client.disconnect();
  assert.equal((await closed).reason, 'client');
});

test('without a function for tokens, it says that the page did not run', async () => {
  const { client } = await join({ token: await token() });
  freeze(2.5);
  const { reason, message } = await client.closed;
  assert.equal(reason, 'timeout');
  assert.match(message, /^the page did not run for [23] s, and the connection timed out/);
});

test('who disconnects while the page comes back stays disconnected', async () => {
  const { client, events } = await join();
  client.addEventListener('state', ({ state }) => state === 'requesting' && client.disconnect());
  freeze(2.5);
  await client.closed;
  await sleep(1500);
  assert.equal(client.state, 'disconnected');
  assert.equal(events.at(-1), 'disconnect: client');
});

test('what cannot be connected with is one clear error with a code', async () => {
  const isRefusal = (code) => (error) => {
    assert.ok(error instanceof CausewayError, String(error?.stack ?? error));
    assert.equal(error.code, code);
    return true;
  };
  const fails = (code, url, options) => assert.rejects(connect(url, options), isRefusal(code));
  const options = { token, schema: messages, WebSocket };
  await fails('INVALID_ARGUMENT', place.url, undefined);
  await fails('INVALID_ARGUMENT', undefined, undefined);
  await fails('INVALID_ARGUMENT', place.url, { ...options, token: null });
  await fails('INVALID_ARGUMENT', place.url, { ...options, schema: null });
  for (const name of ['transports', 'channels', 'ticksPerSecond', 'timeoutSeconds'])
    await fails('INVALID_ARGUMENT', place.url, { ...options, [name]: null });
  for (const url of [undefined, null, '/', 'relay']) await fails('TRANSPORT', url, options);
  for (const none of [undefined, null, { token: null }])
    await assert.rejects(openSecureTransport(place.url, none), isRefusal('INVALID_ARGUMENT'));
  for (const none of [null, { transports: null }])
    await assert.rejects(openTransport(place.url, none), isRefusal('INVALID_ARGUMENT'));
  assert.equal(asked, 0);
});
