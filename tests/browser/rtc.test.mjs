// Data channels of real browsers through the real relay, with a page as small as can be.
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { negotiated, unreliable } from '../support/rtc.mjs';
import { browsers } from '../support/browsers.mjs';
import { startRelay } from '../support/relay.mjs';
import { startUdpServer } from '../support/udp_server.mjs';
import { startUdpPath } from '../support/udp_path.mjs';
import { until } from '../support/patience.mjs';
import { share } from '../support/fixture.mjs';
import { openPage } from '../support/chat_page.mjs';

const root = fileURLToPath(new URL('page', import.meta.url));
const sizes = [1, 2, 100, 1100, 1160, 1161, 1300, 1400];
const udp = await startUdpServer(test);
const relay = await startRelay(test, {
  upstream: udp.upstream,
  args: ['--rtc', '127.0.0.1:0', '--root', root, '--log-level', 'debug'],
});

const sessions = async () => (await relay.stats()).sessions_open;

for (const [name, start] of Object.entries(browsers)) {
  describe(name, () => {
    const page = share(async (t) => openPage(t, await start(t), relay));

    /** Calls a function of the page(). */
    const call = (what, ...values) =>
      page().evaluate(([name, args]) => globalThis[name](...args), [what, values]);

    for (const [kind, options] of Object.entries({ unreliable, negotiated })) {
      test(`a channel that is ${kind} carries datagrams of every size`, async () => {
        assert.deepEqual(
          await call('echo', options, sizes),
          sizes.map((size) => [size, true]),
        );
        assert.equal(await sessions(), 1);
        await page().evaluate(() => globalThis.connection.peer.close());
        await until('the session is closed', async () => (await sessions()) === 0);
      });
    }

    test('a channel that is reliable or ordered is refused, and the page is told', async () => {
      for (const options of [{}, { ordered: false }, { maxRetransmits: 0 }]) {
        const from = relay.log().length;
        const error = await call('refused', options);
        await relay.logged(/must have ordered: false/, from);
        if (name === 'Chromium') assert.match(error, /must have ordered: false/);
      }
    });

    test('dc.close() ends on both sides', async () => {
      await call('echo', unreliable, [10]);
      await page().evaluate(async () => {
        globalThis.connection.channel.close();
        await globalThis.connection.closed;
        globalThis.connection.peer.close();
      });
      await until('the session is closed', async () => (await sessions()) === 0);
    });

    test('DELETE ends on both sides', async () => {
      await call('echo', unreliable, [10]);
      const status = await page().evaluate(async () => {
        const reply = await fetch(globalThis.connection.location, { method: 'DELETE' });
        await globalThis.connection.closed;
        return reply.status;
      });
      assert.equal(status, 200);
      assert.equal(await sessions(), 0);
    });

    // The browser moves as when a NAT gives it another port, of which it knows nothing. Its checks would show the new
    // one, but come seconds apart: none passes before its datagrams come back.
    test('a browser that moves goes on without a check', async (t) => {
      let moved = false;
      const path = await startUdpPath(t, relay.rtcPort, ([type]) => moved && type <= 3);
      const { rtc_offers: offers } = await relay.stats();
      await call('stream', unreliable, path.port);
      const arrived = () => page().evaluate(() => globalThis.connection.arrived.length);
      const comeBack = async () => {
        const before = await arrived();
        await until('datagrams come back', async () => (await arrived()) > before + 60);
      };
      await comeBack();
      for (let moves = 0; moves < 3; moves++) {
        moved = true;
        path.roam();
        await comeBack();
        moved = false;
      }
      const now = await relay.stats();
      assert.equal(now.rtc_offers, offers + 1);
      assert.equal(now.sessions_open, 1);
      await page().reload();
      await until('the session is closed', async () => (await sessions()) === 0);
    });

    test('a page that is left frees its session at once', async () => {
      await call('echo', unreliable, [10]);
      assert.equal(await sessions(), 1);
      await page().reload();
      await until('the session is closed', async () => (await sessions()) === 0);
      assert.deepEqual(await call('echo', unreliable, [10]), [[10, true]]);
      await page().evaluate(() => globalThis.connection.peer.close());
      await until('the session is closed', async () => (await sessions()) === 0);
    });
  });
}
