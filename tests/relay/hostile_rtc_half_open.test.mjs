// The memory that strangers take with WebRTC connections which they do not open.
import assert from 'node:assert/strict';
import test from 'node:test';
import { startRig } from './hostile_rig.mjs';
import { startAttack } from './hostile_rtc_attack.mjs';
import { memoryOf } from '../support/programs.mjs';

// The kilobytes of memory that each peer may hold, as relay/SECURITY.md says.
const MOST_KB = 16;
const sanitized = Boolean(process.env.CAUSEWAY_SANITIZED);

const cases = {
  'before a ClientHello': { name: 'hold_before_hello', peers: 200, rounds: 110 },
  // More peers than may be in a handshake at a time, and nearly as many as may be half open: those that have not had
  // their turn at a handshake are not evicted.
  'after one': { name: 'hold_after_hello', peers: sanitized ? 400 : 2000, rounds: 12 },
};
for (const [when, { name, peers, rounds }] of Object.entries(cases)) {
  test(`what is not open yet holds at most ${MOST_KB} KB, ${when}`, async (t) => {
    const args = ['--max-sessions', '4000', '--max-sessions-per-address', '0'];
    const rig = await startRig(t, { sessions: 5, rtcSessions: 3, args });
    await rig.newcomer({ rtc: true });
    const before = memoryOf(rig.relay.pid);
    const seconds = 3;
    const rate = (peers * rounds) / seconds;
    const attack = await startAttack(t, rig.relay, name, { peers, rate, seconds });
    await rig.newcomer();
    const { sent } = await attack.ended();
    const each = (memoryOf(rig.relay.pid) - before) / peers;
    assert.ok(sent >= peers * 2, `${sent} packets of ${peers} peers`);
    if (!sanitized) assert.ok(each <= MOST_KB, `${each} KB for each of ${peers}`);
    await rig.newcomer({ rtc: true });
    await rig.check();
  });
}
