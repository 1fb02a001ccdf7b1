// A server of Teeworlds as Debian has it, and the game's own network code, unchanged, in a page: over the relay with
// --raw, and natively, each with a path that loses 5 % of the datagrams.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { describe, test } from 'node:test';
import { promisify } from 'node:util';
import { missing, startGame } from './game_rig.mjs';
import { startChromium } from '../support/browsers.mjs';
import { share } from '../support/fixture.mjs';
import { PATIENCE_MS } from '../support/patience.mjs';

const { CAUSEWAY_TEEWORLDS_NATIVE } = process.env;
const BOUND = { timeout: PATIENCE_MS };
/** It ends with the frame in which it has 400. */
const PLAYED = /^(4\d\d) snapshots in (\d+) ticks$/m;

const report = (t, way, said) => {
  assert.match(said, PLAYED);
  const [snapshots, ticks] = PLAYED.exec(said).slice(1).map(Number);
  const share = 1 - snapshots / ticks;
  t.diagnostic(`${way}: ${(share * 100).toFixed(1)} % of the snapshots are missing`);
};

const skip = missing('teeworlds_client.js', 'teeworlds');

describe('Teeworlds', { skip }, () => {
  const browser = share(startChromium);

  test('natively', BOUND, async (t) => {
    const { path } = await startGame(t, 'teeworlds');
    const args = ['127.0.0.1', String(path.port)];
    const { stdout } = await promisify(execFile)(CAUSEWAY_TEEWORLDS_NATIVE, args, BOUND);
    report(t, 'natively', stdout);
    assert.ok(path.counts.downLost > 0);
  });

  test('in a page over WebRTC', BOUND, async (t) => {
    const rig = await startGame(t, 'teeworlds');
    const game = await rig.play(browser(), 'teeworlds_client.js', {
      websocket: { url: `causeway:${rig.relay.url}` },
      blocked: true,
    });
    const said = (await game.until(/^(done$|failed)/m)).join('\n');
    report(t, 'over WebRTC', said);
    const { down, downLost } = rig.path.counts;
    const { transports, datagramsReceived } = await game.stats();
    assert.deepEqual(transports, ['webrtc']);
    assert.deepEqual(await game.complaints(), []);
    // The page has all that the path has not lost.
    assert.ok(downLost > 0);
    assert.ok(datagramsReceived >= 0.98 * (down - downLost), `${datagramsReceived} of ${down}`);
  });
});
