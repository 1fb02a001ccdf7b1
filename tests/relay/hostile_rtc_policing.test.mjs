// A player with an open channel floods the port that all share: packets beyond an allowance are dropped unread and
// counted, and nobody else loses anything. relay.rtc_policing counts what that saves.
import test from 'node:test';
import { startRig } from './hostile_rig.mjs';
import { startAttack } from './hostile_rtc_attack.mjs';
import { until } from '../support/patience.mjs';
import { statsUntil } from '../support/relay.mjs';

for (const [name, what] of Object.entries({
  sctp_heartbeats: 'its own packets',
  connected_dtls: 'what only looks like them',
  right_check: 'checks',
}))
  test(`who floods with ${what} is policed`, async (t) => {
    const args = ['--upstream-packets', '60'];
    const rig = await startRig(t, { sessions: 2, rtcSessions: 3, args });
    await rig.relay.logged(/ webrtc: a receive buffer of \d+ bytes/);
    let sent = 0;
    let policed = 0;
    // A busy machine may send too slowly for once, so it may try again.
    await until('a policed packet', async () => {
      const attack = await startAttack(t, rig.relay, name, { peers: 1, seconds: 1 });
      await rig.newcomer({ rtc: true });
      ({ sent } = await attack.ended());
      ({ rtc_packets_policed: policed } = await statsUntil(rig.relay, () => true));
      return policed > 0;
    });
    t.diagnostic(`${policed} of ${sent} packets were dropped unread`);
    await rig.check();
  });
