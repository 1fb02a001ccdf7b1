// Data channels of real browsers through the real relay, with a page as small as can be.
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { startFirefox } from '../support/firefox.mjs';
import { startChromium } from '../support/chromium.mjs';
import { startRelay, startUdpServer } from '../support/relay.mjs';
import { counters, negotiated, startProxy, unreliable, until } from '../support/rtc.mjs';

const root = fileURLToPath(new URL('page', import.meta.url));
const sizes = [1, 2, 100, 1100, 1160, 1161, 1300, 1400];
let udp;
let relay;

before(async () => {
  udp = await startUdpServer();
  relay = await startRelay(
    udp.port,
    '--rtc',
    '127.0.0.1:0',
    '--root',
    root,
    '--log-level',
    'debug',
  );
});

after(async () => {
  await relay.stop();
  await udp.stop();
});

const sessions = async () => (await counters(relay)).sessions_open;

for (const [name, start] of Object.entries({ Chromium: startChromium, Firefox: startFirefox })) {
  describe(name, () => {
    let browser;
    let page;

    before(async () => {
      browser = await start();
      page = await browser.newPage();
      await page.goto(relay.url);
    });

    after(() => browser?.close());

    /** Calls a function of the page. */
    const call = (what, ...values) =>
      page.evaluate(([name, args]) => globalThis[name](...args), [what, values]);

    for (const [kind, options] of Object.entries({ unreliable, negotiated })) {
      test(`a channel that is ${kind} carries datagrams of every size`, async () => {
        assert.deepEqual(
          await call('echo', options, sizes),
          sizes.map((size) => [size, true]),
        );
        assert.equal(await sessions(), 1);
        await page.evaluate(() => globalThis.connection.peer.close());
        await until('the session is closed', async () => (await sessions()) === 0);
      });
    }

    test('a channel that is reliable or ordered is refused, and the page is told', async () => {
      for (const options of [{}, { ordered: false }, { maxRetransmits: 0 }]) {
        const lines = relay.log.length;
        const error = await call('refused', options);
        await until('the reason in the log', () =>
          relay.log.slice(lines).some((line) => line.includes('must have ordered: false')),
        );
        if (name === 'Chromium') assert.match(error, /must have ordered: false/);
      }
    });

    test('dc.close() ends on both sides', async () => {
      await call('echo', unreliable, [10]);
      await page.evaluate(async () => {
        globalThis.connection.channel.close();
        await globalThis.connection.closed;
        globalThis.connection.peer.close();
      });
      await until('the session is closed', async () => (await sessions()) === 0);
    });

    test('DELETE ends on both sides', async () => {
      await call('echo', unreliable, [10]);
      const status = await page.evaluate(async () => {
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
      const proxy = await startProxy(relay.rtcPort, (way, number, [type]) => moved && type <= 3);
      t.after(proxy.close);
      const { rtc_offers: offers } = await counters(relay);
      await call('stream', unreliable, proxy.port);
      const arrived = () => page.evaluate(() => globalThis.connection.arrived.length);
      const comeBack = async () => {
        const before = await arrived();
        await until('datagrams come back', async () => (await arrived()) > before + 60, 20_000);
      };
      await comeBack();
      for (let moves = 0; moves < 3; moves++) {
        moved = true;
        await proxy.roam();
        await comeBack();
        moved = false;
      }
      const now = await counters(relay);
      assert.equal(now.rtc_offers, offers + 1);
      assert.equal(now.sessions_open, 1);
      await page.reload();
      await until('the session is closed', async () => (await sessions()) === 0);
    });

    test('a page that is left frees its session at once', async () => {
      await call('echo', unreliable, [10]);
      assert.equal(await sessions(), 1);
      await page.reload();
      await until('the session is closed', async () => (await sessions()) === 0);
      assert.deepEqual(await call('echo', unreliable, [10]), [[10, true]]);
      await page.evaluate(() => globalThis.connection.peer.close());
      await until('the session is closed', async () => (await sessions()) === 0);
    });
  });
}
