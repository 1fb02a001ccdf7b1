// The interface over which a player plays goes down, and another one takes over.
import assert from 'node:assert/strict';
import { execFile, spawnSync } from 'node:child_process';
import { describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { reportGap } from '../support/player.mjs';

const script = fileURLToPath(new URL('../support/interface_change.mjs', import.meta.url));
const possible = spawnSync('unshare', ['-Urn', 'ip', 'tuntap', 'add', 'dev', 'cw0', 'mode', 'tun']);
const skip = possible.status !== 0 && `no network namespace to be had: ${possible.stderr}`;

const run = promisify(execFile);

describe('another interface takes over', { concurrency: true }, () => {
  for (const transports of [['websocket'], ['webrtc'], ['webrtc', 'websocket']])
    test(`over ${transports.join(' and ')}`, { skip }, async (t) => {
      const words = ['-Urn', process.execPath, script, ...transports];
      const { stdout } = await run('unshare', words, { signal: t.signal });
      const result = JSON.parse(stdout);
      assert.deepEqual(result.states, ['reconnecting', 'connected']);
      reportGap(t, result, 1000);
    });
});
