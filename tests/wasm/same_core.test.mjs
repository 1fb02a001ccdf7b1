// The core is the same natively and in WebAssembly: one script, one hash over all that it did.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';

// More than 65536 packets each way, so that the sequence numbers wrap.
const PACKETS = 70_000;
const { SCENARIO_NATIVE, SCENARIO_WASM } = process.env;
const { instance } = await WebAssembly.instantiate(readFileSync(SCENARIO_WASM));
instance.exports._initialize();

const hashes = (seed, packets) => ({
  native: execFileSync(SCENARIO_NATIVE, [String(seed), String(packets)], {
    encoding: 'utf8',
  }).trim(),
  wasm: BigInt.asUintN(64, instance.exports.scenario(seed, packets)).toString(16).padStart(16, '0'),
});

const seen = new Set();

for (const seed of [1, 2, 0xffffffff])
  test(`seed ${seed}: the same hash natively and in WebAssembly`, () => {
    const { native, wasm } = hashes(seed, PACKETS);
    assert.match(native, /^[0-9a-f]{16}$/);
    assert.equal(wasm, native);
    seen.add(native);
  });

test('the hash depends on the seed and on every packet', () => {
  assert.equal(seen.size, 3);
  assert.notEqual(hashes(1, PACKETS - 1).native, hashes(1, PACKETS).native);
});
