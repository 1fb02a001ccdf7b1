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
    const sized = ['bits', 'string', 'bytes'].includes(type);
    if (parameters.length !== Number(sized))
      this.fail(named, `${type} takes ${sized ? 'a number, as (32)' : 'nothing in parentheses'}`);
    const count = sized ? Number(parameters[0]()) : 0;
    if (family) return this.integer(item, family[1] === '', Number(family[2]));
    if (type === 'float32') return this.float(item);
    this.allow(item);
    if (type === 'bits') return this.pattern(named, count);
    if (type === 'string' || type === 'bytes') return this.call(type, count);
    if (type === 'bool') return this.call('bool');
    if (type === 'float64') return this.call('f64');
    const { enums, flags, types } = this.parser;
    if (enums.has(type)) return this.call('uint', 0, enums.get(type).size());
    if (flags.has(type)) return this.pattern(named, flags.get(type).size());
    if (types.has(type)) return this.struct(named);
    return this.fail(named, `there is no type ${type}`);
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
        const name = item.align ? `align${names.size}` : item.token.text;
        if (names.has(name)) this.fail(item.token, `${name} is declared twice`);
        const value = item.align ? this.call('align') : this.field(item);
        if (condition && item.type?.bound)
          this.fail(item.token, `${name}: an array cannot be in a branch; put it into a type`);
        if (condition && item.align) this.fail(item.token, 'align cannot be in a branch');
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

  print() {
    const { constants, enums, flags, types, messages } = this.parser;
    const values = {};
    for (const name of constants.keys()) values[name] = this.parser.named({ text: name });
    for (const { token } of types.values()) this.struct(token);
    const declared = [...messages].map(([name, { items }]) =>
      this.call('message', `'${name}'`, this.fields(items)),
    );
    if (declared.length === 0) this.fail(undefined, 'there is no message');
    const name = this.parser.package ?? 'messages';
    const indented = declared.map((one) => `\n  ${one.replaceAll('\n', '\n  ')},`);
    this.lines.push(`export const ${name} = ${this.call('schema', `${indented.join('')}\n`)};`);
    const choices = [...enums].map(([of, { names }]) => [of, ['None', ...names]]);
    const masks = [...flags].map(([of, { names }]) => [of, names]);
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

/** Returns a module of TypeScript that declares the same. */
export const typeScriptOf = ({ values, choices, masks, body, used }, file) => {
  const lines = [
    ...Object.entries(values).map(([name, value]) => `export const ${name} = ${literal(value)};`),
    ...choices.map(
      ([name, names]) =>
        `export const ${name} = { ${names.map((one, i) => `${one}: ${i}`).join(', ')} } as const;`,
    ),
    ...masks.map(
      ([name, names]) =>
        `export const ${name} = { ${names.map((one, i) => `${one}: ${mask(names, i)}`).join(', ')} } as const;`,
    ),
  ];
  return `// causeway-schema has made this from ${file}.
import { ${used.join(', ')} } from 'causeway-net';

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
