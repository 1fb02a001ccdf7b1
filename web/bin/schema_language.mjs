// Schemas in the public schema language, as modules of TypeScript and as values. A field has the wire that it has there;
// what no field here can carry is refused.
import { ELSEWHERE, Parser } from './schema_parser.mjs';

/** Writes the fields of a block as TypeScript, and the types that they need before it. */
class Printer {
  constructor(parser) {
    this.parser = parser;
    this.used = new Set();
    this.lines = [];
    this.done = new Map();
  }

  call(name, ...parameters) {
    this.used.add(name);
    return `${name}(${parameters.join(', ')})`;
  }

  fail(token, text) {
    this.parser.fail(text, token);
  }

  /** Returns [min, max] of an item, or undefined when it has none. */
  limits({ token, attributes }) {
    const [min, max] = ['min', 'max'].map((key) => attributes.get(key)?.());
    if ((min === undefined) !== (max === undefined)) this.fail(token, 'min and max go together');
    return min === undefined ? undefined : [min, max];
  }

  allow(item, ...keys) {
    for (const key of item.attributes.keys())
      if (!keys.includes(key))
        this.fail(
          item.token,
          `${item.token.text} takes ${keys.length > 0 ? keys.join(', ') : 'no attributes'}, not ${key}`,
        );
  }

  /** Writes a number of 128 bits: all of them, or a range that fits into 64. */
  wide(item, sign) {
    const { token } = item;
    if (!sign) {
      this.allow(item);
      return this.call('uint128');
    }
    this.allow(item, 'min', 'max');
    const [min, max] = this.limits(item) ?? [];
    const fits = (least, most) => min >= least && min <= max && max <= most;
    if (typeof min !== 'bigint' || typeof max !== 'bigint')
      this.fail(token, `${token.text} needs [min = ..., max = ...] of whole numbers`);
    if (min === -(2n ** 127n) && max === 2n ** 127n - 1n) return this.call('int128');
    if (fits(-(2n ** 63n), 2n ** 63n - 1n)) return this.call('int64', `${min}n`, `${max}n`);
    if (fits(0n, 2n ** 64n - 1n)) return this.call('uint64', `${min}n`, `${max}n`);
    return this.fail(
      token,
      `${token.text}: a range of more than 64 bits is all that 128 bits hold`,
    );
  }

  /** Writes a number in fixed point. One without a sign has the wire of one with a sign and more bits. */
  fixed(item, sign) {
    this.allow(item, 'min', 'max');
    const { token, type } = item;
    const [integers, fractions] = type.parameters.map((one) => Number(one()));
    const width = integers + fractions;
    const range = this.limits(item);
    const [least, most] = sign ? [-(2 ** (integers - 1)), 2 ** (integers - 1)] : [0, 2 ** integers];
    if (![8, 16, 32, 64, 128].includes(width) || integers < 1 || fractions < 0)
      this.fail(token, `${token.text} is not in 8, 16, 32, 64 or 128 bits, but ${width}`);
    if (range?.every((limit) => typeof limit === 'bigint') !== true || range[0] > range[1])
      this.fail(token, `${token.text} needs [min = ..., max = ...] of whole numbers`);
    const [min, max] = range.map(Number);
    if (min < least || max >= most)
      this.fail(token, `${min} to ${max} does not fit into ${integers} bits`);
    if (Math.max(-min, max) * 2 ** fractions > Number.MAX_SAFE_INTEGER)
      this.fail(token, `${token.text} has more steps than a number of JavaScript tells apart`);
    const fits = width <= 64 && max < 2 ** (integers - 1);
    return this.call('fixed', fits ? integers : 64 - fractions, fractions, min, max);
  }

  integer(item, sign, width) {
    this.allow(item, 'min', 'max');
    const { token } = item;
    const range = this.limits(item);
    if (sign && !range)
      this.fail(token, `${token.text} needs [min = ..., max = ...]: a sign needs a range here`);
    const size = BigInt(width);
    const [least, most] = sign
      ? [-(2n ** (size - 1n)), 2n ** (size - 1n) - 1n]
      : [0n, 2n ** size - 1n];
    const [min, max] = range ?? [least, most];
    if (typeof min !== 'bigint' || typeof max !== 'bigint' || min > max)
      this.fail(token, `${token.text} needs whole numbers, min not above max`);
    if (min < least || max > most)
      this.fail(token, `${min} to ${max} does not fit into ${width} bits`);
    return width === 64
      ? this.call(sign ? 'int64' : 'uint64', `${min}n`, `${max}n`)
      : this.call(sign ? 'int' : 'uint', min, max);
  }

  /** Returns a pattern of bits, which has no range. */
  pattern(token, count) {
    if (count < 1 || count > 64) this.fail(token, `there can be 1 to 64 bits, not ${count}`);
    return count > 32
      ? this.call('uint64', '0n', `${2n ** BigInt(count) - 1n}n`)
      : this.call('bits', count);
  }

  float(item) {
    this.allow(item, 'min', 'max', 'resolution');
    if (item.attributes.size === 0) return this.call('f32');
    if (item.attributes.size !== 3) this.fail(item.token, 'min, max and resolution go together');
    return this.call(
      'compressedFloat',
      ...['min', 'max', 'resolution'].map((key) => Number(item.attributes.get(key)())),
    );
  }

  scalar(item) {
    const { token: named, parameters } = item.type;
    const { text: type } = named;
    if (Object.hasOwn(ELSEWHERE, type)) this.fail(named, ELSEWHERE[type]);
    const family = /^(u?)int(8|16|32|64)$/.exec(type);
    const isFixed = type === 'fixed' || type === 'ufixed';
    const sized = ['bits', 'string', 'wstring', 'bytes'].includes(type);
    if (parameters.length !== (isFixed ? 2 : Number(sized))) {
      const takes = isFixed ? 'two numbers, as (16, 16)' : 'a number, as (32)';
      this.fail(named, `${type} takes ${isFixed || sized ? takes : 'nothing in parentheses'}`);
    }
    const count = sized ? Number(parameters[0]()) : 0;
    if (isFixed) return this.fixed(item, type === 'fixed');
    if (type === 'int128' || type === 'uint128') return this.wide(item, type === 'int128');
    if (family) return this.integer(item, family[1] === '', Number(family[2]));
    if (type === 'float32') return this.float(item);
    this.allow(item);
    if (type === 'bits') return this.pattern(named, count);
    if (type === 'string' || type === 'bytes') return this.call(type, count);
    if (type === 'wstring') return this.wideString(item, count);
    if (type === 'bool') return this.call('bool');
    if (type === 'float64') return this.call('f64');
    const { enums, flags, types } = this.parser;
    if (enums.has(type))
      return enums.get(type).isFull() ? type : this.call('uint', 0, enums.get(type).size());
    if (flags.has(type))
      return flags.get(type).isFull() ? type : this.pattern(named, flags.get(type).size());
    if (types.has(type)) return this.struct(named);
    return this.fail(named, `there is no type ${type}`);
  }

  /** Writes a text of UTF-16, which is an array itself. */
  wideString({ token, type }, count) {
    if (type.bound) this.fail(token, 'an array of wide strings needs a type for each');
    return this.call('wideString', count);
  }

  /** Writes a field without a value. */
  wire({ token, wire, values }) {
    if (wire === 'align') return this.call('align');
    const numbers = values.map((one) => one());
    if (numbers.length !== (wire === 'const' ? 2 : 1))
      this.fail(token, `${wire} takes ${wire === 'const' ? '(value, bits)' : '(bits)'}`);
    const [number, bits] = wire === 'const' ? numbers : [0n, numbers[0]];
    if (typeof number !== 'bigint' || typeof bits !== 'bigint' || bits < 1n || bits > 64n)
      this.fail(token, `${wire} takes whole numbers, in 1 to 64 bits`);
    if (number < 0n || number >> bits !== 0n)
      this.fail(token, `${number} does not fit into ${bits} bits`);
    return this.call('constant', `${number}n`, bits);
  }

  /** Writes a type before what needs it. */
  struct(token) {
    const { text: name } = token;
    if (this.done.get(name) === false) this.fail(token, `${name} contains itself`);
    if (!this.done.has(name)) {
      this.done.set(name, false);
      const { items } = this.parser.types.get(name);
      if (items.length === 0) this.fail(token, `${name} has no fields`);
      const fields = this.fields(items);
      this.lines.push(`export const ${name} = ${this.call('struct', fields)};`);
      this.done.set(name, true);
    }
    return name;
  }

  field(item) {
    const value = this.scalar(item);
    const { bound } = item.type;
    if (!bound) return value;
    const [least, most] = [bound.least, bound.most].map((one) => one && Number(one()));
    if (most === undefined) return this.call('fixedArray', value, least);
    return least ? this.call('arrayFrom', value, least, most) : this.call('array', value, most);
  }

  /** Returns the fields of a block, each with the conditions that it stands under. */
  fields(items) {
    const lines = [];
    const names = new Map();
    const add = (list, condition, scope) => {
      const seen = new Map(scope);
      for (const item of list) {
        if (item.subject) {
          const { text: subject } = item.subject;
          const kind = seen.get(subject);
          if (kind === 'branch')
            this.fail(item.subject, `${subject} is in a branch itself; put both into a type`);
          if (kind !== 'bool')
            this.fail(item.subject, `${subject} is no earlier bool of this block`);
          const [yes, no] = [subject, `!${subject}`];
          const under = (part) => (condition ? `${condition} && ${part}` : part);
          add(item.yes, under(item.not ? no : yes), seen);
          add(item.no, under(item.not ? yes : no), seen);
          continue;
        }
        const name = item.wire ? `${item.wire}${names.size}` : item.token.text;
        if (names.has(name)) this.fail(item.token, `${name} is declared twice`);
        const value = item.wire ? this.wire(item) : this.field(item);
        if (condition && (item.type?.bound || item.type?.token.text === 'wstring'))
          this.fail(item.token, `${name}: an array cannot be in a branch; put it into a type`);
        if (condition && item.wire)
          this.fail(item.token, `${item.wire} cannot be in a branch; put it into a type`);
        names.set(name, item);
        seen.set(name, condition ? 'branch' : item.type?.bound ? 'array' : item.type?.token.text);
        lines.push(
          `  ${name}: ${condition ? this.call('when', `'${condition}'`, value) : value},\n`,
        );
      }
    };
    add(items, '', new Map());
    return lines.length > 0 ? `{\n${lines.join('')}}` : '{}';
  }

  /** Writes the enums or flags that have no room for more, and lists all: [name, names, whether it is so]. */
  namedValues(kind, map, first) {
    return [...map].map(([of, { names: more, isFull }]) => {
      const names = [...first, ...more];
      if (names.length < 1 || (kind === 'flags' && names.length > 64))
        this.fail(undefined, `${of} needs 1 to 64 flags`);
      const texts = names.map((one) => `'${one}'`);
      if (isFull()) this.lines.push(`export const ${of} = ${this.call(kind, ...texts)};`);
      return [of, names, isFull()];
    });
  }

  print() {
    const { constants, enums, flags, types, messages } = this.parser;
    const values = {};
    for (const name of constants.keys()) values[name] = this.parser.named({ text: name });
    const choices = this.namedValues('enumeration', enums, ['None']);
    const masks = this.namedValues('flags', flags, []);
    for (const { token } of types.values()) this.struct(token);
    const declared = [...messages].map(([name, { items }]) =>
      this.call('message', `'${name}'`, this.fields(items)),
    );
    if (declared.length === 0) this.fail(undefined, 'there is no message');
    const name = this.parser.package ?? 'messages';
    const indented = declared.map((one) => `\n  ${one.replaceAll('\n', '\n  ')},`);
    this.lines.push(`export const ${name} = ${this.call('schema', `${indented.join('')}\n`)};`);
    return { values, choices, masks, body: this.lines.join('\n'), used: [...this.used].sort() };
  }
}

/** Reads a file of the schema language. The functions below write what it returns. */
export const readSchemaLanguage = (file, text) =>
  new Printer(new Parser(file, text).parse()).print();

const literal = (value) =>
  typeof value === 'bigint' && (value > 2n ** 53n || value < -(2n ** 53n))
    ? `${value}n`
    : `${value}`;

const mask = (names, i) => (names.length > 32 ? `${1n << BigInt(i)}n` : `${2 ** i}`);

/** Returns a module of TypeScript that declares the same; `root` has what the package exports by its name alone. */
export const typeScriptOf = ({ values, choices, masks, body, used }, file, root) => {
  const from = used.every((name) => name in root) ? 'causeway-net' : 'causeway-net/core';
  const lines = [
    ...Object.entries(values).map(([name, value]) => `export const ${name} = ${literal(value)};`),
    ...choices
      .filter(([, , isFull]) => !isFull)
      .map(
        ([name, names]) =>
          `export const ${name} = { ${names.map((one, i) => `${one}: ${i}`).join(', ')} } as const;`,
      ),
    ...masks
      .filter(([, , isFull]) => !isFull)
      .map(
        ([name, names]) =>
          `export const ${name} = { ${names.map((one, i) => `${one}: ${mask(names, i)}`).join(', ')} } as const;`,
      ),
  ];
  return `// causeway-schema has made this from ${file}.
import { ${used.join(', ')} } from '${from}';

${[...lines, body].join('\n')}
`;
};

/** Returns the declarations as values; `api` is the package. Names and numbers are all that the text is made of. */
export const declarationsOf = ({ body, used }, api) => {
  const names = [...body.matchAll(/^export const (\w+)/gm)].map(([, one]) => one);
  const make = new Function(
    ...used,
    `${body.replace(/^export /gm, '')}\nreturn { ${names.join(', ')} };`,
  );
  return make(...used.map((one) => api[one]));
};

const upper = (name) => name.replace(/([a-z\d])([A-Z])/g, '$1_$2').toUpperCase();

const inC = (value) => {
  if (typeof value === 'bigint' && value >= 2n ** 31n) return `UINT64_C(${value})`;
  return value < 0 ? `(${value})` : `${value}`;
};

/** Returns the enumerations and flags that a module exports, in the form of what is read of a file. */
export const namedValues = (module) => {
  const fields = Object.entries(module).filter(([, value]) => value?.view?.names);
  const listed = (isOf) =>
    fields
      .filter(([, { view }]) => (view.type === 'string') === isOf)
      .map(([name, { view }]) => [name, view.names]);
  for (const [name, { view }] of fields)
    for (const one of [name, ...view.names])
      if (!/^\w+$/.test(one)) throw new RangeError(`${name}: ${one} cannot be a name in C`);
  return { values: {}, choices: listed(true), masks: listed(false) };
};

/** Returns the constants, enums and flags as C. */
export const constantsOf = ({ values, choices, masks }) =>
  [
    ...Object.entries(values).map(([name, value]) => `#define ${upper(name)} ${inC(value)}\n`),
    ...choices.map(
      ([name, names]) =>
        `enum ${name} { ${names.map((one) => `${upper(name)}_${upper(one)}`).join(', ')} };\n`,
    ),
    ...masks.flatMap(([name, names]) =>
      names.map((one, i) => `#define ${upper(name)}_${upper(one)} (UINT64_C(1) << ${i})\n`),
    ),
  ].join('');
