// Tests in a network of their own, of which only loopback is up.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';

const INSIDE = 'CAUSEWAY_OWN_NETWORK';

/** True when this process is in such a network already. */
export const isInside = Boolean(process.env[INSIDE]);

/** Runs the file of tests again, in a network that `unshare` makes by these options, after `check` has shown that it can. */
export function enterOwnNetwork(file, options, check = 'true') {
  const enter = [options, 'sh', '-c'];
  const tried = spawnSync('unshare', [...enter, `ip link set lo up && ${check}`]);
  const skip = tried.status === 0 ? false : `no network of our own: ${tried.stderr}`;
  test('in a network of its own', { skip }, () => {
    const command = 'ip link set lo up && exec "$0" --test --test-force-exit "$1"';
    const env = { ...process.env, [INSIDE]: 'yes' };
    delete env.NODE_TEST_CONTEXT; // the inner process is no part of this run
    const { status, stdout, stderr } = spawnSync(
      'unshare',
      [...enter, command, process.execPath, fileURLToPath(file)],
      { env, encoding: 'utf8' },
    );
    assert.equal(status, 0, stdout + stderr);
  });
}
