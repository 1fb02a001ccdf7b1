// The core is the same natively and in WebAssembly: one script, one hash over all that it did.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';

// The number of packets each way: more than 65536, so that the sequence numbers wrap.
const PACKETS = 70_000;
// The ticks of a day, 60 times per second.
const TICKS = 24 * 3600 * 60;
const { SCENARIO_NATIVE, SCENARIO_WASM } = process.env;
const { instance } = await WebAssembly.instantiate(readFileSync(SCENARIO_WASM));
instance.exports._initialize();

const native = (scenario, seed, count) =>
  execFileSync(SCENARIO_NATIVE, [scenario, String(seed), String(count)], {
    encoding: 'utf8',
  }).trim();

const wasm = (scenario, seed, count) =>
  BigInt.asUintN(64, instance.exports[scenario](seed, count)).toString(16).padStart(16, '0');

/** Returns the hash, which must be the same on both. */
function hash(scenario, seed, count) {
  const there = native(scenario, seed, count);
  assert.match(there, /^[0-9a-f]{16}$/);
  assert.notEqual(there, '0'.repeat(16));
  assert.equal(wasm(scenario, seed, count), there);
  return there;
}

const seen = new Set();

for (const seed of [1, 2, 0xffffffff])
  test(`packets, seed ${seed}: the same hash natively and in WebAssembly`, () => {
    seen.add(hash('packets', seed, PACKETS));
  });

test('the hash depends on the seed and on every packet', () => {
  assert.equal(seen.size, 3);
  assert.notEqual(native('packets', 1, PACKETS - 1), native('packets', 1, PACKETS));
});

test('a day of prediction: the same hash natively and in WebAssembly', () => {
  hash('prediction', 1, TICKS);
});

test('that hash too depends on the seed and on every tick', () => {
  const hashes = [1, 2].flatMap((seed) =>
    [1000, 1001].map((count) => hash('prediction', seed, count)),
  );
  assert.equal(new Set(hashes).size, 4);
});
