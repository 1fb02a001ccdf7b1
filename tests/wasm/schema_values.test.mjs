// Fields whose values have another form in JavaScript than in the core: their bytes, and what is refused.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { arrivedSchema } from '../../web/dist/messages/arrived_schema.js';
import { withBodies } from '../support/bodies.mjs';
import {
  Connection,
  align,
  array,
  bits,
  bool,
  bytes,
  compressedFloat,
  constant,
  enumeration,
  f32,
  f64,
  fixed,
  flags,
  int,
  int128,
  int64,
  loadCore,
  message,
  optional,
  relative,
  schema,
  string,
  struct,
  uint,
  uint128,
  uint64,
  when,
  wideString,
} from '../support/causeway.mjs';

const core = await loadCore();

const team = enumeration('none', 'red', 'blue');
const names = Array.from({ length: 40 }, (_, i) => `power${i}`);
const powersOf = (bit) => Object.fromEntries(names.map((name, i) => [name, bit(i)]));

/** Checks that a value has these bytes, and comes back from them. */
const check = (fields, value, bytes) =>
  withBodies(core, fields, (bodies) => {
    assert.deepEqual([...bodies.write(value)], bytes);
    assert.deepEqual(bodies.read(Uint8Array.from(bytes)), value);
  });

test('a constant is on the wire and has no value', () => {
  const fields = { magic: constant(0x12345678, 32), a: bits(8), end: constant(2n ** 63n, 64) };
  const bytes = [0x78, 0x56, 0x34, 0x12, 7, 0, 0, 0, 0, 0, 0, 0, 0x80];
  check(fields, { a: 7 }, bytes);
  withBodies(core, fields, (bodies) => {
    for (let i = 0; i < bytes.length; i++) {
      const changed = Uint8Array.from(bytes);
      changed[i] ^= 4;
      assert.deepEqual(bodies.read(changed), i === 4 ? { a: 3 } : undefined, `byte ${i}`);
    }
  });
});

test('the properties of a value may stand anywhere, in any order', () => {
  const fields = { a: bits(8), b: optional(bits(8)), end: constant(9, 8), c: bits(8), d: bits(8) };
  class Inherited {
    d = 4;
    get c() {
      return 3;
    }
  }
  Inherited.prototype.a = 1;
  const values = [
    { a: 1, c: 3, d: 4 },
    { d: 4, c: 3, a: 1 },
    { c: 3, a: 1, x: 5, d: 4, b: undefined },
    { end: 5, a: 1, get c() { return this.d - 1; }, d: 4 }, // prettier-ignore
    Object.assign(Object.create(null), { a: 1, d: 4, c: 3 }),
    Object.create({ c: 3, a: 1 }, { d: { value: 4 } }),
    new Inherited(),
  ];
  withBodies(core, fields, (bodies) => {
    const bytes = bodies.write(values[0]);
    values.forEach((value, i) => assert.deepEqual(bodies.write(value), bytes, `value ${i}`));
    assert.deepEqual(bodies.read(bytes), values[0]);
    assert.throws(() => bodies.write({ d: 'x', a: -1 }), /a: -1 is not a whole number/);
    assert.throws(() => bodies.write({ d: 4, a: 1 }), /c: undefined is not a number/);
  });
});

test('an enumeration is the number of a name', () => {
  const fields = {
    team,
    teams: array(team, 3),
    maybe: optional(team),
    ready: when('team == 2', bool()),
  };
  const value = { team: 'blue', teams: ['red', 'none'], maybe: 'red', ready: true };
  check(fields, value, [0b00_01_10_10, 0b1_01_1]);
});

test('flags are true or false, the first in the lowest bit', () => {
  const abilities = flags('swim', 'fly', 'dig');
  const value = { swim: true, fly: false, dig: true };
  check({ abilities, all: array(abilities, 1) }, { abilities: value, all: [value] }, [0b101_1_101]);
  const powers = powersOf((i) => i === 39 || i === 0);
  check({ powers: flags(...names) }, { powers }, [1, 0, 0, 0, 0x80]);
});

test('fixed point is rounded half away from zero', () => {
  check({ speed: fixed(8, 8, -100, 100) }, { speed: -3.25 }, [0xc0, 0x60]);
  check({ far: fixed(48, 16, 0, 2 ** 30) }, { far: 1.5 }, [0, 0x80, 1, 0, 0, 0]);
  withBodies(core, { level: fixed(7, 1, -4, 4) }, (bodies) => {
    for (const [given, arrives] of [
      [0.25, 0.5],
      [-0.25, -0.5],
      [0.24, 0],
      [-3.9, -4],
      [4, 4],
    ])
      assert.equal(bodies.read(bodies.write({ level: given })).level + 0, arrives, `${given}`);
  });
});

test('numbers of 128 bits have the bytes of the standard', () => {
  const id = 0xfedcba98765432100123456789abcdefn;
  const bytes = [...Buffer.from(id.toString(16).padStart(32, '0'), 'hex')].reverse();
  check({ id: uint128() }, { id }, bytes);
  check({ id: int128() }, { id: -1n }, [...Array(15).fill(255), 0x7f]);
  withBodies(core, { ids: array(int128(), 4) }, (bodies) => {
    const ids = [-(2n ** 127n), 2n ** 127n - 1n, -(2n ** 64n) + 5n, 2n ** 64n];
    assert.deepEqual(bodies.read(bodies.write({ ids })), { ids });
  });
});

test('wide strings are UTF-16 units of 32 bits, unaligned', () => {
  const bytes = [0xe3, 0x21, 0, 0, 0xc0, 0x21, 0, 0, 0, 0x22, 0, 0, 0];
  check({ text: wideString(7) }, { text: '\u043c\u0438\u0440' }, bytes);
  withBodies(core, { a: bits(29), text: wideString(7) }, (bodies) => {
    for (const text of ['', 'a\u{1f600}', '1234567'])
      assert.equal(bodies.read(bodies.write({ a: 1, text })).text, text);
    const units = (...numbers) =>
      bodies.read(
        Uint8Array.of(
          0,
          0,
          0,
          numbers.length << 5,
          ...new Uint8Array(Uint32Array.from(numbers).buffer),
        ),
      ).text;
    assert.equal(units(0x61, 0xd83d, 0xde00), 'a\u{1f600}');
    assert.equal(units(0x1f600), '\u{1f600}', 'a whole character');
    assert.equal(units(0xd83d, 0x61), '\ufffda', 'half a pair');
    assert.equal(units(0x110000, 0, 0xffffffff), '\ufffd\ufffd\ufffd');
  });
});

const REFUSED = [
  [team, 'green', RangeError, /a: a string is not one of none, red, blue/],
  [team, 1, TypeError, /a: 1 is not one of none/],
  [team, undefined, TypeError, /a: undefined is not one of none/],
  [flags('x', 'y'), { x: true }, RangeError, /a: .* is not an object with true or false for each/],
  [flags('x'), 1, TypeError, /a: 1 is not an object/],
  [fixed(8, 8, 0, 3), 3.01, RangeError, /a: 3.01 is not a number from 0 to 3/],
  [fixed(8, 8, 0, 3), NaN, RangeError, /a: NaN is not/],
  [fixed(8, 8, 0, 3), 1n, TypeError, /a: 1 is not/],
  [wideString(3), 'abcd', RangeError, /a: a string is not a text of up to 3 UTF-16 units/],
  [wideString(3), 'a\0', RangeError, /is not a text/],
  [wideString(3), '\ud83d', RangeError, /is not a text/],
  [wideString(3), ['a'], TypeError, /is not a text/],
  [uint128(), -1n, RangeError, /a: -1 is not a bigint of 128 bits/],
  [uint128(), 2n ** 128n, RangeError, /is not a bigint of 128 bits/],
  [uint128(), 1, TypeError, /a: 1 is not a bigint/],
  [int128(), 2n ** 127n, RangeError, /is not a bigint of 128 bits with a sign/],
];

test('a value that is none of the field is refused by its name', () => {
  for (const [a, value, type, message] of REFUSED)
    withBodies(core, { a }, (bodies) =>
      assert.throws(
        () => bodies.write({ a: value }),
        (error) => error instanceof type && message.test(error.message),
        String(message),
      ),
    );
  withBodies(core, { a: team }, (bodies) => {
    assert.throws(() => bodies.write({ a: null }), { code: 'INVALID_ARGUMENT' });
    assert.equal(bodies.read(Uint8Array.of(3)), undefined);
  });
});

test('a declaration that stands for nothing is refused', () => {
  for (const declare of [
    () => constant(8, 3),
    () => constant(-1, 3),
    () => constant(0, 0),
    () => constant(0, 65),
    () => enumeration(),
    () => enumeration('a', 'a'),
    () => enumeration('a', 1),
    () => flags(...names, ...names.map((name) => `more ${name}`)),
    () => flags(''),
    () => fixed(8, 9, 0, 1),
    () => fixed(0, 8, 0, 0),
    () => fixed(9, -1, 0, 1),
    () => fixed(8, 8, 0, 128),
    () => fixed(8, 8, 1, 0),
    () => fixed(8, 8, 0, 0.5),
    () => fixed(32, 32, 0, 2 ** 22),
  ])
    assert.throws(declare, Error, String(declare));
  assert.equal(uint64(0n, 1n).kind, 'uint64');
});

test('a schema that came from another thread takes the same values', () => {
  const point = struct({ x: compressedFloat(-1, 1, 0.5), y: f32(), z: f64() });
  const fields = {
    start: constant(1, 8),
    a: bool(),
    b: int(-5, 5),
    c: uint(0, 9),
    d: int64(-5n, 5n),
    e: uint64(0n, 9n),
    pad: align(),
    f: bytes(4),
    g: string(4),
    points: array(point, 2),
    later: relative('c'),
    none: optional(bool()),
    some: when('a', bits(2)),
  };
  const value = {
    a: true,
    b: -5,
    c: 9,
    d: -5n,
    e: 9n,
    f: Uint8Array.of(1, 2),
    g: 'text',
    points: [{ x: 0.5, y: -2, z: 1e300 }],
    later: 12,
    some: 3,
  };
  const types = schema(message('all', fields));
  const [here, there] = [types, arrivedSchema(structuredClone(types))].map(
    (its) => new Connection(core, its),
  );
  there.send(0, 'all', value, 0);
  assert.throws(() => there.send(0, 'all', { ...value, g: 'longer' }, 0), /all\.g: 6 bytes/);
  there.update(0);
  here.receive(there.transmit(0), 0);
  assert.deepEqual(here.next().message.value, value);
  here.destroy();
  there.destroy();
});
