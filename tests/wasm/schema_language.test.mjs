// Files of the schema language: each declaration is what it would be by hand, and what cannot be carried is refused.
import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import * as api from '../support/causeway.mjs';
import { temporaryFolder } from '../support/fixture.mjs';
import { declarationsOf, readSchemaLanguage } from '../../web/bin/schema_language.mjs';

const { align, array, arrayFrom, bits, bool, bytes, compressedFloat, f32, f64, fixedArray } = api;
const { int, int64, message, schema, string, struct, uint, uint64, when } = api;

const read = (text) =>
  declarationsOf(readSchemaLanguage('Game.schema', `package game\n${text}`), api).game;

const vec = struct({ x: f32(), y: f32() });
const VEC = 'type Vec [vec2] { x float32\n y float32 }\n';

const FIELDS = {
  'a bool': { a: bool() },
  'a bits(7)\n b bits(48)': { a: bits(7), b: uint64(0n, 2n ** 48n - 1n) },
  'a uint8\n b uint16\n c uint32': { a: uint(0, 255), b: uint(0, 65535), c: uint(0, 2 ** 32 - 1) },
  'a uint64': { a: uint64(0n, 2n ** 64n - 1n) },
  'a int16 [min = -3, max = 0x10]': { a: int(-3, 16) },
  'a int64 [min = -1, max = 1]': { a: int64(-1n, 1n) },
  'a float32\n b float64': { a: f32(), b: f64() },
  'a float32 [min = -1, max = 1.5, resolution = 1e-2]': { a: compressedFloat(-1, 1.5, 0.01) },
  'a string(16)\n b bytes(8)': { a: string(16), b: bytes(8) },
  'a [4]Vec\n b [..4]Vec\n c [1..4]bool': {
    a: fixedArray(vec, 4),
    b: array(vec, 4),
    c: arrayFrom(bool(), 1, 4),
  },
  'a bool\n align\n b uint8': { a: bool(), align1: align(), b: uint(0, 255) },
  'a Team\n b Abilities': { a: uint(0, 2), b: bits(3) },
  'a bool\n c bool\n if !a { b Vec\n if c { d uint8 } } else { e bits(Most / 4) }': {
    a: bool(),
    c: bool(),
    b: when('!a', vec),
    d: when('!a && c', uint(0, 255)),
    e: when('a', bits(25)),
  },
  'a uint8 [min = Team.Max, max = (Most - 1) * 2]': { a: uint(2, 198) },
  'a bits(Abilities.Count) // three\n /* and no\n more */': { a: bits(3) },
};

test('fields are what they would be by hand', () => {
  const known = `const Most = 100
    enum Team { Red, Blue, }
    flags Abilities { Swim,
      Fly, Dig }\n`;
  for (const [text, fields] of Object.entries(FIELDS)) {
    const { encoded } = read(`message Test { ${text} }\n${known}${VEC}`);
    assert.deepEqual(encoded, schema(message('Test', fields)).encoded, text);
  }
});

test('messages keep their order, and an empty one is one', () => {
  const { types } = read('message B {}\nmessage A { x bool }');
  assert.deepEqual(
    types.map(({ name }) => name),
    ['B', 'A'],
  );
});

const MISTAKES = {
  'message A { x fixed(2, 30) [min = 0, max = 1] }': /4:15: fixed point is not built/,
  'message A { x int16 }': /x needs \[min = \.\.\., max = \.\.\.\]/,
  'message A { x int8 [min = 0, max = 1000] }': /0 to 1000 does not fit into 8 bits/,
  'message A { x uint8 [min = 3] }': /min and max go together/,
  'message A { x bool [speed = 3] }': /x takes no attributes, not speed/,
  'message A { x Missing }': /there is no type Missing/,
  'message A { x bits(N) }': /there is no constant N/,
  'const N = M\nconst M = N\nmessage A { x bits(N) }': /N is made of itself/,
  'message A { x bits(1 / 0) }': /this divides by 0/,
  'message A { x bits(65) }': /1 to 64 bits, not 65/,
  'message A { x bool = true }': /defaults are not built/,
  'message A { x bool\n x bool }': /x is declared twice/,
  'message A { if x { y bool } }': /x is no earlier bool of this block/,
  'message A { x bool\n if x { y [2]bool } }':
    /y: an array cannot be in a branch; put it into a type/,
  'message A { x bool\n if x { y bool\n if y { z bool } } }': /y is in a branch itself/,
  'type A {}\nmessage B { a A }': /A has no fields/,
  'type A { a A }\nmessage B { a A }': /A contains itself/,
  'enum E { None }\nmessage A {}': /None is declared twice/,
  'enum E [max = 1] { A, B }\nmessage M {}\nmessage N { e E }':
    /max is 1, and there are 2 variants/,
  'object A {}': /objects are the snapshots of another library/,
  'message A { x bool y bool }': /the end of the line is expected, not y/,
  'message A { x @ }': /"@" is nothing here/,
  'type class { x bool }\nmessage A {}': /class is a word of the language/,
  'const A = 1': /there is no message/,
};

test('each mistake has one error with its place', () => {
  for (const [text, expected] of Object.entries(MISTAKES))
    assert.throws(
      () => read(`\n\n${text}`),
      ({ message }) => expected.test(message) && /^Game\.schema:\d+:\d+: /.test(message),
      text,
    );
});

const tool = fileURLToPath(new URL('../../web/bin/causeway-schema.mjs', import.meta.url));

test('the tool writes a C header and a module of TypeScript', (t) => {
  const file = join(temporaryFolder(t), 'Game.schema');
  writeFileSync(
    file,
    `package game
     const Most = 100
     enum Team { Red, Blue }
     flags Abilities { Swim, Fly }
     message Join { team Team\n abilities Abilities\n health uint8 [min = 0, max = Most] }`,
  );
  const run = (...parameters) =>
    execFileSync(process.execPath, [tool, ...parameters], { encoding: 'utf8' });
  const header = run(file);
  for (const line of [
    '    FIELD(health, CW_UINT(0, 100))',
    '#define MOST 100',
    'enum Team { TEAM_NONE, TEAM_RED, TEAM_BLUE };',
    '#define ABILITIES_FLY (UINT64_C(1) << 1)',
  ])
    assert.ok(header.split('\n').includes(line), line);
  assert.equal(
    run('--typescript', file),
    `// causeway-schema has made this from Game.schema.
import { bits, message, schema, uint } from 'causeway-net';

export const Most = 100;
export const Team = { None: 0, Red: 1, Blue: 2 } as const;
export const Abilities = { Swim: 1, Fly: 2 } as const;
export const game = schema(
  message('Join', {
    team: uint(0, 2),
    abilities: bits(2),
    health: uint(0, 100),
  }),
);
`,
  );
  writeFileSync(file, 'message A { x union }');
  const { status, stderr } = spawnSync(process.execPath, [tool, file], { encoding: 'utf8' });
  assert.equal(status, 1);
  assert.match(stderr, /^causeway-schema: .*Game\.schema:1:15: unions are not built/);
});
