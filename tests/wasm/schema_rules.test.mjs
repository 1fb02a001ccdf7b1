// Fields that depend on earlier ones: their bytes, written here bit by bit, and what is refused.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { withBodies } from '../support/bodies.mjs';
import {
  align,
  array,
  arrayFrom,
  bits,
  bool,
  bytesFrom,
  bytesOf,
  fixedArray,
  fixedBytes,
  int,
  loadCore,
  message,
  optional,
  relative,
  repeat,
  schema,
  sequenceRelative,
  struct,
  when,
} from '../support/causeway.mjs';

const core = await loadCore();

const fields = {
  sequence: bits(16),
  flag: bool(),
  first: when('sequence % 3 == 0 && flag', int(-5, 5)),
  count: int(1, 4),
  gap: align(),
  numbers: repeat('count * 2 - 1', bits(5), 7),
  key: fixedBytes(2),
  next: relative('sequence'),
  later: sequenceRelative('sequence'),
  ids: arrayFrom(relative('next'), 2, 5),
  data: bytesFrom(1, 8),
  tail: bytesOf('count + flag', 5),
  parts: repeat('sequence & 3', struct({ kind: int(0, 3), charge: when('kind > 1', bool()) }), 3),
  two: fixedArray(bool(), 2),
};
const value = {
  sequence: 9,
  flag: true,
  first: -4,
  count: 2,
  numbers: [1, 2, 31],
  key: Uint8Array.of(7, 8),
  next: 10,
  later: 11,
  ids: [11, 13],
  data: Uint8Array.of(5),
  tail: Uint8Array.of(1, 2, 3),
  parts: [{ kind: 2, charge: true }],
  two: [true, false],
};

/** Writes numbers in so many bits each, the least first; a count of 0 aligns. */
const written = (...parts) => {
  let text = '';
  for (const [number, count] of parts)
    if (count === 0) text = text.padEnd(Math.ceil(text.length / 8) * 8, '0');
    else text += [...number.toString(2).padStart(count, '0')].reverse().join('');
  return Uint8Array.from(text.match(/.{1,8}/g), (byte) =>
    parseInt([...byte].reverse().join(''), 2),
  );
};
const bytes = written(
  ...[
    [9, 16],
    [1, 1],
    [1, 4],
    [1, 2],
    [0, 0],
    [1, 5],
    [2, 5],
    [31, 5],
    [0, 0],
    [7, 8],
    [8, 8],
  ],
  ...[
    [1, 1],
    [0, 1],
    [1, 1],
    [0, 3],
    [0, 2],
    [1, 1],
    [0, 1],
    [1, 1],
    [0, 3],
    [0, 3],
    [0, 0],
    [5, 8],
  ],
  ...[
    [1, 8],
    [2, 8],
    [3, 8],
    [2, 2],
    [1, 1],
    [1, 1],
    [0, 1],
  ],
);

test('fields that depend on others have the bytes of a function that tests them', () =>
  withBodies(core, fields, (bodies) => {
    assert.deepEqual(bodies.write(value), bytes);
    assert.deepEqual(bodies.read(bytes), value);
  }));

test('a value that is not as the expressions say is refused', () =>
  withBodies(core, fields, (bodies) => {
    const changes = [
      { first: undefined },
      { numbers: [1, 2] },
      { key: Uint8Array.of(1) },
      { next: 9 },
      { later: 9 },
      { ids: [11] },
      { data: new Uint8Array() },
      { tail: new Uint8Array(4) },
      { two: [true] },
      { parts: [{ kind: 1, charge: true }] },
    ];
    for (const change of changes)
      assert.throws(() => bodies.write({ ...value, ...change }), JSON.stringify(change));
    assert.deepEqual(bodies.write(value), bytes);
  }));

const bad = [
  'later',
  'sequence +',
  'x',
  '',
  'maybe',
  '1a',
  '(sequence',
  'sequence 1',
  'option',
  'list',
  '1'.repeat(19),
];

test('an expression of no earlier field is refused when the schema is made', () => {
  for (const condition of bad)
    assert.throws(
      () =>
        schema(
          message('body', {
            sequence: bits(4),
            option: optional(bits(4)),
            list: array(bits(4), 2),
            maybe: when(condition, bool()),
            later: bool(),
          }),
        ),
      { name: 'RangeError', message: /maybe: .* is no expression of the fields before it/ },
      condition,
    );
});

test('the core refuses an expression that is too long or holds too much at once', () => {
  const deep = (levels) => `${'1 + ('.repeat(levels)}sequence${')'.repeat(levels)}`;
  const long = (count) => Array(count).fill('sequence').join(' + ');
  const made = (condition) =>
    withBodies(core, { sequence: bits(4), maybe: when(condition, bool()) }, () => {});
  made(deep(7));
  made(long(43));
  for (const condition of [deep(8), long(44)])
    assert.throws(() => made(condition), { code: 'SCHEMA_FIELD' });
});

test('a count with a minimum has one that fits', () => {
  for (const [min, max] of [
    [5, 4],
    [-1, 4],
    [0.5, 4],
  ]) {
    assert.throws(() => bytesFrom(min, max), RangeError);
    assert.throws(() => arrayFrom(bool(), min, max), RangeError);
  }
});
