// WebTransport of real browsers through the real relay: its datagrams, its players in pages and Workers, its ends.
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { browsers } from '../support/browsers.mjs';
import { attempt, chat, ending, leave, openPage, startChat } from '../support/chat_page.mjs';
import { startDelayPath } from '../support/delay_path.mjs';
import { share } from '../support/fixture.mjs';
import { openPackagePage, startPackagePage } from '../support/package_page.mjs';
import { startRelay } from '../support/relay.mjs';
import { sentByBusyPage } from '../support/busy_page.mjs';
import { startUdpServer } from '../support/udp_server.mjs';
import { askRelay } from '../support/webtransport.mjs';

const RTT = 100;

const origin = await startPackagePage(test);
const udp = await startUdpServer(test);
const options = ['--rtc', '127.0.0.1:0', '--webtransport', '--origin', origin];
const start = (t, args = options) => startRelay(t, { upstream: udp.upstream, args });
const relay = await start(test);
const place = await startChat(test, { relayOptions: ['--webtransport'] });
const lossy = await startChat(test, { relayOptions: ['--webtransport'], loss: 0.05 });

/** Opens a transport in the page, which keeps it. */
const openTransport = (page, url, options = { transports: ['webtransport'] }) =>
  page.evaluate(
    async ([address, how]) => {
      globalThis.transport = await globalThis.causeway.openTransport(address, how);
    },
    [url, options],
  );

/** Resolves with the kind of the transport that the page has kept, when it is this one or none comes. */
const kindOf = (page, wanted) =>
  page.evaluate(async (kind) => {
    const { transport } = globalThis;
    for (let i = 0; i < 4000 && transport.kind !== kind; i++) {
      transport.send(new Uint8Array(20));
      await new Promise((resolve) => setTimeout(resolve, 25));
    }
    return transport.kind;
  }, wanted);

/** Sends datagrams of many sizes, a few at a time, and returns how many came back as they were. */
const echo = (page, count) =>
  page.evaluate(async (most) => {
    const { transport } = globalThis;
    const sizes = [1, 2, 100, 500, 999, 1078, 1100];
    const all = Array.from({ length: most }, (_, i) => {
      const datagram = new Uint8Array(sizes[i % sizes.length]).fill(i);
      return datagram;
    });
    const missing = new Set(all.map(String));
    const came = [];
    transport.ondatagram = (datagram) => came.push(String(datagram));
    for (let i = 0; i < most; i++) {
      transport.send(all[i]);
      for (let wait = 0; wait < 100 && came.length <= i; wait++)
        await new Promise((resolve) => setTimeout(resolve, wait < 20 ? 1 : 50));
    }
    return came.filter((datagram) => missing.has(datagram)).length;
  }, count);

for (const [name, startBrowser] of Object.entries(browsers))
  describe(name, () => {
    const browser = share((t) => startBrowser(t));

    test('400 of 400 datagrams come back, longer ones than the browser takes too', async (t) => {
      const page = await openPackagePage(t, browser(), origin);
      await openTransport(page, relay.url);
      assert.equal(await echo(page, 400), 400);
    });

    test('it is the best by default; it needs UDP alone with the answer of the relay in the address', async (t) => {
      const path = await startDelayPath(t, { rtt: RTT });
      path.to(await start(t, [...path.relayOptions, '--webtransport', '--origin', origin]));
      const answer = await askRelay(path, { origin });
      const tell = (more) =>
        `${path.url}#${encodeURIComponent(JSON.stringify({ ...answer, ...more }))}`;
      let requests = 0;
      path.watch = (kind) => kind === 'tcp up' && requests++;
      const page = await openPackagePage(t, browser(), origin);
      await openTransport(page, tell());
      assert.equal(await echo(page, 1), 1);
      assert.equal(requests, 0);
      await openTransport(page, tell({ hashes: ['00'.repeat(32)] }));
      assert.equal(await echo(page, 1), 1);
      assert.ok(requests > 0, 'a wrong answer: the relay is asked');
      await openTransport(page, tell(), {});
      assert.equal(await kindOf(page, 'webtransport'), 'webtransport');
    });

    test('a relay without it tells so, and the page says nothing of it', async (t) => {
      const { url } = await start(t, ['--rtc', '127.0.0.1:0', '--origin', origin]);
      const page = await openPackagePage(t, browser(), origin);
      const errors = [];
      page.on('console', (message) => message.type() === 'error' && errors.push(message.text()));
      const refusal = await page.evaluate(
        (address) =>
          globalThis.causeway
            .openTransport(address, { transports: ['webtransport'] })
            .catch(({ errors }) => errors[0].code),
        url,
      );
      assert.equal(refusal, 'NO_RTC');
      await openTransport(page, url, {});
      assert.equal(await kindOf(page, 'webrtc'), 'webrtc');
      assert.deepEqual(errors, []);
    });

    test('a page is told why the relay ends its session, and a browser does not break', async (t) => {
      const stopping = await start(t);
      const page = await openPackagePage(t, browser(), origin);
      await openTransport(page, stopping.url);
      await echo(page, 1);
      await page.evaluate(() => {
        const { transport } = globalThis;
        // The page sends all the while, which must not reach the session that has ended.
        const timer = setInterval(() => transport.send(new Uint8Array(10)), 1);
        globalThis.lost = new Promise((resolve) => transport.addEventListener('state', resolve))
          .then(() => new Promise((resolve) => setTimeout(resolve, 200)))
          .then(() => (clearInterval(timer), transport.loss));
      });
      await stopping.stop();
      assert.deepEqual(await page.evaluate(() => globalThis.lost), {
        code: 1001,
        reason: 'relay is stopping',
      });
      await page.evaluate(() => globalThis.transport.close());
    });

    for (const [where, inWorker, at] of [
      ['the page, at 5 % loss', false, lossy],
      ['a Worker', true, place],
    ])
      test(`a player in ${where} talks`, async (t) => {
        const page = await openPage(t, browser(), at);
        const how = { transports: ['webtransport'], inWorker };
        assert.deepEqual(await attempt(page, await at.server.token(), how), {
          transport: 'webtransport',
        });
        const { sent, said } = await chat(page, 10);
        assert.deepEqual(said, sent);
        if (inWorker) {
          assert.equal(await page.evaluate(() => globalThis.client.offloaded), true);
          assert.ok((await sentByBusyPage(page, 5)) >= 5);
        }
        await leave(page);
        assert.equal(await ending(page), 'client');
      });

    test('a player comes from a WebSocket to WebTransport, and goes on in an upgrade', async (t) => {
      const chatting = await startChat(t, { relayOptions: ['--webtransport'] });
      const page = await openPage(t, browser(), chatting);
      await attempt(page, await chatting.server.token());
      // A client tries a better link again a minute after it was too slow.
      const settled = () =>
        page.evaluate(async () => {
          while (globalThis.client.transport !== 'webtransport')
            await new Promise((resolve) => setTimeout(resolve, 25));
        });
      await settled();
      await chatting.relay.upgrade();
      const { sent, said } = await chat(page, 10);
      assert.deepEqual(said, sent);
      await settled();
      await leave(page);
    });
  });
