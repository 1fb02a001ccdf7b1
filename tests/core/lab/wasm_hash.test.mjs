// Tests that every protocol of the lab does the same natively and in WebAssembly, by one hash over all that happened.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { Headers } from '../../../wasm/headers.mjs';

const headers = new Headers();
const { LAB_HASHES, LAB_WASM } = process.env;
const { instance } = await WebAssembly.instantiate(readFileSync(LAB_WASM), {
  causeway: { random: () => assert.fail('the lab needs no random bytes') },
});
const { exports } = instance;
exports._initialize();

const WRITERS = { bool: 'setUint8', u32: 'setUint32', f64: 'setFloat64', u64: 'setBigUint64' };

/** Writes some members of a struct. */
const write = (address, struct, values) => {
  const view = new DataView(exports.memory.buffer);
  for (const { name, reader, place } of headers.layout(struct).fields)
    if (name in values) view[WRITERS[reader]](address + place, values[name], true);
};

const create = (protocol, seed) => {
  const config = exports.allocate(64);
  exports.cw_lab_column_config_default(config);
  write(config, 'cw_lab_column_config', { protocol, seed: BigInt(seed) });
  assert.equal(exports.cw_lab_column_create(config, config), 0);
  const column = new DataView(exports.memory.buffer).getUint32(config, true);
  exports.release(config);
  return column;
};

const inWasm = (protocol, ticks, seed, settings) => {
  const column = create(protocol, seed);
  const room = exports.allocate(headers.layout('cw_lab_settings').size);
  write(room, 'cw_lab_settings', { states: 1, floodBytesPerSecond: 0, ...settings });
  assert.equal(exports.cw_lab_column_change(column, room), 0);
  exports.cw_lab_column_step(column, ticks);
  const hash = BigInt.asUintN(64, exports.cw_lab_column_hash(column));
  exports.cw_lab_column_destroy(column);
  exports.release(room);
  return hash.toString(16).padStart(16, '0');
};

const natively = (...numbers) =>
  execFileSync(LAB_HASHES, numbers.map(String), { encoding: 'utf8' })
    .trim()
    .split('\n')
    .map((line) => line.split(' '));

const NETWORKS = {
  'a good path': { rttSeconds: 0.02, jitterSeconds: 0, loss: 0, burstLength: 1 },
  'loss at random': { rttSeconds: 0.1, jitterSeconds: 0.03, loss: 0.2, burstLength: 1 },
  'loss in bursts': { rttSeconds: 0.3, jitterSeconds: 0.01, loss: 0.1, burstLength: 5 },
  'a narrow path': {
    ...{ rttSeconds: 0.6, jitterSeconds: 0.05, loss: 0.01, burstLength: 1 },
    ...{ bytesPerSecond: 30_000, queueBytes: 16_384 },
  },
};
const TICKS = 1200;
const seen = new Set();

for (const [network, path] of Object.entries(NETWORKS))
  for (const seed of [1, 2])
    test(`${network}, seed ${seed}: the same hash natively and in WebAssembly`, () => {
      const settings = {
        ...{ bytesPerSecond: 0, queueBytes: 65_536, messageEvery: 2, blocks: seed - 1 },
        ...path,
      };
      const { rttSeconds, jitterSeconds, loss, burstLength } = settings;
      const { bytesPerSecond, queueBytes, messageEvery, blocks } = settings;
      const native = natively(
        ...[TICKS, seed, rttSeconds, jitterSeconds, loss, burstLength],
        ...[bytesPerSecond, queueBytes, messageEvery, blocks],
      );
      assert.equal(native.length, exports.cw_lab_protocol_count());
      native.forEach(([name, hash], protocol) => {
        assert.equal(inWasm(protocol, TICKS, seed, settings), hash, name);
      });
      seen.add(native[0][1]);
    });

test('every path had a hash of its own', () => {
  assert.equal(seen.size, 2 * Object.keys(NETWORKS).length);
});
