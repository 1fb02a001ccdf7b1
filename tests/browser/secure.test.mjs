// Secure connections from a real Chromium through the real relay to the native game server.
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import {
  attempt,
  chat,
  ending,
  leave,
  openPage as open,
  startChat,
} from '../support/chat_page.mjs';
import { startChromium } from '../support/browsers.mjs';
import { sleep, until } from '../support/patience.mjs';

const browser = await startChromium(test);
const demo = await startChat(test);
const openPage = (t, place) => open(t, browser, place);

describe('messages at 5 % loss', { concurrency: true }, () => {
  for (const kind of ['webrtc', 'websocket'])
    test(kind, async (t) => {
      const lossy = await startChat(t, { loss: 0.05 });
      const page = await openPage(t, lossy);
      const came = await attempt(page, await lossy.server.token(), { transports: [kind] });
      assert.deepEqual(came, { transport: kind });
      const { sent, said, worlds, stats } = await chat(page, 200);
      assert.deepEqual(said, sent);
      assert.ok(worlds > 50);
      assert.ok(stats.packetsLost > 0 && stats.packetsMissed > 0);
      await leave(page);
    });
});

test('listeners that come and go lose no message', async (t) => {
  const page = await openPage(t, demo);
  await attempt(page, await demo.server.token(), { transports: ['websocket'] });
  const said = await page.evaluate(async () => {
    const { client } = globalThis;
    const said = [];
    const note = ({ type, value }) => type === 'said' && said.push(value.text);
    const listen = (add) =>
      new Promise((resolve) => {
        add(({ message }) => {
          note(message);
          resolve();
        });
      });
    const ways = [
      () => listen((listener) => client.addEventListener('message', listener, { once: true })),
      () =>
        listen((listener) => {
          const gone = (event) => {
            client.removeEventListener('message', gone, true);
            listener(event);
          };
          client.addEventListener('message', gone, true);
        }),
      () =>
        listen((listener) => {
          const controller = new AbortController();
          const { signal } = controller;
          const gone = (event) => {
            controller.abort();
            listener(event);
          };
          client.addEventListener('message', { handleEvent: gone }, { signal });
        }),
      async () => {
        for await (const message of client) return note(message);
      },
      () => {
        for (let message = client.next(); message; message = client.next()) note(message);
      },
    ];
    for (let i = 0; i < 40; i++) client.send(0, 'say', { text: String(i) });
    for (let i = 0; i < 2000 && said.length < 40; i++) await ways[i % ways.length]();
    return said;
  });
  assert.deepEqual(
    said,
    Array.from({ length: 40 }, (_, i) => String(i)),
  );
  await leave(page);
});

const departures = {
  closed: (page) => page.close(),
  left: (page) => page.goto('about:blank'),
};

for (const kind of ['webrtc', 'websocket'])
  for (const [what, depart] of Object.entries(departures))
    test(`${kind}: a page that is ${what} gives its place free`, async (t) => {
      const small = await startChat(t, { players: 1 });
      const options = { transports: [kind] };
      const [first, second] = [await openPage(t, small), await openPage(t, small)];
      // The server would wait an hour for a client that does not say that it goes.
      const token = await small.server.token({ timeoutSeconds: 3600 });
      assert.deepEqual(await attempt(first, token, options), { transport: kind });
      const denied = await attempt(second, await small.server.token(), options);
      assert.equal(denied.code, 'DENIED');
      await depart(first);
      await until('the place is free', async () => {
        const came = await attempt(second, await small.server.token(), options);
        return came.transport === kind;
      });
    });

test('a full server denies', async (t) => {
  const small = await startChat(t, { players: 1 });
  const [first, second] = [await openPage(t, small), await openPage(t, small)];
  assert.ok((await attempt(first, await small.server.token())).transport);
  assert.deepEqual(await attempt(second, await small.server.token()), {
    name: 'ConnectError',
    code: 'DENIED',
    stage: 'request',
  });
});

test('an expired token, another schema and an aborted signal are told', async (t) => {
  const page = await openPage(t, demo);
  const token = await demo.server.token({ expireSeconds: 1 });
  await sleep(1100);
  assert.deepEqual(await attempt(page, token), {
    name: 'ConnectError',
    code: 'TOKEN_EXPIRED',
    stage: 'request',
  });
  assert.deepEqual(await attempt(page, await demo.server.token(), { otherSchema: true }), {
    name: 'ConnectError',
    code: 'SCHEMA',
    stage: 'token',
  });
  const foreign = await demo.server.token({ fingerprint: 1n, schema: undefined });
  assert.equal((await attempt(page, foreign)).code, 'SCHEMA');
  // The token is for the page's channels, and the server has the same messages with others.
  const channels = [{ kind: 'reliable' }];
  const apart = await attempt(page, await demo.server.token({ channels }), { channels });
  assert.deepEqual([apart.code, apart.stage], ['SCHEMA', 'request']);
  assert.match(apart.message, /; it has more messages, or other channels$/);
  // The server takes no token of another key; the signal ends the wait.
  const forged = await demo.server.token({ privateKey: new Uint8Array(32).fill(1) });
  assert.equal((await attempt(page, forged, { abortAfter: 300 })).name, 'AbortError');
});

test('a killed server is a timeout', async (t) => {
  const mortal = await startChat(t);
  const page = await openPage(t, mortal);
  await attempt(page, await mortal.server.token({ timeoutSeconds: 2 }));
  const killed = performance.now();
  await mortal.server.stop('SIGKILL');
  assert.equal(await ending(page), 'timeout');
  const seconds = (performance.now() - killed) / 1000;
  assert.ok(seconds > 1, `after ${seconds} s`);
});

test('a server that stops says so', async (t) => {
  const mortal = await startChat(t);
  const page = await openPage(t, mortal);
  await attempt(page, await mortal.server.token());
  assert.equal(await mortal.server.stop(), 0);
  assert.equal(await ending(page), 'stopping');
});
