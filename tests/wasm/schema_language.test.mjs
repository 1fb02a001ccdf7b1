// Files of the schema language: each declaration is what it would be by hand, and what cannot be carried is refused.
import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import * as api from '../support/causeway.mjs';
import { temporaryFolder } from '../support/fixture.mjs';
import {
  constantsOf,
  declarationsOf,
  namedValues,
  readSchemaLanguage,
} from '../../web/bin/schema_language.mjs';

const { align, array, arrayFrom, bits, bool, bytes, compressedFloat, constant, enumeration } = api;
const { f32, f64, fixed, fixedArray, flags, int, int128, int64, message, schema, string } = api;
const { struct, uint, uint128, uint64, when, wideString } = api;

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
  'a Team\n b Abilities': {
    a: enumeration('None', 'Red', 'Blue'),
    b: flags('Swim', 'Fly', 'Dig'),
  },
  'a Later\n b More': { a: uint(0, 15), b: bits(8) },
  'const(0x1234, 16)\n a bool\n reserved(7)\n const(Most, 64)': {
    const0: constant(0x1234, 16),
    a: bool(),
    reserved2: constant(0, 7),
    const3: constant(100, 64),
  },
  'a fixed(8, 8) [min = -100, max = Most]\n b fixed(48, 16) [min = -30000, max = 30000]': {
    a: fixed(8, 8, -100, 100),
    b: fixed(48, 16, -30000, 30000),
  },
  'a ufixed(16, 16) [min = 0, max = 360]\n b ufixed(8, 8) [min = 0, max = 255]': {
    a: fixed(16, 16, 0, 360),
    b: fixed(56, 8, 0, 255),
  },
  'a fixed(112, 16) [min = -Most, max = Most]': { a: fixed(48, 16, -100, 100) },
  'a uint128\n b int128 [min = -5, max = 5]\n c int128 [min = 0, max = 0xffffffffffffffff]': {
    a: uint128(),
    b: int64(-5n, 5n),
    c: uint64(0n, 2n ** 64n - 1n),
  },
  [`a int128 [min = -${2n ** 127n}, max = ${2n ** 127n - 1n}]\n b wstring(7)`]: {
    a: int128(),
    b: wideString(7),
  },
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
      Fly, Dig }
    enum Later [max = 15] { One }
    flags More [max = 8] { Any }\n`;
  for (const [text, fields] of Object.entries(FIELDS)) {
    const { encoded } = read(`message Test { ${text} }\n${known}${VEC}`);
    assert.deepEqual(encoded, schema(message('Test', fields)).encoded, text);
  }
});

test('enums and flags have their names, without room for more', () => {
  const { Team, Later, game } = declarationsOf(
    readSchemaLanguage(
      'Game.schema',
      `package game
       enum Team { Red }
       enum Later [max = 3] { Red }
       message A { team Team\n later Later }`,
    ),
    api,
  );
  assert.deepEqual(Team.view.names, ['None', 'Red']);
  assert.equal(Later, undefined);
  assert.equal(game.types[0].fields.team, Team);
  assert.equal(game.types[0].fields.later.view, undefined);
});

test('what a module exports has its names in C', () => {
  const module = { team: enumeration('none', 'red'), gearFlags: flags('hat', 'coat'), x: bool() };
  assert.equal(
    constantsOf(namedValues(module)),
    `enum team { TEAM_NONE, TEAM_RED };
#define GEAR_FLAGS_HAT (UINT64_C(1) << 0)
#define GEAR_FLAGS_COAT (UINT64_C(1) << 1)
`,
  );
  assert.throws(() => namedValues({ team: enumeration('a b') }), /team: a b cannot be a name in C/);
});

test('messages keep their order, and an empty one is one', () => {
  const { types } = read('message B {}\nmessage A { x bool }');
  assert.deepEqual(
    types.map(({ name }) => name),
    ['B', 'A'],
  );
});

const MISTAKES = {
  'message A { x fixed(2, 30) [min = 0, max = 2] }': /4:13: 0 to 2 does not fit into 2 bits/,
  'message A { x fixed(2, 31) [min = 0, max = 1] }':
    /x is not in 8, 16, 32, 64 or 128 bits, but 33/,
  'message A { x fixed(16, 16) }': /x needs \[min = \.\.\., max = \.\.\.\] of whole numbers/,
  'message A { x fixed(16) [min = 0, max = 1] }': /fixed takes two numbers, as \(16, 16\)/,
  'message A { x ufixed(16, 16) [min = -1, max = 1] }': /-1 to 1 does not fit into 16 bits/,
  'message A { x fixed(32, 32) [min = 0, max = 0x200000] }': /x has more steps than a number/,
  'message A { x int128 }': /x needs \[min = \.\.\., max = \.\.\.\] of whole numbers/,
  'message A { x int128 [min = -1, max = 0xffffffffffffffff] }': /a range of more than 64 bits/,
  'message A { x uint128 [min = 0, max = 1] }': /x takes no attributes, not min/,
  'message A { const(8, 3) }': /8 does not fit into 3 bits/,
  'message A { const(8) }': /const takes \(value, bits\)/,
  'message A { reserved(65) }': /reserved takes whole numbers, in 1 to 64 bits/,
  'message A { x bool\n if x { reserved(3) } }': /reserved cannot be in a branch/,
  'message A { x [2]wstring(4) }': /an array of wide strings needs a type/,
  'flags F {}\nmessage A {}': /F needs 1 to 64 flags/,
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
    '    FIELD(team, CW_ENUMERATION(3)) \\',
    '    FIELD(health, CW_UINT(0, 100))',
    '#define MOST 100',
    'enum Team { TEAM_NONE, TEAM_RED, TEAM_BLUE };',
    '#define ABILITIES_FLY (UINT64_C(1) << 1)',
  ])
    assert.ok(header.split('\n').includes(line), line);
  assert.equal(
    run('--typescript', file),
    `// causeway-schema has made this from Game.schema.
import { enumeration, flags, message, schema, uint } from 'causeway-net';

export const Most = 100;
export const Team = enumeration('None', 'Red', 'Blue');
export const Abilities = flags('Swim', 'Fly');
export const game = schema(
  message('Join', {
    team: Team,
    abilities: Abilities,
    health: uint(0, 100),
  }),
);
`,
  );
  writeFileSync(file, 'message A { x wstring(3) }');
  assert.match(run('--typescript', file), /import .*wideString } from 'causeway-net\/core';/);
  writeFileSync(file, 'message A { x union }');
  const { status, stderr } = spawnSync(process.execPath, [tool, file], { encoding: 'utf8' });
  assert.equal(status, 1);
  assert.match(stderr, /^causeway-schema: .*Game\.schema:1:15: unions are not built/);
});
