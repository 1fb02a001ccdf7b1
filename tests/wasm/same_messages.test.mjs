// Random messages: the package writes the bytes that the functions of a stream and a schema write in C.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { test } from 'node:test';
import { doubleOf, floatOf, withBodies } from '../support/bodies.mjs';
import {
  array,
  bool,
  bytes,
  compressedFloat,
  f32,
  f64,
  int,
  int64,
  loadCore,
  optional,
  string,
  struct,
  uint,
  uint64,
} from '../support/causeway.mjs';

const SEED = Number(process.env.SEED ?? 20260401);
const COUNT = 1500;
const core = await loadCore();

/** The kinds by their numbers: each makes the field, and its value from the text of the program and the field there. */
const kinds = [
  [() => bool(), (value) => value],
  [({ min, max }) => int(Number(min), Number(max)), Number],
  [({ min, max }) => uint(Number(min), Number(max)), Number],
  [({ min, max }) => int64(BigInt(min), BigInt(max)), BigInt],
  [({ min, max }) => uint64(BigInt(min), BigInt(max)), BigInt],
  [() => f32(), floatOf],
  [() => f64(), doubleOf],
  [({ low, high, resolution }) => compressedFloat(low, high, resolution), floatOf],
  [({ max }) => bytes(Number(max)), (hex) => new Uint8Array(Buffer.from(hex, 'hex'))],
  [({ max }) => string(Number(max)), (hex) => Buffer.from(hex, 'hex').toString()],
  [({ fields }) => struct(declare(fields)), (values, { fields }) => valueOf(fields, values)],
];

const declare = (fields) =>
  Object.fromEntries(
    fields.map((field, i) => {
      const plain = kinds[field.kind][0](field);
      const whole = field.array > 0 ? array(plain, field.array) : plain;
      return [`field${i}`, field.optional ? optional(plain) : whole];
    }),
  );

const valueOf = (fields, values) => {
  const kept = {};
  fields.forEach((field, i) => {
    const parse = (text) => kinds[field.kind][1](text, field);
    if (values[i] !== null)
      kept[`field${i}`] = field.array > 0 ? values[i].map(parse) : parse(values[i]);
  });
  return kept;
};

test(`random messages are the same bytes in C and in JavaScript (seed ${SEED})`, () => {
  const lines = execFileSync(process.env.RANDOM_MESSAGES, [String(SEED), String(COUNT)], {
    encoding: 'utf8',
    maxBuffer: 1 << 26,
  })
    .trim()
    .split('\n');
  assert.equal(lines.length, COUNT);
  for (const line of lines) {
    const { fields, values, bytes: hex } = JSON.parse(line);
    const message = valueOf(fields, values);
    withBodies(core, declare(fields), (bodies) => {
      assert.equal(Buffer.from(bodies.write(message)).toString('hex'), hex, line);
      assert.deepEqual(bodies.read(Buffer.from(hex, 'hex')), message, line);
    });
  }
});
