// Binds the WebAssembly modules to TypeScript: their functions are those of the C headers, called with numbers and
// addresses, and their structs have the layout of every C compiler for WebAssembly.
//   node bindings.mjs game | lab    prints the names of the functions, for the linker
// As a module it exports gameModule(), the text of web/src/game/generated.ts, and labModule(), the text of
// web/lab/generated.ts.
import { Headers, camel } from './headers.mjs';

const GAME_HEADERS = [
  'clock_sync',
  'input',
  'prediction',
  'snapshot',
  'interpolation',
  'history',
].map((name) => `core/include/causeway/${name}.h`);
const LAB_HEADERS = ['peer', 'game', 'column'].map((name) => `core/lab/${name}.h`);
/** The names of the lab that JavaScript does not see, because only protocols use them. */
const LAB_HIDDEN = /^cw_lab_(item|arrival|peer_type|sent_item|flow|game|protocol)$/;

const headers = new Headers();

const bare = (name) => camel(name.replace(/^cw_/, ''));
const pascal = (name) => camel(`_${name.replace(/^cw_/, '')}`);

/**
 * Turns a comment of a header into a sentence for TypeScript, with TypeScript's names, and with numbers for constants.
 */
const sentenceOf = (comment) => {
  const sentence = comment
    .replace(/^\/\*|\*\/$/g, '')
    .split('\n')
    .map((line) => line.trim().replace(/^\* ?/, ''))
    .filter(Boolean)
    .join(' ')
    .replace(/\bCW_\w+/g, (name) => headers.number(name))
    .replace(/\b[a-z]+(_[a-z]+)+\b/g, camel);
  return `${sentence[0].toUpperCase()}${sentence.slice(1)}${sentence.endsWith('.') ? '' : '.'}`;
};

/** Says what a member is, and what the numbers of an enum stand for: "0: differences, 1: range coded." */
const noteOf = ({ type, note }) => {
  const sentence = note ? sentenceOf(note) : '';
  const tag = /^enum (\w+)$/.exec(type)?.[1];
  if (!tag) return sentence;
  const own = headers.choices(tag).filter(([, name]) => !/(^|_)COUNT$/.test(name));
  const words = own.map(([value, name]) => `${value}: ${name.toLowerCase().replaceAll('_', ' ')}`);
  return `${sentence} ${words.join(', ')}.`.trim();
};

/** Returns an interface with the header's comment on each member. The members of a config may be left out. */
const declaration = (tag) => {
  const config = tag.endsWith('_config');
  const own = headers
    .layout(tag)
    .fields.filter(
      ({ reader, name }) =>
        !config ||
        (reader !== 'struct' && !/^(schema|type|.*Type|tolerances|smoothLimits)$/.test(name)),
    );
  const lines = own.map((field) => {
    const note = noteOf(field);
    const type = field.reader === 'bool' ? 'boolean' : 'number';
    return `${note ? `  /** ${note} */\n` : ''}  readonly ${field.name}${config ? '?' : ''}: ${type};`;
  });
  return `export interface ${pascal(tag)} {\n${lines.join('\n')}\n}\n`;
};

const table = (tag) => {
  const { fields, size } = headers.layout(tag);
  const rows = fields
    .filter(({ reader }) => reader !== 'struct' && reader !== 'array')
    .map(({ name, reader, place }) => `    ['${name}', '${reader}', ${place}],\n`);
  return `export const ${bare(tag)}Struct = {\n  size: ${size},\n  fields: [\n${rows.join('')}  ],\n} as const;\n`;
};

const choices = (tag) => {
  const words = headers.choices(tag).map(([value, name]) => [value, name.toLowerCase()]);
  const names = JSON.stringify(Object.fromEntries(words));
  return `export const ${bare(tag)}s = ${names} as const;\n`;
};

const exportsText = (functions) =>
  functions
    .map((name) => {
      const { names, result } = headers.signature(name);
      return `  ${name}(${names.join(', ')}): ${result};\n`;
    })
    .join('');

/** Returns the exports of a module as an interface, and the structs and enums of its headers. */
const moduleText = (paths, functions, { file, source, name }) => {
  const tags = paths
    .flatMap((path) => headers.structs(path))
    .filter((tag) => !LAB_HIDDEN.test(tag));
  const enums = paths.flatMap((path) => headers.enums(path));
  return `// Made by scripts/generate.mjs from the headers of the core.
import type { ModuleExports } from '${source}';

/** The functions of ${file}: those of the headers, with addresses for pointers. */
export interface ${name} extends ModuleExports {
${exportsText(functions)}}

${tags.map((tag) => `${declaration(tag)}\n${table(tag)}`).join('\n')}
${enums.map(choices).join('\n')}`;
};

const functionsOf = (path) => headers.functions(path).map(({ name }) => name);

/** Returns all functions of the game kit, with the functions of schemas that it needs. */
const gameFunctions = () => [...GAME_HEADERS.flatMap(functionsOf), 'cw_schema_message_size'];

const labFunctions = () =>
  functionsOf('core/lab/column.h').filter((name) => !LAB_HIDDEN.test(name));

export const gameModule = () => {
  const text = moduleText(GAME_HEADERS, gameFunctions(), {
    file: 'causeway-game.wasm',
    source: '../module.js',
    name: 'GameExports',
  });
  const errors = GAME_HEADERS.flatMap((path) => headers.errors(path));
  const codes = errors.map(([name, number]) => [number, name.replace('CW_ERROR_', '')]);
  return `${text}
export const gameErrorCodes: Readonly<Record<number, GameErrorCode>> = ${JSON.stringify(Object.fromEntries(codes))};
export type GameErrorCode = ${codes.map(([, name]) => `'${name}'`).join(' | ')};
`;
};

export const labModule = () =>
  moduleText(LAB_HEADERS, labFunctions(), {
    file: 'causeway-lab.wasm',
    source: '../src/module.js',
    name: 'LabExports',
  });

const listed = { game: gameFunctions, lab: labFunctions }[process.argv[2]];
if (listed)
  process.stdout.write(
    listed()
      .map((name) => `${name}\n`)
      .join(''),
  );
