// Reads from C headers what JavaScript has to know of the modules that are made of them: their functions are those of
// the headers, called with numbers and addresses, and their structs have the layout of every C compiler for WebAssembly.
//   node header_modules.mjs game | lab    prints the names of the functions, for the linker
// As a module it exports gameModule(), the text of web/src/game/generated.ts, labModule(), the text of
// web/lab/generated.ts, and layout(), which gives the offsets of a struct's members.
import { readFileSync } from 'node:fs';

const GAME_MODULES = ['clock_sync', 'input', 'prediction', 'snapshot', 'interpolation', 'history'];
const LAB_MODULES = ['peer', 'game', 'column'];
/** The names of the lab that JavaScript does not see, because only protocols use them. */
const LAB_HIDDEN = /^cw_lab_(item|arrival|peer_type|sent_item|flow|game|protocol)$/;
const folder = (module) =>
  LAB_MODULES.includes(module) ? '../core/lab/' : '../core/include/causeway/';
const read = (module) =>
  readFileSync(new URL(`${folder(module)}${module}.h`, import.meta.url), 'utf8');
const bare = (text) => text.replace(/\/\*[^]*?\*\//g, '').replace(/^#.*(\\\n.*)*$/gm, '');

const camel = (name) => name.replace(/_(\w)/g, (_, letter) => letter.toUpperCase());
const pascal = (name) => camel(`_${name.replace(/^cw_/, '')}`);

/** The C types of members and parameters, each with its size in bytes, its reader, and its type in JavaScript. */
const TYPES = {
  bool: [1, 'bool', 'number'],
  uint8_t: [1, 'u8', 'number'],
  uint16_t: [2, 'u16', 'number'],
  int32_t: [4, 'i32', 'number'],
  uint32_t: [4, 'u32', 'number'],
  size_t: [4, 'u32', 'number'],
  float: [4, 'f32', 'number'],
  double: [8, 'f64', 'number'],
  uint64_t: [8, 'u64', 'bigint'],
};
/** The type of an address. struct cw_allocator consists of three of them. */
const ADDRESS = [4, 'u32', 'number'];
const STRUCTS = { 'struct cw_allocator': [12, 'allocator'] };

const typeOf = (text, where) => {
  const type = text.replace(/\bconst\b/g, '').trim();
  if (type.endsWith('*')) return ADDRESS;
  if (/^enum cw_\w+$/.test(type)) return [4, 'i32', 'number'];
  const known = TYPES[type];
  if (!known) throw new Error(`${where}: the type ${text} is not understood`);
  return known;
};

/** Splits a declaration: "const uint8_t *data" becomes ["const uint8_t *", "data"]. */
const split = (text, where) => {
  const match = /^(.*?[\s*])(\w+)(\[\w+\])?$/.exec(text.trim().replace(/\s+/g, ' '));
  if (!match) throw new Error(`${where}: ${text} is not understood`);
  return [match[3] ? `${match[1]}*` : match[1].trim(), match[2]];
};

/** Returns the functions of a header, with name, parameters and result as TypeScript has them. */
const functions = (module) =>
  [...bare(read(module)).matchAll(/^([a-z][\w ]*[\s*])(cw_\w+)\(([^)]*)\)(;|\n\{)/gm)]
    .filter(([, result]) => !/^(typedef|return)\b/.test(result) && !/^static/.test(result))
    .map(([, result, name, list]) => {
      const parameters = list === 'void' ? [] : list.split(',').map((one) => split(one, name));
      const names = parameters.map(([type, of]) => `${camel(of)}: ${typeOf(type, name)[2]}`);
      const type = result.trim();
      // A function that returns a struct writes it to an address, which is its first argument.
      if (/^struct \w+$/.test(type))
        return { name, names: ['out: number', ...names], result: 'void' };
      return { name, names, result: type === 'void' ? 'void' : typeOf(type, name)[2] };
    });

/** Returns the number of an enumerator of a header, or of a #define in it or in schema.h. */
const constant = (module, name) => {
  const text = bare(read(module));
  for (const [, list] of text.matchAll(/^enum cw_\w+ \{([^}]*)\};/gm))
    for (const [one, value] of enumerators(list)) if (one === name) return value;
  const defines = read(module) + read('schema');
  const value = new RegExp(`^#define ${name}\\s+(\\w+)`, 'm').exec(defines)?.[1];
  if (value === 'UINT32_MAX') return 2 ** 32 - 1;
  if (!/^\d+$/.test(value ?? ''))
    throw new Error(`${module}.h: the number of ${name} is not known`);
  return Number(value);
};

/**
 * Turns a comment of a header into a sentence for TypeScript, with TypeScript's names, and with numbers for constants.
 */
const comment = (module, text) => {
  const sentence = text
    .replace(/^\/\*|\*\/$/g, '')
    .split('\n')
    .map((line) => line.trim().replace(/^\* ?/, ''))
    .filter(Boolean)
    .join(' ')
    .replace(/\bCW_\w+/g, (name) => constant(module, name))
    .replace(/\b[a-z]+(_[a-z]+)+\b/g, camel);
  return `${sentence[0].toUpperCase()}${sentence.slice(1)}${sentence.endsWith('.') ? '' : '.'}`;
};

/**
 * Returns the members of a struct with their comments, which stand on the line where a member ends, or else before it.
 */
const members = (module, name) => {
  const text = new RegExp(`^struct ${name} \\{\n([^}]*)\\};`, 'm').exec(read(module))?.[1];
  if (!text) throw new Error(`${module}.h has no struct ${name}`);
  const result = [];
  let before = '';
  let last;
  let end; // where the last member ends
  for (const found of text.matchAll(/(\/\*[^]*?\*\/)|([^;/]+;[^\S\n]*)/g)) {
    const [, note, code] = found;
    if (note) {
      if (found.index === end) last.note = comment(module, note);
      else before = comment(module, note);
      continue;
    }
    end = found.index + code.length;
    const [type, first] = split(code.split(/[;,]/)[0], name);
    const names = [first, ...code.replace(/;\s*$/, '').split(',').slice(1)].map((one) =>
      one.trim(),
    );
    for (const member of names) result.push({ type, member, note: before });
    last = result.at(-1);
    before = '';
  }
  for (const member of result.filter(({ type }) => type.startsWith('enum ')))
    member.note = `${member.note} ${choices(module, member.type)}`.trim();
  return result;
};

/** Returns the beginning that all names of an enum have in common. */
const beginning = (all) =>
  all.reduce(
    (common, [name]) => {
      while (!name.startsWith(common)) common = common.replace(/[^_]*_$/, '');
      return common;
    },
    all[0][0].replace(/[^_]*$/, ''),
  );

/** Says what the numbers of an enum stand for: "0: differences, 1: range coded." */
const choices = (module, type) => {
  const { all } = enums(module).find(({ name }) => type === `enum ${name}`);
  const { length } = beginning(all);
  const words = (name) => name.slice(length).toLowerCase().replaceAll('_', ' ');
  const own = all.filter(([name]) => !name.endsWith('_COUNT'));
  return `${own.map(([name, value]) => `${value}: ${words(name)}`).join(', ')}.`;
};

/** Returns the members of a struct with their offsets, and its size. */
export const layout = (module, name) => {
  let offset = 0;
  let widest = 1;
  const fields = members(module, name).map(({ type, member, note }) => {
    const [size, reader] = STRUCTS[type] ?? typeOf(type, name);
    const alignment = Math.min(size, reader === 'allocator' ? 4 : 8);
    const place = Math.ceil(offset / alignment) * alignment;
    offset = place + size;
    widest = Math.max(widest, alignment);
    return { name: camel(member), reader, place, note };
  });
  return { fields, size: Math.ceil(offset / widest) * widest };
};

/** Returns the enumerators of an enum whose values count up, without their common beginning. */
const enumerators = (text) => {
  let next = 0;
  return text
    .split(',')
    .map((entry) => entry.trim())
    .filter(Boolean)
    .map((entry) => {
      const [name, value] = entry.split(/\s*=\s*/);
      next = value === undefined ? next : Number(value);
      return [name, next++];
    });
};

const enums = (module) =>
  [...bare(read(module)).matchAll(/^enum (cw_\w+) \{([^}]*)\};/gm)].map(([, name, text]) => {
    const all = enumerators(text);
    const { length } = beginning(all);
    return {
      name,
      all,
      values: all.map(([one, value]) => [value, one.slice(length).toLowerCase()]),
    };
  });

const structs = (module) =>
  [...read(module).matchAll(/^struct (cw_\w+) \{/gm)]
    .filter(([, name]) => !LAB_HIDDEN.test(name))
    .map(([, name]) => ({ name, ...layout(module, name) }));

/** Returns an interface with the header's comment on each member. The members of a config may be left out. */
const declaration = ({ name, fields }) => {
  const config = name.endsWith('_config');
  const own = fields.filter(
    ({ reader, name: of }) =>
      !config ||
      (reader !== 'allocator' && !/^(schema|type|.*Type|tolerances|smoothLimits)$/.test(of)),
  );
  const lines = own.map(({ name: of, reader, note }) => {
    const type = reader === 'bool' ? 'boolean' : 'number';
    return `${note ? `  /** ${note} */\n` : ''}  readonly ${of}${config ? '?' : ''}: ${type};`;
  });
  return `export interface ${pascal(name)} {\n${lines.join('\n')}\n}\n`;
};

const table = ({ name, fields, size }) => {
  const rows = fields
    .filter(({ reader }) => reader !== 'allocator')
    .map(({ name: of, reader, place }) => `    ['${of}', '${reader}', ${place}],\n`);
  return `export const ${camel(name.replace(/^cw_/, ''))}Struct = {\n  size: ${size},\n  fields: [\n${rows.join('')}  ],\n} as const;\n`;
};

/** Returns the errors that these headers define, by number. */
const errors = (modules) =>
  Object.fromEntries(
    modules.flatMap((module) =>
      [...read(module).matchAll(/^#define CW_ERROR_(\w+)\s+\(\(enum cw_error\)(\w+)\)$/gm)].map(
        ([, name, value]) => [Number(value), name],
      ),
    ),
  );

/** Returns all functions of the game kit, with the functions of schemas that it needs. */
const gameFunctions = () => [
  ...GAME_MODULES.flatMap((module) => functions(module)),
  ...functions('schema').filter(({ name }) => name === 'cw_schema_message_size'),
];

const labFunctions = () => functions('column').filter(({ name }) => !LAB_HIDDEN.test(name));

/** Returns the exports of a module as an interface, and the structs and enums of its headers. */
const moduleText = (modules, exported, { file, source, name }) => {
  const lines = exported.map(
    ({ name: of, names, result }) => `  ${of}(${names.join(', ')}): ${result};`,
  );
  const kept = modules.flatMap((module) => structs(module));
  return `// Made by scripts/generate.mjs from the headers of the core.
import type { ModuleExports } from '${source}';

/** The functions of ${file}: those of the headers, with addresses for pointers. */
export interface ${name} extends ModuleExports {
${lines.join('\n')}
}

${kept.map((struct) => `${declaration(struct)}\n${table(struct)}`).join('\n')}
${modules
  .flatMap(enums)
  .map(
    ({ name: of, values }) =>
      `export const ${camel(of.replace(/^cw_/, ''))}s = ${JSON.stringify(Object.fromEntries(values))} as const;\n`,
  )
  .join('\n')}`;
};

export const gameModule = () =>
  `${moduleText(GAME_MODULES, gameFunctions(), {
    file: 'causeway-game.wasm',
    source: '../module.js',
    name: 'GameExports',
  })}
export const gameErrorCodes: Readonly<Record<number, GameErrorCode>> = ${JSON.stringify(errors(GAME_MODULES))};
export type GameErrorCode = ${Object.values(errors(GAME_MODULES))
    .map((name) => `'${name}'`)
    .join(' | ')};
`;

export const labModule = () =>
  moduleText(LAB_MODULES, labFunctions(), {
    file: 'causeway-lab.wasm',
    source: '../src/module.js',
    name: 'LabExports',
  });

const listed = { game: gameFunctions, lab: labFunctions }[process.argv[2]];
if (listed)
  process.stdout.write(
    listed()
      .map(({ name }) => `${name}\n`)
      .join(''),
  );
