// A relay refuses a page of another origin, or carries it no longer: it tells the page the same over WebRTC and
// WebSocket, in real browsers.
import assert from 'node:assert/strict';
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { after, before, describe, test } from 'node:test';
import { startChromium } from '../support/chromium.mjs';
import { startFirefox } from '../support/firefox.mjs';
import { openPackagePage, startPackagePage } from '../support/package_page.mjs';
import { startRelay, startUdpServer } from '../support/relay.mjs';

const kinds = ['WebRtcTransport', 'WebSocketTransport'];
let site;
let udp;
let silent;

before(async () => {
  site = await startPackagePage();
  udp = await startUdpServer();
  silent = await startUdpServer(() => []);
});

after(async () => {
  await udp.stop();
  await silent.stop();
  site.stop();
});

/** Returns a UDP port of the loopback interface at which nobody listens. */
async function freePort() {
  const socket = createSocket('udp4');
  socket.bind(0, '127.0.0.1');
  await once(socket, 'listening');
  const { port } = socket.address();
  socket.close();
  return port;
}

for (const [name, start] of Object.entries({ Chromium: startChromium, Firefox: startFirefox })) {
  describe(name, () => {
    let browser;
    let page;

    before(async () => {
      browser = await start();
      page = await openPackagePage(browser, site);
    });

    after(() => browser?.close());

    const startFor = (t, port, ...options) =>
      startWith(t, port, '--rtc', '127.0.0.1:0', ...options);

    async function startWith(t, port, ...options) {
      const relay = await startRelay(port, '--origin', site.origin, ...options);
      t.after(() => relay.stop('SIGKILL'));
      return relay;
    }

    /** Opens a transport, and sends on it until it ends; returns how it ended, or why it did not open. */
    const end = (kind, relay) =>
      page.evaluate(
        async ([kind, url]) => {
          let transport;
          try {
            transport = await globalThis.causeway[kind].connect(url);
          } catch ({ code, retryable, stage }) {
            return { code, retryable, stage };
          }
          globalThis.opened = transport;
          const sending = setInterval(() => transport.send(new Uint8Array(20)), 50);
          const close = await transport.closed;
          clearInterval(sending);
          return close;
        },
        [kind, relay.url],
      );

    const bothEnd = async (relay, close) => {
      assert.deepEqual(await Promise.all(kinds.map((kind) => end(kind, relay))), [close, close]);
    };

    test('a page whose origin is not allowed', async (t) => {
      const relay = await startRelay(udp.port, '--rtc', '127.0.0.1:0');
      t.after(() => relay.stop('SIGKILL'));
      const [overHttp, closed] = [await end(kinds[0], relay), await end(kinds[1], relay)];
      assert.deepEqual(overHttp, { code: 'ORIGIN', retryable: false, stage: 'signalling' });
      assert.deepEqual(closed, { code: 4004, reason: 'this origin is not allowed (--origin)' });
    });

    test('a relay without WebRTC', async (t) => {
      const relay = await startWith(t, udp.port);
      assert.deepEqual(await end(kinds[0], relay), {
        code: 'NO_RTC',
        retryable: false,
        stage: 'signalling',
      });
    });

    test('a relay that is full', async (t) => {
      const relay = await startFor(t, udp.port, '--max-sessions-per-address', '1');
      void end(kinds[1], relay).catch(() => {});
      await page.waitForFunction(() => globalThis.opened?.state === 'open');
      await bothEnd(relay, { code: 1013, reason: 'try later' });
    });

    test('a relay that stops', async (t) => {
      const relay = await startFor(t, udp.port);
      const both = bothEnd(relay, { code: 1001, reason: 'relay is stopping' });
      const before = udp.received.length;
      while (new Set(udp.received.slice(before).map(({ from }) => from.port)).size < 2)
        await new Promise((resolve) => setTimeout(resolve, 20));
      await relay.stop();
      await both;
    });

    test('a game server that does not answer, and one that is not there', async (t) => {
      const deaf = await startFor(t, silent.port, '--answer-timeout', '1');
      const alone = await startFor(t, await freePort());
      await Promise.all([
        bothEnd(deaf, { code: 4002, reason: 'the game server does not answer' }),
        bothEnd(alone, { code: 4005, reason: 'the game server is down' }),
      ]);
    });
  });
}
