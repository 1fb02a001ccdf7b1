import assert from 'node:assert/strict';
import { once } from 'node:events';
import { describe, test } from 'node:test';
import { patiently, sleep, until } from '../support/patience.mjs';
import { startProgram } from '../support/programs.mjs';
import { startRelay } from '../support/relay.mjs';
import { startUdpServer } from '../support/udp_server.mjs';

const SIZE = 500;
const FRAME = SIZE + 4;

// The milliseconds from which a datagram counts as stale: more than the relay keeps it and a machine that is busy with
// other things adds, and less than a stall.
const STALE_MS = 2000;

/** Sends to the first client at 60 Hz from its first datagram on; resolves with the number sent. */
async function sendStates(server, seconds) {
  await until('the client', () => server.addresses.size !== 0, 5);
  const [address] = server.addresses.values();
  const start = performance.now();
  let sent = 0;
  while (sent < seconds * 60) {
    const due = Math.floor((performance.now() - start) * 0.06);
    for (; sent < due && sent < seconds * 60; sent++) {
      const data = Buffer.alloc(SIZE, sent & 0xff);
      data.writeBigUInt64LE(process.hrtime.bigint());
      server.send(data, address);
    }
    await sleep(4);
  }
  return sent;
}

async function stall(t, { seconds, receiveBuffer, sendSeconds = seconds + 1, args = [] }) {
  const server = await startUdpServer(t, { answer: () => null });
  const relay = await startRelay(t, { upstream: server.upstream, args });
  const child = startProgram(t, process.env.CAUSEWAY_STALL, [relay.port, seconds, receiveBuffer], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let output = '';
  child.stdout.on('data', (text) => (output += text));
  const closed = once(child, 'close');
  const sent = await sendStates(server, sendSeconds);
  const sentStats = await relay.stats();
  const [code] = await patiently(closed, 'the client to end');
  assert.equal(code, 0);
  const { buffered, datagrams } = JSON.parse(output);
  const ages = datagrams.map(({ sent, read }) => (read - sent) / 1000);
  return { sent, buffered, datagrams, ages, sentStats, stats: await relay.stats() };
}

// These tests wait most of the time, each for its own relay.
describe('a receiver that stalls', { concurrency: true }, () => {
  test('after a stall of 10 s, what is old is what the receiver held itself', async (t) => {
    const { sent, buffered, datagrams, ages, stats } = await stall(t, {
      seconds: 10,
      receiveBuffer: 32768,
    });
    const stale = ages.filter((age) => age > STALE_MS).length * FRAME;
    const message = `${stale} stale bytes, ${buffered} held by the receiver, ${datagrams.length} of ${sent} datagrams read`;
    t.diagnostic(message);
    // Beyond that, only the bytes may be stale that the relay's kernel had taken: its unsent limit and a write or two.
    assert.ok(stale <= buffered + 12288, message);
    assert.ok(buffered < 100_000, 'the receiver cannot have held it all');
    assert.ok(
      ages.slice(-30).every((age) => age < STALE_MS),
      'the flow is fresh again',
    );
    for (const { size } of datagrams) assert.equal(size, SIZE);
    assert.ok(
      datagrams.every(({ sent }, i) => i === 0 || sent >= datagrams[i - 1].sent),
      'in order',
    );
    assert.ok(stats.dropped_age > 0);
    assert.equal(stats.dropped_bytes, 0);
    // Every datagram is accounted for.
    assert.equal(stats.upstream_datagrams, sent);
    assert.equal(stats.delivered_datagrams, datagrams.length);
    assert.equal(
      sent,
      stats.delivered_datagrams + stats.dropped_age + stats.dropped_bytes + stats.dropped_closing,
    );
  });

  test('the queue is bounded in bytes too, and drops the oldest', async (t) => {
    const { sent, buffered, datagrams, ages, stats } = await stall(t, {
      seconds: 4,
      receiveBuffer: 4096,
      args: ['--queue-age', '60', '--queue-bytes', String(10 * FRAME)],
    });
    assert.ok(stats.dropped_bytes > 0);
    assert.equal(stats.dropped_age, 0);
    assert.equal(stats.delivered_datagrams, datagrams.length);
    assert.equal(sent, datagrams.length + stats.dropped_bytes + stats.dropped_closing);
    const stale = ages.filter((age) => age > STALE_MS).length * FRAME;
    assert.ok(stale <= buffered + 10 * FRAME + 12288, `${stale} stale bytes, ${buffered} held`);
  });

  test('what grew old while nothing new came is not sent either', async (t) => {
    const { sent, datagrams, sentStats, stats } = await stall(t, {
      seconds: 5,
      sendSeconds: 3,
      receiveBuffer: 4096,
    });
    assert.equal(
      stats.delivered_datagrams,
      sentStats.delivered_datagrams,
      'nothing more after the stall',
    );
    assert.ok(stats.dropped_age > sentStats.dropped_age, 'what waited was dropped');
    assert.equal(datagrams.length, stats.delivered_datagrams);
    assert.equal(sent, stats.delivered_datagrams + stats.dropped_age + stats.dropped_closing);
  });
});
