// Floods of WebRTC offers, with honest players beside them.
import assert from 'node:assert/strict';
import test from 'node:test';
import { startRig } from './hostile_rig.mjs';
import { ask } from '../support/http.mjs';

const offer = [
  'v=0',
  'o=- 1 1 IN IP4 127.0.0.1',
  's=-',
  't=0 0',
  'a=group:BUNDLE 0',
  'm=application 9 UDP/DTLS/SCTP webrtc-datachannel',
  'c=IN IP4 0.0.0.0',
  'a=ice-ufrag:brow',
  'a=ice-pwd:0123456789012345678901',
  `a=fingerprint:sha-256 ${Array(32).fill('00').join(':')}`,
  'a=setup:actpass',
  'a=mid:0',
  'a=sctp-port:5000',
  '',
].join('\r\n');

/** Makes a request from one of the attacker's addresses, 127.3.0.x; returns status and headers. */
const send = (relay, from, method, path, body) =>
  ask(relay.port, path, {
    method,
    body,
    localAddress: `127.3.0.${from}`,
    headers: { 'content-type': 'application/sdp' },
  });

/** An offer waits for so long for its browser (PEER_CHECK_SECONDS). */
const CHECK_SECONDS = 10;

const makeOffer = (relay, from) => send(relay, from, 'POST', '/rtc', offer);

/**
 * Makes `count` offers from each of 127.3.0.1 to 127.3.0.`addresses`, a few at a time; `took` is called with each that
 * was answered. Returns the refusals.
 */
async function flood(relay, { addresses, count, took = () => {} }) {
  const refusals = [];
  let made = 0;
  const worker = async () => {
    while (made < addresses * count) {
      const from = 1 + (made++ % addresses);
      const reply = await makeOffer(relay, from);
      if (reply.status === 201) await took(reply, from);
      else refusals.push(reply);
    }
  };
  await Promise.all(Array.from({ length: 25 }, worker));
  return refusals;
}

test('one address that takes its offers back makes no more of them', async (t) => {
  const rig = await startRig(t, { rtcSessions: 2 });
  const refusals = await flood(rig.relay, {
    addresses: 1,
    count: 1000,
    took: async ({ headers }, from) => {
      const reply = await send(rig.relay, from, 'DELETE', headers.location);
      assert.equal(reply.status, 200);
    },
  });
  assert.ok(refusals.length >= 600, `${refusals.length} of 1,000 offers refused`);
  for (const { status, headers, text } of refusals) {
    assert.equal(status, 429);
    assert.ok(Number(headers['retry-after']) >= 1);
    assert.match(text, /Too many offers/);
  }
  assert.equal((await rig.relay.stats()).rtc_offers_limited, refusals.length);
  for (const rtc of [false, true]) await rig.newcomer({ rtc });
  await rig.check();
});

test('25 addresses keep no newcomer out', async (t) => {
  // The limit of sessions is so high that all may wait that can.
  const rig = await startRig(t, { rtcSessions: 2, args: ['--max-sessions', '5000'] });
  const began = performance.now();
  for (const last of [false, true]) {
    const flooding = flood(rig.relay, { addresses: 25, count: last ? 20 : 120 });
    for (const rtc of [false, true, true]) await rig.newcomer({ rtc });
    await flooding;
  }
  const { rtc_offers_evicted } = await rig.relay.stats();
  // On a slow machine the first have expired before too many wait.
  const slow = performance.now() - began > 1000 * CHECK_SECONDS;
  assert.ok(slow || rtc_offers_evicted > 0, 'so many offers that some had to go');
  await rig.newcomer({ rtc: true });
  await rig.check();
});

test('thirty players behind one address may all come back at once, three times', async (t) => {
  const rig = await startRig(t, { rtcSessions: 1 });
  const refusals = await flood(rig.relay, { addresses: 1, count: 90 });
  assert.equal(refusals.length, 0);
  await rig.check();
});
