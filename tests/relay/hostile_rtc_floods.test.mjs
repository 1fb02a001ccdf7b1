// Floods of packets to the WebRTC port, with honest players beside them.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import test from 'node:test';
import { memory, startRig } from './hostile_rig.mjs';
import { startAttack } from './hostile_rtc_attack.mjs';

const PEERS = 5;
// An ordinary WebRTC session takes some 75 KB, and may have 16 KB of parts of messages.
const PEER_KB = 128;

// An honest datagram that the server answers is the measure of the others: the relay does no more
// for any packet.
const MEASURE = 'no_sacks';
const floods = [
  'unknown_check',
  'forged_check',
  'right_check',
  'unknown_dtls',
  'early_dtls',
  'known_dtls',
  'connected_dtls',
  'sctp_init',
  'sctp_gaps',
  'sctp_duplicates',
  'sctp_forward',
  'sctp_sacks',
  'sctp_heartbeats',
  'sctp_resets',
  'zero_window',
];

/** Microseconds of processor time that a process has used. */
const work = ({ pid }) =>
  Number(readFileSync(`/proc/${pid}/schedstat`, 'ascii').split(' ')[0]) / 1e3;

test('floods of STUN, DTLS and SCTP cost nobody a datagram', { timeout: 300_000 }, async (t) => {
  const rig = await startRig(t, { sessions: 5, rtcSessions: 3 });
  let measure;
  for (const name of [MEASURE, ...floods]) {
    await t.test(name, async () => {
      const held = memory(rig.relay);
      const attack = await startAttack(t, rig.relay, name, { peers: PEERS });
      const before = work(rig.relay);
      for (const rtc of [false, true]) await rig.newcomer({ rtc });
      const { sent, sentBytes, received, receivedBytes } = await attack.ended();
      const each = (work(rig.relay) - before) / sent;
      measure ??= each;
      assert.ok(sent > 500, `${sent} packets are a flood`);
      assert.ok(received <= sent * 1.5 + 50, `${received} replies to ${sent} packets`);
      assert.ok(receivedBytes <= sentBytes * 2 + 20_000, `${receivedBytes} for ${sentBytes} bytes`);
      assert.ok(each <= measure * 4, `${each} us of work for each, ${measure} for a datagram`);
      const grown = memory(rig.relay) - held;
      if (!process.env.CAUSEWAY_SANITIZED)
        assert.ok(grown <= PEERS * PEER_KB + 2048, `${grown} KB more memory`);
    });
  }
  await rig.check();
});
