// serialization.mjs COMPILER INSTALLED FOLDER: checks the table of serializations in EXISTING_SERVERS.md, as it stands
// there. Each declaration in it, for the page and in C, gives the bytes that the functions of serialize give. Their
// bytes are written here from the standard, by a writer that is itself compared with recorded bytes where there
// are vectors.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { floatOf, withBodies } from '../support/bodies.mjs';
import * as causeway from '../support/causeway.mjs';

const [compiler, installed, folder] = process.argv.slice(2);
const core = await causeway.loadCore();

/** Writes a string of bits as serialize's standard says. */
class Reference {
  #bits = '';

  bits(value, count) {
    for (let i = 0n; i < count; i++) this.#bits += (BigInt(value) >> i) & 1n;
  }

  int(value, min, max) {
    const range = BigInt(max) - BigInt(min);
    this.bits(BigInt(value) - BigInt(min), range === 0n ? 0 : range.toString(2).length);
  }

  align() {
    while (this.#bits.length % 8 > 0) this.#bits += '0';
  }

  bytes(data) {
    this.align();
    for (const byte of data) this.bits(byte, 8);
  }

  string(text, size) {
    const data = Buffer.from(text);
    this.int(data.length, 0, size - 1);
    this.bytes(data);
  }

  float(value) {
    this.bits(new Uint32Array(Float32Array.of(value).buffer)[0], 32);
  }

  double(value) {
    this.bits(new BigUint64Array(Float64Array.of(value).buffer)[0], 64);
  }

  compressedFloat(value, min, max, step) {
    const { fround, max: most, min: least, ceil, floor } = Math;
    const [low, high, resolution] = [min, max, step].map(fround);
    const delta = fround(high - low);
    const steps = ceil(least(most(fround(delta / resolution), 1), 4294967040));
    const part = least(most(fround(fround(fround(value) - low) / delta), 0), 1);
    const number = floor(fround(fround(part * steps) + 0.5));
    this.int(least(number, steps), 0, steps);
  }

  get hex() {
    return (this.#bits.match(/.{1,8}/g) ?? [])
      .map((byte) => parseInt([...byte].reverse().join(''), 2))
      .map((byte) => byte.toString(16).padStart(2, '0'))
      .join('');
  }
}

/** The reference's operations by their names in the vectors. */
const recorded = {
  bits: (to, { value, bits }) => to.bits(value, bits),
  bool: (to, { value }) => to.bits(Number(value), 1),
  int: (to, { value, min, max }) => to.int(value, min, max),
  int64: (to, { value, min, max }) => to.int(value, min, max),
  uint64: (to, { value }) => to.bits(value, 64),
  float: (to, { hex }) => to.bits(`0x${hex}`, 32),
  double: (to, { hex }) => to.bits(`0x${hex}`, 64),
  compressed_float: (to, { value_hex: value, min_hex: min, max_hex: max, res_hex: res }) =>
    to.compressedFloat(...[value, min, max, res].map(floatOf)),
  align: (to) => to.align(),
  bytes: (to, { hex }) => to.bytes(Buffer.from(hex, 'hex')),
  string: (to, { value, buffer_size: size }) => to.string(value, size),
};

/** Compares the reference with what the library wrote. */
const checkReference = () => {
  const vectors = process.env.CAUSEWAY_VECTORS;
  if (!vectors)
    return console.log('CAUSEWAY_VECTORS names no folder: the reference is not checked');
  const { cases } = JSON.parse(readFileSync(join(vectors, 'serialize.json'), 'utf8'));
  const known = cases.filter(({ ops }) => ops.every(({ op }) => recorded[op]));
  for (const { ops, bytes } of known) {
    const reference = new Reference();
    for (const op of ops) recorded[op.op](reference, op);
    assert.equal(reference.hex, bytes, JSON.stringify(ops));
  }
  console.log(`the reference writes ${known.length} of ${cases.length} recorded streams`);
};

const item = { js: 'int(-3, 12)', c: 'CW_INT(-3, 12)' };
const put = (to, value) => to.int(value, -3, 12);

/**
 * The rows by the first column of the table, with limits so that a range one longer takes another bit: the values of
 * the names in its declarations, in JavaScript and in C; the lines before them in C; and for each declaration values in
 * both languages, with what the reference does for them.
 */
const rows = {
  '`serialize_bool(value)`': {
    values: [
      [
        [true, 'true', (to) => to.bits(1, 1)],
        [false, 'false', (to) => to.bits(0, 1)],
      ],
    ],
  },
  '`serialize_int(value, min, max)`': {
    names: { min: '-5', max: '1018' },
    values: [[-5, 0, 1018].map((n) => [n, `${n}`, (to) => to.int(n, -5, 1018)])],
  },
  '`serialize_int64(value, min, max)`': {
    names: { min: ['-5000000000n', '-5000000000LL'], max: ['70n', '70'] },
    values: [
      [-5000000000n, -4123456789n, 70n].map((n) => [
        n,
        `${n}LL`,
        (to) => to.int(n, -5000000000n, 70),
      ]),
    ],
  },
  '`serialize_bits(value, n)`, n up to 32': {
    names: { n: '19' },
    values: [[[0x5a5a5, '0x5a5a5', (to) => to.bits(0x5a5a5, 19)]]],
  },
  '`serialize_bits(value, n)`, n above 32': {
    names: { n: '41' },
    values: [[[0x1a5f00ff123n, '0x1a5f00ff123', (to) => to.bits(0x1a5f00ff123n, 41)]]],
  },
  '`serialize_uint8`, `serialize_uint16`, `serialize_uint32`': {
    values: [8, 16, 32].map((n) => [
      [2 ** n - 3, `${2 ** n - 3}u`, (to) => to.bits(2 ** n - 3, n)],
    ]),
  },
  '`serialize_uint64(value)`': {
    values: [[[2n ** 64n - 3n, `${2n ** 64n - 3n}u`, (to) => to.bits(2n ** 64n - 3n, 64)]]],
  },
  '`serialize_float(value)`, `serialize_double(value)`': {
    values: [
      [[-1.5, '-1.5f', (to) => to.float(-1.5)]],
      [[1 / 3, '1.0 / 3', (to) => to.double(1 / 3)]],
    ],
  },
  '`serialize_compressed_float(value, min, max, step)`': {
    names: { min: '-10', max: '10', step: ['0.01', '0.01f'] },
    values: [
      [-10, 0.005, 2.13].map((x) => [x, `${x}`, (to) => to.compressedFloat(x, -10, 10, 0.01)]),
    ],
    rounded: true,
  },
  '`serialize_fixed(value, i, f, min, max)` in 8, 16 or 32 bits': {
    names: { i: '8', f: '8', min: '-100', max: '100' },
    values: [
      // The standard's own example: -3.25 is 24768 above the lowest, in 16 bits.
      [[-3.25, '-832', (to) => to.bits(24768, 16)]],
    ],
  },
  '`serialize_fixed(value, i, f, min, max)` in 64 bits': {
    names: { i: '48', f: '16', min: '-1000000', max: '1000000' },
    values: [[[2.5, '163840', (to) => to.int(163840, -65536000000n, 65536000000n)]]],
  },
  '`serialize_uint128(value)`': {
    values: [[[(7n << 64n) + 9n, '{9, 7}', (to) => to.bits((7n << 64n) + 9n, 128)]]],
  },
  '`serialize_int128(value, min, max)` with all of the range': {
    values: [[[-5n, '{UINT64_MAX - 4, -1}', (to) => to.bits(2n ** 127n - 5n, 128)]]],
  },
  '`serialize_int(value, 0, count - 1)` of an enum': {
    names: { count: '3' },
    values: [[['blue', '2', (to) => to.int(2, 0, 2)]]],
  },
  '`serialize_bits(value, n)`, each bit a flag': {
    names: { n: '3' },
    values: [[[{ swim: true, fly: false, dig: true }, '5', (to) => to.bits(5, 3)]]],
  },
  '`serialize_string(text, size)`': {
    names: { size: '32' },
    values: [
      ['', 'hällo'].map((text) => [text, JSON.stringify(text), (to) => to.string(text, 32)]),
    ],
  },
  '`serialize_wstring(text, size)`': {
    names: { size: '8' },
    values: [
      [
        [
          '\u043c!',
          '{2, {0x43c, 0x21}}',
          (to) => {
            to.int(2, 0, 7);
            [0x43c, 0x21].forEach((unit) => to.bits(unit, 32));
          },
        ],
      ],
    ],
  },
  '`serialize_int(count, 0, max)`, then `serialize_bytes(data, count)`': {
    names: { max: '31' },
    values: [
      [[], [7, 255, 0]].map((data) => [
        Uint8Array.from(data),
        `{${data.length}, {${data.join(', ') || 0}}}`,
        (to) => {
          to.int(data.length, 0, 31);
          to.bytes(data);
        },
      ]),
    ],
  },
  '`serialize_int(count, 0, max)`, then each item': {
    names: { item: [item.js, item.c], max: '15' },
    values: [
      [[], [-3, 5, 12]].map((items) => [
        items,
        `{${items.length}, {${items.join(', ') || 0}}}`,
        (to) => {
          to.int(items.length, 0, 15);
          items.forEach((each) => put(to, each));
        },
      ]),
    ],
  },
  'each item of an array of fixed size': {
    names: { item: [item.js, item.c] },
    before: `#define THREE(FIELD) FIELD(a, ${item.c}) FIELD(b, ${item.c}) FIELD(c, ${item.c})
CW_MESSAGE(three, THREE)`,
    values: [
      [[{ a: 1, b: -3, c: 12 }, '{1, -3, 12}', (to) => [1, -3, 12].forEach((n) => put(to, n))]],
    ],
  },
  '`serialize_bool(present)`, then the item if it is there': {
    names: { item: [item.js, item.c] },
    values: [
      [
        [
          9,
          '{true, 9}',
          (to) => {
            to.bits(1, 1);
            put(to, 9);
          },
        ],
        [undefined, '{false, 0}', (to) => to.bits(0, 1)],
      ],
    ],
  },
  '`serialize_object(value)`': {
    before: `#define POINT(FIELD) FIELD(x, CW_FLOAT) FIELD(y, CW_FLOAT)
CW_MESSAGE(point, POINT)`,
    values: [[[{ x: 0.5, y: -2 }, '{0.5f, -2}', (to) => [0.5, -2].forEach((x) => to.float(x))]]],
  },
  'limits as template arguments: `SerializeIntConst` and the like': { values: [] },
};

const program = (parts, calls) => `#include <causeway/schema.h>
#include <stdio.h>
#include <string.h>

/* Writes the message, reads it, and writes what was read. */
static void show(const struct cw_message_type *type, void *message)
{
    const struct cw_schema_config config = {.types = type, .count = 1};
    struct cw_schema *schema;
    if (cw_schema_create(&config, &schema) != CW_OK)
        return (void)puts("no schema");
    uint8_t first[256], second[256], read[1024] = {0};
    struct cw_stream writer = cw_stream_writer(first, sizeof first);
    const bool written = cw_schema_serialize(schema, 0, &writer, message);
    const size_t size = cw_stream_flush(&writer);
    struct cw_stream reader = cw_stream_reader(first, size);
    const bool taken = written && cw_schema_serialize(schema, 0, &reader, read);
    struct cw_stream again = cw_stream_writer(second, sizeof second);
    if (!taken || !cw_schema_serialize(schema, 0, &again, read) ||
        cw_stream_flush(&again) != size || memcmp(first, second, size) != 0)
        puts("unreadable");
    for (size_t i = 0; i < size; i++)
        printf("%02x", first[i]);
    puts("");
    cw_schema_destroy(schema);
}

${parts.join('\n')}

int main(void)
{
${calls.map((call) => `    ${call}\n`).join('')}    return 0;
}
`;

const flags = (what) =>
  execFileSync('pkg-config', [what, 'causeway'], {
    encoding: 'utf8',
    env: {
      ...process.env,
      PKG_CONFIG_PATH: execFileSync('find', [installed, '-name', 'pkgconfig'], {
        encoding: 'utf8',
      }).trim(),
    },
  })
    .trim()
    .split(/\s+/);

/** Returns the lines that a program in C prints. */
const run = (source) => {
  mkdirSync(folder, { recursive: true });
  const file = join(folder, 'rows.c');
  writeFileSync(file, source);
  const strict = ['-std=c11', '-Wall', '-Wextra', '-Werror', '-Wno-missing-braces'];
  const all = [
    ...strict,
    ...flags('--cflags'),
    file,
    '-o',
    join(folder, 'rows'),
    ...flags('--libs'),
  ];
  execFileSync(compiler, all, { stdio: 'inherit' });
  return execFileSync(join(folder, 'rows'), { encoding: 'utf8' }).trim().split('\n');
};

const guide = readFileSync(new URL('../../core/EXISTING_SERVERS.md', import.meta.url), 'utf8');
const table = guide.split('| yojimbo | in the page | in C |\n|---|---|---|\n')[1].split('\n\n')[0];
const codes = (cell) => [...cell.matchAll(/`([^`]+)`/g)].map(([, code]) => code);

/** Returns a field as the guide declares it. */
const fieldOf = (code, names) => {
  const given = Object.entries(names).map(([name, [js]]) => `const ${name} = ${js};`);
  const scope = Object.keys(causeway).filter((name) => !(name in names));
  const make = new Function(...scope, `${given.join(' ')} return ${code};`);
  return make(...scope.map((name) => causeway[name]));
};

checkReference();
const [parts, calls, expected] = [[], [], []];
const left = new Set(Object.keys(rows));
for (const line of table.split('\n')) {
  const [, yojimbo, page, inC] = line.split('|').map((cell) => cell.trim());
  const {
    names: given = {},
    before = '',
    values,
    rounded,
  } = rows[yojimbo] ?? assert.fail(`no test of ${yojimbo}`);
  left.delete(yojimbo);
  const names = Object.fromEntries(Object.entries(given).map(([name, as]) => [name, [as].flat()]));
  const fields = codes(page).map((code) => fieldOf(code, names));
  const declarations = codes(inC);
  assert.deepEqual([fields.length, declarations.length], [values.length, values.length], yojimbo);
  parts.push(before);
  declarations.forEach((declaration, i) => {
    const name = `row_${calls.length}`;
    const defines = Object.entries(names).map(([each, [js, c = js]]) => [each, c]);
    parts.push(
      ...defines.map(([each, c]) => `#define ${each} (${c})`.replace(/\((CW_.*)\)$/, '$1')),
      `#define FIELDS_${name}(FIELD) FIELD(first, CW_BITS(3)) FIELD(value, ${declaration})`,
      `CW_MESSAGE(${name}, FIELDS_${name})`,
      ...defines.map(([each]) => `#undef ${each}`),
    );
    for (const [js, c, write] of values[i]) {
      const reference = new Reference();
      reference.bits(5, 3);
      write(reference);
      const what = `${yojimbo}: ${String(js)}`;
      withBodies(core, { first: causeway.bits(3), value: fields[i] }, (bodies) => {
        const value = { first: 5, ...(js !== undefined && { value: js }) };
        assert.equal(Buffer.from(bodies.write(value)).toString('hex'), reference.hex, what);
        const read = bodies.read(Buffer.from(reference.hex, 'hex'));
        if (rounded) assert.ok(Math.abs(read.value - js) <= 0.006, what);
        else assert.deepEqual(read, value, what);
      });
      calls.push(`show(&${name}_type, &(struct ${name}){.first = 5, .value = ${c}});`);
      expected.push([what, reference.hex]);
    }
  });
}
assert.deepEqual([...left], [], 'rows that the guide does not have');
const said = run(program(parts, calls));
expected.forEach(([what, hex], i) => assert.equal(said[i], hex, `in C: ${what}`));
console.log(`${expected.length} values of ${Object.keys(rows).length} rows`);
