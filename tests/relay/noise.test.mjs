import assert from 'node:assert/strict';
import net from 'node:net';
import test from 'node:test';
import { patiently } from '../support/patience.mjs';
import { SEED, choicesFrom } from '../support/random.mjs';
import { startRelay } from '../support/relay.mjs';
import { startUdpServer } from '../support/udp_server.mjs';
import { connect, handshake as opening } from '../support/websocket.mjs';

const CONNECTIONS = 600;
const handshake = Buffer.from(opening);

/** Makes a frame of any kind: text, control frames, wrong operations, wrong lengths, fragments, no mask. */
function frame(random) {
  const operation = random.pick([0, 1, 2, 2, 2, 2, 8, 9, 10, 3, 15]);
  const first = operation | (random.chance(0.75) ? 0x80 : 0) | (random.chance(0.05) ? 0x40 : 0);
  const mask = random.chance(0.95) ? 0x80 : 0;
  const size = random.pick([0, 1, 5, 125, 126, 500, 1400, 1401, 3000, random.below(20_000)]);
  let header;
  if (random.chance(0.02)) header = Buffer.concat([Buffer.from([0x82, 0xff]), random.bytes(8)]);
  else if (size < 126) header = Buffer.from([first, mask | size]);
  else header = Buffer.from([first, mask | 126, size >> 8, size & 0xff]);
  return Buffer.concat([header, mask ? random.bytes(4) : Buffer.alloc(0), random.bytes(size)]);
}

function noise(random) {
  if (random.chance(0.15)) return random.bytes(1 + random.below(3000));
  if (random.chance(0.2)) {
    const damaged = Buffer.from(handshake);
    for (let n = 1 + random.below(5); n > 0; n--)
      damaged[random.below(damaged.length)] = random.below(256);
    return damaged;
  }
  return Buffer.concat([
    handshake,
    ...Array.from({ length: random.below(12) }, () => frame(random)),
  ]);
}

/** Makes one connection: noise in pieces, then an end or a reset, sometimes before the reply is read. */
async function disturb(relay, random) {
  const socket = net.connect(relay.port, '127.0.0.1');
  const closed = new Promise((resolve) => socket.once('close', resolve));
  const bytes = noise(random);
  const reads = random.chance(0.7);
  const resets = random.chance(0.3);
  socket.on('error', () => {});
  if (reads) socket.resume();
  for (let at = 0; at < bytes.length;) {
    const size = random.pick([1, 7, 100, 1400, 100_000]);
    socket.write(bytes.subarray(at, at + size));
    at += size;
    if (random.chance(0.05)) await new Promise((resolve) => setImmediate(resolve));
  }
  if (resets) socket.resetAndDestroy();
  else socket.end();
  if (!reads) socket.resume();
  await patiently(closed, `the end of a connection (seed ${SEED})`);
}

test('noise ends connections, never the relay', async (t) => {
  t.diagnostic(`CAUSEWAY_SEED=${SEED}`);
  const random = choicesFrom(SEED);
  const server = await startUdpServer(t);
  const relay = await startRelay(t, {
    upstream: server.upstream,
    args: ['--max-sessions', '20', '--idle-timeout', '1', '--ping-interval', '1'],
  });
  const workers = Array.from({ length: 8 }, async () => {
    for (let n = 0; n < CONNECTIONS / 8; n++) await disturb(relay, random);
  });
  await Promise.all(workers);
  const client = await connect(t, relay);
  client.send(Buffer.from('still there?'));
  await client.received(1);
  assert.equal(client.messages[0].data.toString(), 'still there?');
  relay.kill('SIGTERM');
  assert.deepEqual(await relay.ended(), { code: 0, signal: null });
});
