import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Simulator, loadServer } from '../support/causeway.mjs';

const core = await loadServer();
const bytes = (...values) => new Uint8Array(values);

/** Returns what comes out when a hundred datagrams go in, one every 10 ms. */
const run = (config) => {
  const simulator = new Simulator(core, config);
  const out = [];
  for (let i = 0; i < 200; i++) {
    const now = i / 100;
    if (i < 100) simulator.receive(bytes(i), now);
    for (let d = simulator.transmit(now); d; d = simulator.transmit(now)) out.push([i, d[0]]);
  }
  return { out, stats: simulator.stats() };
};

test('a path is perfect unless told otherwise', () => {
  const { out, stats } = run({});
  assert.deepEqual(
    out,
    Array.from({ length: 100 }, (_, i) => [i, i]),
  );
  assert.equal(stats.datagramsTransmitted, 100);
});

test('latency delays, and due tells until when', () => {
  const simulator = new Simulator(core, { latencySeconds: 0.25 });
  assert.equal(simulator.due, Infinity);
  simulator.receive(bytes(1, 2), 1);
  assert.equal(simulator.due, 1.25);
  assert.equal(simulator.transmit(1.2), undefined);
  assert.deepEqual(simulator.transmit(1.25), bytes(1, 2));
});

test('the same seed gives the same losses, another one others', () => {
  const lossy = (seed) => run({ seed, loss: 0.3, duplicate: 0.1, jitterSeconds: 0.05 });
  assert.deepEqual(lossy(1), lossy(1));
  assert.notDeepEqual(lossy(1).out, lossy(2).out);
  const { stats } = lossy(1);
  assert.ok(stats.datagramsLost > 10 && stats.datagramsLost < 60);
  assert.ok(stats.datagramsDuplicated > 0);
});

test('a path can be changed under way', () => {
  const simulator = new Simulator(core, { loss: 1 });
  simulator.receive(bytes(1), 0);
  assert.equal(simulator.transmit(1), undefined);
  simulator.change({});
  simulator.receive(bytes(2), 1);
  assert.deepEqual(simulator.transmit(1), bytes(2));
});

test('what cannot work is refused', () => {
  for (const config of [{ loss: 2 }, { latencySeconds: -1 }, { maxDatagrams: 0 }])
    assert.throws(() => new Simulator(core, config), {
      code: 'CONFIG',
      field: Object.keys(config)[0],
    });
  const simulator = new Simulator(core);
  assert.throws(() => simulator.receive(new Uint8Array(1401), 0), { code: 'PACKET_TOO_LARGE' });
});
