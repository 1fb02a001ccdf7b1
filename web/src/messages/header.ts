import type { Field, Fields } from './fields.js';
import type { MessageType, Schema } from './schema.js';

/** The names that structs have in C. */
type StructNames = ReadonlyMap<Fields, string>;

/** The words that C keeps for itself; a field with such a name would not compile. */
const KEYWORDS = new Set(
  `alignas alignof auto bool break case char const continue default do double else enum extern false
  float for goto if inline int long register restrict return short signed sizeof static struct switch
  true typedef union unsigned void volatile while`.split(/\s+/),
);

const identifier = (name: string, what: string): string => {
  if (!/^[A-Za-z][A-Za-z0-9_]*$/.test(name) || KEYWORDS.has(name))
    throw new RangeError(`${what} ${name} cannot be a name in C`);
  return name;
};

const upper = (name: string): string => name.replace(/([a-z0-9])([A-Z])/g, '$1_$2').toUpperCase();

/** Returns a limit of an integer as C writes it; the least integers of C cannot be written as digits. */
const signed = (value: bigint): string => {
  if (value === -(2n ** 63n)) return 'INT64_MIN';
  return value > 2n ** 31n - 1n || value < -(2n ** 31n) + 1n ? `INT64_C(${value})` : String(value);
};

const unsigned = (value: bigint): string =>
  value > 2n ** 31n - 1n ? `UINT64_C(${value})` : String(value);

/** Returns the shortest digits that give the same 32 bits of floating point. */
const float = (value: number): string => {
  const single = Math.fround(value);
  let digits = 1;
  while (Math.fround(Number(single.toPrecision(digits))) !== single) digits++;
  const text = String(Number(single.toPrecision(digits)));
  return `${/[.e]/.test(text) ? text : `${text}.0`}f`;
};

const plain = (field: Field<unknown>, structs: StructNames): string => {
  const { kind, min, max, low, high, resolution, operand, view } = field;
  if (view) return view.macro;
  switch (kind) {
    case 'bool':
      return 'CW_BOOL';
    case 'int':
      return `CW_INT(${signed(min)}, ${signed(max)})`;
    case 'uint':
      return `CW_UINT(${unsigned(min)}, ${unsigned(max)})`;
    case 'int64':
      return `CW_INT_64(${signed(min)}, ${signed(max)})`;
    case 'uint64':
      return `CW_UINT_64(${unsigned(min)}, ${unsigned(max)})`;
    case 'float':
      return 'CW_FLOAT';
    case 'double':
      return 'CW_DOUBLE';
    case 'compressedFloat':
      return `CW_COMPRESSED_FLOAT(${[low, high, resolution].map(float).join(', ')})`;
    case 'bytes':
      if (operand?.startsWith('>=')) return `CW_BYTES_FROM(${operand.slice(3)}, ${max})`;
      return operand ? `CW_BYTES_OF(${operand}, ${max})` : `CW_BYTES(${max})`;
    case 'string':
      return `CW_STRING(${max})`;
    case 'struct':
      return `CW_STRUCT(${structs.get(field.fields!)})`;
    case 'align':
      return 'CW_ALIGN';
    case 'constant':
      return `CW_CONSTANT(${unsigned(min)}, ${max.toString(2).length})`;
    case 'relative':
      return `CW_${max === 65535n ? 'SEQUENCE_' : ''}RELATIVE(${operand})`;
  }
};

const declaration = (field: Field<unknown>, structs: StructNames): string => {
  const text = plain(field, structs);
  const { array, count, view } = field;
  if (view?.whole) return text;
  if (field.optional) return count ? `CW_WHEN(${count}, ${text})` : `CW_OPTIONAL(${text})`;
  if (array === 0) return text;
  if (count?.startsWith('>=')) return `CW_ARRAY_FROM(${text}, ${count.slice(3)}, ${array})`;
  return count ? `CW_REPEAT(${count}, ${text}, ${array})` : `CW_ARRAY(${text}, ${array})`;
};

/**
 * Returns the structs in all messages, each behind the structs that it contains. A struct without a name is named after
 * its first place.
 */
const namedStructs = (schema: Schema, names: StructNames): StructNames => {
  const structs = new Map<Fields, string>();
  const add = (outer: Fields, path: string): void => {
    for (const [name, { fields, view }] of Object.entries(outer)) {
      if (!fields || view || structs.has(fields)) continue;
      const own = names.get(fields) ?? `${path}_${name}`;
      add(fields, own);
      structs.set(fields, own);
    }
  };
  for (const { name, fields } of schema.types) add(fields, name);
  const all = [...structs.values(), ...schema.types.map(({ name }) => name)];
  const twice = all.find((name, i) => all.indexOf(name) < i);
  if (twice !== undefined)
    throw new RangeError(
      `two structs would be called ${twice} in C; export them under other names`,
    );
  return structs;
};

const typeText = (
  { name, fields, block }: Omit<MessageType, 'delivery'>,
  structs: StructNames,
): string => {
  identifier(name, 'the message');
  const entries = Object.entries(fields);
  if (entries.length === 0)
    return `static const struct cw_message_type ${name}_type = {"${name}", NULL, 0, 0, NULL, ${block}};\n`;
  const lines = entries.map(
    ([field, of]) =>
      `    FIELD(${identifier(field, `${name}: the field`)}, ${declaration(of, structs)})`,
  );
  return [`#define ${upper(name)}_FIELDS(FIELD)`, ...lines]
    .join(' \\\n')
    .concat(`\n${block ? 'CW_BLOCK_MESSAGE' : 'CW_MESSAGE'}(${name}, ${upper(name)}_FIELDS)\n`);
};

/**
 * Returns the C header that declares the same messages: a struct and a table for each type, the numbers of the types,
 * all tables in order, and their fingerprint with the default channels. `structs` has the names of structs within
 * messages.
 * @throws RangeError when a name cannot be one in C.
 */
export function cHeader(
  schema: Schema,
  name: string,
  source: string,
  print: bigint,
  structs: StructNames,
): string {
  const prefix = upper(identifier(name, 'the schema'));
  const names = schema.types.map((type) => type.name);
  const inner = namedStructs(schema, structs);
  const types = [
    ...Array.from(inner, ([fields, name]) => ({ name, fields, block: false })),
    ...schema.types,
  ];
  return `/* causeway-schema has made this from ${source}; change it there. */
#ifndef ${prefix}_SCHEMA_H
#define ${prefix}_SCHEMA_H

#include "causeway/schema.h"

${types.map((type) => typeText(type, inner)).join('\n')}
/* The types' numbers. */
enum { ${[...names.map((type) => `${prefix}_${upper(type)}`), `${prefix}_TYPE_COUNT`].join(', ')} };

/* The types, for \`const struct cw_message_type types[] = ${prefix}_TYPES;\` in a function. */
#define ${prefix}_TYPES {${names.map((type) => `${type}_type`).join(', ')}}

/* cw_connection_fingerprint gives this for them and a config that is the default otherwise. A token
   that is made with it (causeway-token --fingerprint) is for clients with the same messages only. */
#define ${prefix}_FINGERPRINT 0x${print.toString(16).padStart(16, '0')}u

#endif
`;
}
