// A lost packet does not hold up the next one on a data channel, and does on a WebSocket.
import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';

const namespaces = ['-Urn'];
const possible = spawnSync('unshare', [...namespaces, 'ip', 'tuntap', 'add', 'dev', 'cw0', 'mode', 'tun']);

test('5 % loss at 100 ms RTT', { skip: possible.status !== 0 && `no namespace: ${possible.stderr}` }, (t) => {
  const script = fileURLToPath(new URL('../support/head_of_line.mjs', import.meta.url));
  const output = execFileSync('unshare', [...namespaces, process.execPath, script]);
  const { rtt, clean, lossy } = JSON.parse(output);
  t.diagnostic(String(output));
  // Both ways lose 5 %, so 0.95 * 0.95 of the round trips are made.
  assert.ok(lossy.webrtc.delivered > 0.8 && lossy.webrtc.delivered < 0.97);
  assert.ok(lossy.webrtc.median < clean.webrtc.median + 10);
  assert.ok(lossy.webrtc.p99 < clean.webrtc.median + rtt);
  assert.equal(lossy.websocket.delivered, 1);
  assert.ok(lossy.websocket.p99 > clean.websocket.median + rtt);
});
