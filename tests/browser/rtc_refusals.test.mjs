// A relay refuses a page of another origin, or carries it no longer: it tells the page the same over WebRTC and
// WebSocket, in real browsers.
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { openPackagePage, startPackagePage } from '../support/package_page.mjs';
import { startRelay } from '../support/relay.mjs';
import { startUdpServer } from '../support/udp_server.mjs';
import { browsers } from '../support/browsers.mjs';
import { share } from '../support/fixture.mjs';
import { freePort } from '../support/free_port.mjs';
import { until } from '../support/patience.mjs';

const kinds = ['WebRtcTransport', 'WebSocketTransport'];
const origin = await startPackagePage(test);
const udp = await startUdpServer(test);
const silent = await startUdpServer(test, { answer: () => null });

for (const [name, start] of Object.entries(browsers)) {
  describe(name, () => {
    const page = share(async (t) => openPackagePage(t, await start(t), origin));

    const startWith = (t, { upstream }, ...options) =>
      startRelay(t, { upstream, args: ['--origin', origin, ...options] });

    const startFor = (t, server, ...options) =>
      startWith(t, server, '--rtc', '127.0.0.1:0', ...options);

    /** Opens a transport, and sends on it until it ends; returns how it ended, or why it did not open. */
    const end = (kind, relay) =>
      page().evaluate(
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
      const relay = await startRelay(t, { upstream: udp.upstream, args: ['--rtc', '127.0.0.1:0'] });
      const [overHttp, closed] = [await end(kinds[0], relay), await end(kinds[1], relay)];
      assert.deepEqual(overHttp, { code: 'ORIGIN', retryable: false, stage: 'signalling' });
      assert.deepEqual(closed, { code: 4004, reason: 'this origin is not allowed (--origin)' });
    });

    test('a relay without WebRTC', async (t) => {
      const relay = await startWith(t, udp);
      assert.deepEqual(await end(kinds[0], relay), {
        code: 'NO_RTC',
        retryable: false,
        stage: 'signalling',
      });
    });

    test('a relay that is full', async (t) => {
      const relay = await startFor(t, udp, '--max-sessions-per-address', '1');
      void end(kinds[1], relay).catch(() => {});
      await page().waitForFunction(() => globalThis.opened?.state === 'open');
      await bothEnd(relay, { code: 1013, reason: 'try later' });
    });

    test('a relay that stops', async (t) => {
      const relay = await startFor(t, udp);
      const both = bothEnd(relay, { code: 1001, reason: 'relay is stopping' });
      const before = udp.received.length;
      const ports = () => new Set(udp.received.slice(before).map(({ port }) => port));
      await until('both to send', () => ports().size >= 2);
      await relay.stop();
      await both;
    });

    test('a game server that does not answer, and one that is not there', async (t) => {
      const deaf = await startFor(t, silent, '--answer-timeout', '1');
      const alone = await startFor(t, { upstream: `127.0.0.1:${await freePort('udp')}` });
      await Promise.all([
        bothEnd(deaf, { code: 4002, reason: 'the game server does not answer' }),
        bothEnd(alone, { code: 4005, reason: 'the game server is down' }),
      ]);
    });
  });
}
