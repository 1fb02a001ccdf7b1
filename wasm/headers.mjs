// Reads the project's C headers. It is the only place that knows their form: the generators of bindings and the tests
// take from it what they need of a header. Names are unique in the project, so no one has to say which header has them.
import { existsSync, readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const FOLDERS = [
  'core/include/causeway',
  'core/protocols/include/causeway',
  'core/src',
  'core/lab',
  'relay',
  'wasm',
];

/** The C types of members and parameters, each with its size in bytes, its reader, and its type in JavaScript. */
const TYPES = {
  bool: [1, 'bool', 'number'],
  uint8_t: [1, 'u8', 'number'],
  char: [1, 'u8', 'number'],
  uint16_t: [2, 'u16', 'number'],
  int: [4, 'i32', 'number'],
  int32_t: [4, 'i32', 'number'],
  uint32_t: [4, 'u32', 'number'],
  size_t: [4, 'u32', 'number'],
  float: [4, 'f32', 'number'],
  double: [8, 'f64', 'number'],
  uint64_t: [8, 'u64', 'bigint'],
};
/** The type of an address. */
const ADDRESS = [4, 'address', 'number'];

const withoutComments = (text) => text.replace(/\/\*[^]*?\*\//g, '').replace(/\\\n/g, ' ');
const withoutDirectives = (text) => withoutComments(text).replace(/^#.*$/gm, '');

const typeOf = (text, where) => {
  const type = text.replace(/\bconst\b/g, '').trim();
  if (type.endsWith('*')) return ADDRESS;
  if (/^enum cw_\w+$/.test(type)) return TYPES.int;
  const known = TYPES[type];
  if (!known) throw new Error(`${where}: the type ${text} is not understood`);
  return known;
};

/** Splits a declaration: "const uint8_t *data" becomes type "const uint8_t *" and name "data". */
const split = (text, where) => {
  const plain = text.trim().replace(/\s+/g, ' ');
  const pointer = /^void \(\*(\w+)\)\(|^void \*\(\*(\w+)\)\(/.exec(plain);
  if (pointer) return { type: 'void *', name: pointer[1] ?? pointer[2] };
  const match = /^(.*?[\s*])(\w+)(?:\[(.+)\])?$/.exec(plain);
  if (!match) throw new Error(`${where}: ${text} is not understood`);
  return { type: match[1].trim(), name: match[2], length: match[3] };
};

export const camel = (name) => name.replace(/_(\w)/g, (_, letter) => letter.toUpperCase());

/** Returns the words that all names begin with. */
const beginning = (names) =>
  names.reduce(
    (common, name) => {
      while (!name.startsWith(common)) common = common.replace(/[^_]*_$/, '');
      return common;
    },
    names[0].replace(/[^_]*$/, ''),
  );

/** The headers of a repository, as WebAssembly's compiler understands them. */
export class Headers {
  #files;
  #plain;
  #declarations;
  #functions = new Map();

  constructor(root = fileURLToPath(new URL('..', import.meta.url))) {
    this.#files = new Map(
      FOLDERS.filter((folder) => existsSync(join(root, folder)))
        .flatMap((folder) =>
          readdirSync(join(root, folder), { recursive: true })
            .filter((path) => path.endsWith('.h'))
            .map((path) => `${folder}/${path}`),
        )
        .map((path) => [path, readFileSync(join(root, path), 'utf8')]),
    );
    this.#plain = withoutComments([...this.#files.values()].join('\n'));
    this.#declarations = withoutDirectives([...this.#files.values()].join('\n'));
    for (const path of this.#files.keys())
      for (const one of this.functions(path)) this.#functions.set(one.name, one);
  }

  /** Returns the functions that a header declares or defines, in its order. */
  functions(path) {
    const text = withoutDirectives(this.#file(path));
    return [...text.matchAll(/^([a-z][\w ]*[\s*])(\w+)\(([^)]*)\)(;|\n\{)/gm)]
      .filter(([, result]) => !/^(typedef|return|static)\b/.test(result))
      .map(([, result, name, list]) => ({ name, result: result.trim(), list }));
  }

  /** Returns a function's parameters and result as TypeScript has them. */
  signature(name) {
    const { result, list } = this.#functions.get(name) ?? {};
    if (!result) throw new Error(`no header has a function ${name}`);
    const parameters = list === 'void' ? [] : list.split(',').map((one) => split(one, name));
    const names = parameters.map(({ type, name: of, length }) => {
      const [, , script] = length ? ADDRESS : typeOf(type, name);
      return `${camel(of)}: ${script}`;
    });
    // A function that returns a struct writes it to an address, which is its first argument.
    if (/^struct \w+$/.test(result)) return { names: ['out: number', ...names], result: 'void' };
    return { names, result: result === 'void' ? 'void' : typeOf(result, name)[2] };
  }

  /** Returns the names of a header's structs, in its order. */
  structs(path) {
    return [...this.#file(path).matchAll(/^struct (cw_\w+) \{/gm)].map(([, name]) => name);
  }

  /** Returns the names of a header's enums, in its order. */
  enums(path) {
    return [...this.#file(path).matchAll(/^enum (cw_\w+) \{/gm)].map(([, name]) => name);
  }

  /** Returns the enumerators of an enum, each with its number. */
  enumerators(tag) {
    const body = new RegExp(`^enum ${tag} \\{([^}]*)\\};`, 'm').exec(this.#declarations)?.[1];
    if (!body) throw new Error(`no header has an enum ${tag}`);
    let next = 0;
    return body
      .split(',')
      .map((entry) => entry.trim())
      .filter(Boolean)
      .map((entry) => {
        const [name, value] = entry.split(/\s*=\s*/);
        next = value === undefined ? next : this.#value(value, name);
        return [name, next++];
      });
  }

  /** Returns the numbers of an enum, each with its enumerator's name without the beginning that all have in common. */
  choices(tag) {
    const all = this.enumerators(tag);
    const { length } = beginning(all.map(([name]) => name));
    return all.map(([name, value]) => [value, name.slice(length)]);
  }

  /** Returns the number of a #define or of an enumerator. */
  number(name) {
    const text = new RegExp(`^#define ${name}[^\\S\\n]+(.+?)\\s*$`, 'm').exec(this.#plain)?.[1];
    if (text) return this.#value(text, name);
    for (const [, tag, body] of this.#declarations.matchAll(/^enum (cw_\w+) \{([^}]*)\};/gm))
      if (new RegExp(`(^|,)\\s*${name}\\s*(=|,|$)`).test(body))
        return this.enumerators(tag).find(([one]) => one === name)[1];
    throw new Error(`no header has a number ${name}`);
  }

  /** Returns the text of a #define. */
  string(name) {
    const text = new RegExp(`^#define ${name}\\s+"(.*)"$`, 'm').exec(this.#plain)?.[1];
    if (text === undefined) throw new Error(`no header defines ${name} as text`);
    return text;
  }

  /** Returns the rows of an X-macro, each as an array of its arguments. Texts come without quotes. */
  rows(macro) {
    const text = new RegExp(`^#define ${macro}\\(X\\)(.*)`, 'm').exec(this.#plain)?.[1];
    if (!text) throw new Error(`no header has a list ${macro}`);
    return [...text.matchAll(/\bX\(((?:"[^"]*"|[^()"])*)\)/g)].map(([, row]) =>
      [...row.matchAll(/"([^"]*)"|[^\s,"]+/g)].map(([all, quoted]) => quoted ?? all),
    );
  }

  /** Returns the errors that a header adds to those of base.h, each with its number. */
  errors(path) {
    return [
      ...this.#file(path).matchAll(/^#define (CW_ERROR_\w+)\s+\(\(enum cw_error\)(\w+)\)$/gm),
    ].map(([, name, value]) => [name, Number(value)]);
  }

  /** Returns the members of a struct with their comments, on the line where a member ends, or else before it. */
  members(tag) {
    const text = [...this.#files.values()]
      .map((file) => new RegExp(`^struct ${tag} \\{\n([^}]*)\\};`, 'm').exec(file)?.[1])
      .find(Boolean);
    if (!text) throw new Error(`no header has a struct ${tag}`);
    const result = [];
    let before = '';
    let last;
    let end; // where the last member ends
    for (const found of text.matchAll(/(\/\*[^]*?\*\/)|([^;/]+;[^\S\n]*)/g)) {
      const [, note, code] = found;
      if (note) {
        if (found.index === end) last.note = note;
        else before = note;
        continue;
      }
      end = found.index + code.length;
      if (/^\s*CW_\w+;\s*$/.test(code)) continue; // a macro that is empty here
      const [first, ...more] = code.replace(/;\s*$/, '').split(/,(?![^(]*\))/);
      const { type, name, length } = split(first, tag);
      for (const member of [name, ...more.map((one) => one.trim())])
        result.push({ type, length, member, note: before });
      last = result.at(-1);
      before = '';
    }
    return result;
  }

  /** Returns the members of a struct with their offsets, and the struct's size and alignment. */
  layout(tag) {
    let offset = 0;
    let widest = 1;
    const fields = this.members(tag).map(({ type, length, member, note }) => {
      const { size, alignment, reader } = this.#shape(type, tag);
      const place = Math.ceil(offset / alignment) * alignment;
      offset = place + size * (length ? this.#value(length, tag) : 1);
      widest = Math.max(widest, alignment);
      return { name: camel(member), type, reader: length ? 'array' : reader, place, note };
    });
    return { fields, size: Math.ceil(offset / widest) * widest, alignment: widest };
  }

  #shape(type, where) {
    const inner = /^struct (\w+)$/.exec(type);
    if (inner) return { ...this.layout(inner[1]), reader: 'struct' };
    const [size, reader] = typeOf(type, where);
    return { size, alignment: size, reader };
  }

  /** Returns the value of a number, a name, or a sum of them. */
  #value(text, where) {
    const bare = text.trim().replace(/^\((.*)\)$/, '$1');
    const sum = bare.split(/\s+\+\s+/);
    if (sum.length > 1) return sum.reduce((all, term) => all + this.#value(term, where), 0);
    if (bare === 'UINT32_MAX') return 2 ** 32 - 1;
    if (/^[A-Z]\w*$/.test(bare)) return this.number(bare);
    if (!/^-?(0x[\da-f]+|\d+(\.\d+)?)$/i.test(bare))
      throw new Error(`the number of ${where}, ${text}, is not understood`);
    return Number(bare);
  }

  #file(path) {
    const text = this.#files.get(path);
    if (text === undefined) throw new Error(`there is no header ${path}`);
    return text;
  }
}
