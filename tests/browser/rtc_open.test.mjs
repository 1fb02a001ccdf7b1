// The steps by which the package opens a WebRTC transport to a relay at a distance, in Chromium: the packets that it
// sends for that, and about when it is open.
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { startDelayPath } from '../support/delay_path.mjs';
import { openPackagePage, openingTime, startPackagePage } from '../support/package_page.mjs';
import { startRelay } from '../support/relay.mjs';
import { startUdpServer } from '../support/udp_server.mjs';
import { browsers, startChromium } from '../support/browsers.mjs';
import { share } from '../support/fixture.mjs';

const RTT = 100;

const udp = await startUdpServer(test);
const origin = await startPackagePage(test);
const path = await startDelayPath(test, { rtt: RTT });
const relay = await startRelay(test, {
  upstream: udp.upstream,
  args: [...path.relayOptions, '--origin', origin],
});
path.to(relay);

/** Returns what went through while a transport opened. */
async function watchOpening(page, session, url = path.url) {
  const seen = { 'tcp up': [], 'tcp down': [], 'udp up': [], 'udp down': [] };
  const all = [];
  path.watch = (kind, data) => {
    seen[kind].push(Buffer.from(data));
    all.push({ kind, data });
  };
  const took = await openingTime(page, url, session);
  path.watch = null;
  return { ...seen, all, took };
}

const isDtls = ([type]) => type >= 20 && type <= 63;
const isStun = ([type]) => type <= 3;
/** Returns whether the first STUN message says that DTLS may be embedded in it, or has been received so. */
const knowsEmbedding = (seen) => seen.find(isStun).includes(Buffer.of(0xc0, 0x71));

describe('as it is', () => {
  const page = share(async (t) => openPackagePage(t, await startChromium(t), origin));

  test('a page of another origin posts its offer without asking first', async (t) => {
    const { 'tcp up': up, took } = await watchOpening(page());
    const requests = up.map((data) => data.toString('latin1').split(' ')[0]);
    assert.equal(requests.filter((method) => method === 'POST').length, 1);
    assert.ok(!requests.includes('OPTIONS'));
    t.diagnostic(`open after ${took.toFixed(0)} ms`);
  });

  test('the answer has a candidate that is checked at once', async () => {
    const { 'tcp down': down, 'udp up': up } = await watchOpening(page());
    assert.match(Buffer.concat(down).toString(), new RegExp(`127\\.0\\.0\\.1 ${path.rtcPort} typ`));
    assert.ok(up.some(isStun));
  });

  test('the relay asks for the association with the end of the DTLS handshake', async () => {
    const { all, 'udp down': down } = await watchOpening(page());
    const answered = all.findIndex(({ kind }) => kind === 'tcp down');
    const encrypted = all
      .slice(answered)
      .find(({ kind, data }) => kind !== 'tcp down' && data[0] === 23);
    assert.equal(encrypted.kind, 'udp down');
    assert.equal(knowsEmbedding(down), false);
  });
});

/** Returns the byte that a new transport carried to the server and back. */
const echo = (page, session) =>
  page.evaluate(
    async ([url, session]) => {
      const transport = await globalThis.causeway.WebRtcTransport.connect(url, { session });
      const back = new Promise((resolve) => (transport.ondatagram = ([byte]) => resolve(byte)));
      const timer = setInterval(() => transport.send(Uint8Array.of(7)), 50);
      const byte = await back;
      clearInterval(timer);
      transport.close();
      return byte;
    },
    [path.url, session],
  );

/** Lets the page wait for the relay however slow this machine is. */
const makePatient = (page) =>
  page.evaluate(() => {
    const { setTimeout } = globalThis;
    globalThis.setTimeout = (run, delay, ...values) => setTimeout(run, delay * 100, ...values);
  });

/** Returns the address of the relay with what it tells the page's backend. */
async function urlWithTicket() {
  const headers = { origin };
  const reply = await fetch(`${relay.url}rtc/ticket`, { method: 'POST', headers });
  return `${path.url}#&${encodeURIComponent(await reply.text())}`;
}

for (const [name, start] of Object.entries(browsers))
  test(`${name} asks nothing when it has been here, or its backend has`, async (t) => {
    const browser = await start(t);
    const page = await openPackagePage(t, browser, origin);
    await makePatient(page);
    await openingTime(page, path.url);
    for (const session of ['aaaaaaaaaaaaaaaaaaaaaa', 'bbbbbbbbbbbbbbbbbbbbbb']) {
      const { 'tcp up': requests, took } = await watchOpening(page, session);
      assert.equal(requests.length, 0);
      t.diagnostic(`open after ${took.toFixed(0)} ms`);
    }
    const other = await openPackagePage(t, browser, origin);
    await makePatient(other);
    const { 'tcp up': none } = await watchOpening(other, 'a'.repeat(22), await urlWithTicket());
    assert.equal(none.length, 0);

    const third = await openPackagePage(t, browser, origin);
    let hangs = true;
    path.loses = (kind, data) => {
      hangs &&= kind !== 'tcp up';
      return hangs && kind === 'udp down' && isDtls(data);
    };
    const { 'tcp up': asked } = await watchOpening(third, 'b'.repeat(22), await urlWithTicket());
    assert.ok(asked.length > 0, 'the relay is asked when DTLS hangs');
    delete path.loses;
  });

describe('with what Chromium tries out', () => {
  const trials = 'WebRTC-IceHandshakeDtls/Enabled/WebRTC-Sctp-Snap/Enabled/';
  const page = share(async (t) =>
    openPackagePage(t, await startChromium(t, `--force-fieldtrials=${trials}`), origin),
  );

  test('the relay takes DTLS that is embedded in the checks', async (t) => {
    await openingTime(page(), path.url);
    const { 'udp up': up, 'udp down': down, took } = await watchOpening(page());
    assert.ok(knowsEmbedding(up), 'the browser embeds');
    assert.ok(knowsEmbedding(down), 'the relay says that it knows');
    t.diagnostic(`open after ${took.toFixed(0)} ms`);
    // A side does not repeat messages that it knows to have arrived: the rest of the ClientHello comes at most twice.
    assert.ok(up.filter(isDtls).filter((data) => data[13] === 1).length <= 2);
  });

  // A browser whose INIT was answered sends no other, and the relay takes none.
  test('the relay takes an INIT in the offer, and one with a ticket', async (t) => {
    await makePatient(page());
    const { 'tcp down': answer } = await watchOpening(page());
    assert.match(Buffer.concat(answer).toString(), /a=sctp-init:/);
    const { 'tcp up': requests, took } = await watchOpening(page(), 'cccccccccccccccccccccc');
    assert.equal(requests.length, 0);
    t.diagnostic(`open after ${took.toFixed(0)} ms`);
    for (const session of [undefined, 'dddddddddddddddddddddd'])
      assert.equal(await echo(page(), session), 7);
  });
});
