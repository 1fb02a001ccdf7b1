// Messages of the package against the reference: the operations of serialize.json that a field can hold.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { doubleOf, floatOf, withBodies } from '../support/bodies.mjs';
import {
  bits,
  bool,
  compressedFloat,
  f32,
  f64,
  int,
  int64,
  loadCore,
  string,
  uint64,
} from '../support/causeway.mjs';

const folder = process.env.CAUSEWAY_VECTORS;
const skip = folder ? false : 'CAUSEWAY_VECTORS names no folder';
const vectors = skip ? {} : JSON.parse(readFileSync(join(folder, 'serialize.json'), 'utf8'));
const bytesOf = (hex) => new Uint8Array(Buffer.from(hex, 'hex'));
const core = await loadCore();

/** Declarations of the package for the operations, each with the value that it takes for those of the vectors. */
const declared = {
  bits: ({ bits: count, value }) =>
    count <= 32
      ? [bits(count), Number(value)]
      : [uint64(0n, 2n ** BigInt(count) - 1n), BigInt(value ?? 0)],
  bool: ({ value }) => [bool(), value],
  int: ({ min, max, value }) => [int(min, max), value],
  int64: ({ min, max, value }) => [int64(BigInt(min), BigInt(max)), BigInt(value ?? 0)],
  uint64: ({ value }) => [uint64(0n, 2n ** 64n - 1n), BigInt(value ?? 0)],
  float: ({ hex }) => [f32(), floatOf(hex ?? '0')],
  double: ({ hex }) => [f64(), doubleOf(hex ?? '0')],
  compressed_float: ({ value_hex: value, min_hex: min, max_hex: max, res_hex: res }) => [
    compressedFloat(floatOf(min), floatOf(max), floatOf(res)),
    floatOf(value),
  ],
  string: ({ buffer_size: size, value }) => [string(size - 1), value],
};

const signals = (hex) => Number.isNaN(floatOf(hex)) && (parseInt(hex, 16) & 0x400000) === 0;

/** Returns why an operation can be no field of the package; `undefined` for all others. */
const reason = ({ op, buffer_size: size, hex = '0' }) => {
  if (['align', 'bytes', 'int_relative', 'sequence_relative'].includes(op)) return op;
  if (op === 'string' && size === 1) return 'string that is always empty';
  return op === 'float' && signals(hex)
    ? 'signalling NaN, which JavaScript makes quiet'
    : undefined;
};

/** Declares operations as fields, with their values. `before` bits go first, as one more field. */
const declare = (ops, before = 0, low = 0) => {
  const fields = before > 0 ? { before: bits(before) } : {};
  const value = before > 0 ? { before: low } : {};
  ops.forEach((op, i) => ([fields[`field${i}`], value[`field${i}`]] = declared[op.op](op)));
  return { fields, value };
};

/** Returns what a reader gets: only a compressed float differs from what was written. */
const decoded = (op) => (op.decoded_hex ? { ...op, value_hex: op.decoded_hex } : op);

/** Groups operations that follow each other and can be fields; counts the others in `skipped`, by reason. */
const runsOf = (ops, skipped) => {
  const runs = [];
  let run;
  ops.forEach((op, i) => {
    const why = reason(op);
    if (why) skipped[why] = (skipped[why] ?? 0) + 1;
    if (why) run = undefined;
    else if (run) run.ops.push(op);
    else runs.push((run = { first: i, ops: [op] }));
  });
  return runs;
};

/** Returns a case's part of the bytes of a run: from the byte in which it starts to the one in which it ends. */
const partOf = ({ bytes, bits_after: after }, { first, ops }) => {
  const start = first === 0 ? 0 : after[first - 1];
  const end = after[first + ops.length - 1];
  const part = bytesOf(bytes).slice(start >> 3, (end + 7) >> 3);
  if (end % 8 > 0) part[part.length - 1] &= (1 << (end % 8)) - 1;
  const before = start % 8;
  return { part, before, low: before > 0 ? part[0] & ((1 << before) - 1) : 0 };
};

test('the package writes and reads what the reference does', { skip }, (t) => {
  const skipped = {};
  let fields = 0;
  for (const entry of vectors.cases)
    for (const run of runsOf(entry.ops, skipped)) {
      const { part, before, low } = partOf(entry, run);
      const what = JSON.stringify(run.ops);
      const given = declare(run.ops, before, low);
      const expected = declare(run.ops.map(decoded), before, low);
      withBodies(core, given.fields, (bodies) => {
        assert.deepEqual(bodies.write(given.value), part, what);
        assert.deepEqual(bodies.read(part), expected.value, what);
      });
      fields += run.ops.length;
    }
  t.diagnostic(`${fields} operations are fields, skipped: ${JSON.stringify(skipped)}`);
  assert.ok(fields > 1000);
});

test('the package reads what the reference takes', { skip }, (t) => {
  const skipped = {};
  let taken = 0;
  for (const { ops, bytes, note } of vectors.accept) {
    const [run] = runsOf(ops, skipped);
    if (run?.ops.length !== ops.length) continue;
    const { fields, value } = declare(ops);
    withBodies(core, fields, (bodies) =>
      assert.deepEqual(bodies.read(bytesOf(bytes)), value, note),
    );
    taken++;
  }
  t.diagnostic(`${taken} taken, skipped: ${JSON.stringify(skipped)}`);
  assert.ok(taken >= 3);
});

test('the package refuses what the standard does', { skip }, (t) => {
  const skipped = {};
  let refused = 0;
  for (const { ops, bytes, fails_at: last, reason: why } of vectors.refuse) {
    const [run] = runsOf(ops, skipped);
    if (run?.ops.length !== ops.length) continue;
    const read = (count) =>
      withBodies(core, declare(ops.slice(0, count)).fields, (bodies) =>
        bodies.read(bytesOf(bytes)),
      );
    assert.notEqual(read(last), undefined, `before: ${why}`);
    assert.equal(read(last + 1), undefined, why);
    refused++;
  }
  t.diagnostic(`${refused} refused, skipped: ${JSON.stringify(skipped)}`);
  assert.ok(refused > 45);
});
