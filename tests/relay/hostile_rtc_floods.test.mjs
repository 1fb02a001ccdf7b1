// Floods of packets to the WebRTC port, with honest players beside them.
import assert from 'node:assert/strict';
import test from 'node:test';
import { startRig } from './hostile_rig.mjs';
import { startAttack } from './hostile_rtc_attack.mjs';
import { memoryOf } from '../support/programs.mjs';

const PEERS = 5;
// A WebRTC session takes some 60 KB, and may have 16 KB of parts of messages; an allocator keeps some more for all of
// them.
const PEER_KB = 96;
const ALL_KB = 256;

const sanitized = Boolean(process.env.CAUSEWAY_SANITIZED);
// The most replies that 100 packets may get. hostile_rtc_work.c bounds the work of each.
const floods = {
  no_sacks: 150,
  unknown_check: 0,
  forged_check: 0,
  right_check: 100,
  unknown_dtls: 0,
  early_dtls: 0,
  known_dtls: 5,
  connected_dtls: 5,
  sctp_init: 5,
  sctp_gaps: 110,
  sctp_duplicates: 110,
  sctp_forward: 110,
  sctp_sacks: 110,
  sctp_heartbeats: 110,
  sctp_resets: 110,
  zero_window: 150,
};

test('floods of STUN, DTLS and SCTP cost nobody a datagram', async (t) => {
  const rig = await startRig(t, { sessions: 5, rtcSessions: 3 });
  for (const [name, replies] of Object.entries(floods)) {
    await t.test(name, async () => {
      const before = memoryOf(rig.relay.pid);
      const attack = await startAttack(t, rig.relay, name, { peers: PEERS });
      for (const rtc of [false, true]) await rig.newcomer({ rtc });
      const { sent, sentBytes, received, receivedBytes } = await attack.ended();
      assert.ok(sent > 500, `${sent} packets are a flood`);
      const most = (sent * replies) / 100 + (replies > 0 ? 50 : 0);
      assert.ok(received <= most, `${received} replies to ${sent} packets`);
      assert.ok(receivedBytes <= sentBytes * 2 + 20_000, `${receivedBytes} for ${sentBytes} bytes`);
      const grown = memoryOf(rig.relay.pid) - before;
      if (!sanitized) assert.ok(grown <= PEERS * PEER_KB + ALL_KB, `${grown} KB more memory`);
    });
  }
  await rig.check();
});
