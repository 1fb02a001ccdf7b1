// Binds the WebAssembly modules to TypeScript: their functions are those of the C headers, called with numbers and
// addresses, and their structs have the layout of every C compiler for WebAssembly.
//   node bindings.mjs core | server | game | game-server | protocols | lab    prints the names of a module's functions, for the linker
// As a module it exports the texts for TypeScript.
import { readdirSync, readFileSync } from 'node:fs';
import { Headers, camel } from './headers.mjs';

const GAME_HEADERS = [
  'clock_sync',
  'input',
  'prediction',
  'interest',
  'snapshot',
  'interpolation',
  'history',
  'game_config',
  'game_client',
  'game_server',
].map((name) => `core/include/causeway/${name}.h`);
/** The functions of the game kit that only servers call. */
const GAME_SERVER = /^cw_(game_server|snapshot_server|input_receiver|clock_echo|interest|history)_/;
const PROTOCOL_HEADERS = ['rudp', 'notify', 'bunch'].map(
  (name) => `core/protocols/include/causeway/protocols/${name}.h`,
);
const LAB_HEADERS = ['peer', 'game', 'column', 'line', 'match', 'cubes_view'].map(
  (name) => `core/lab/${name}.h`,
);
/** The lab also reads recordings of connections. */
const RECORD_HEADER = 'core/include/causeway/record.h';
/** The names that the lab's JavaScript does not see, because only protocols use them, or those who record. */
const LAB_HIDDEN = /^cw_(lab_(item|arrival|peer_type|sent_item|flow|game|protocol)|record_config)$/;

/** The headers that are bound; a test binds others. */
let headers = new Headers();

export const bind = (other) => {
  headers = other;
};

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

/** Returns the names by which an option of a config is chosen, in the order of their numbers; the lab has numbers. */
const namesOf = (tag, { type }) => {
  const choice = /^enum (\w+)$/.exec(type)?.[1];
  if (!choice || !tag.endsWith('_config') || tag.startsWith('cw_lab_')) return undefined;
  return headers.choices(choice).flatMap(([, name]) => (/(^|_)COUNT$/.test(name) ? [] : [name]));
};

/** Says what a member is, and what the numbers of an enum stand for: "0: differences, 1: range coded." */
const noteOf = ({ type, note = '' }, names) => {
  const named = (constant) => names?.find((name) => constant.endsWith(`_${name}`)) ?? constant;
  const sentence = note && sentenceOf(note.replace(/\bCW_\w+/g, named));
  const tag = /^enum (\w+)$/.exec(type)?.[1];
  if (!tag || names) return sentence;
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
        (reader !== 'struct' &&
          !/^(schema|type|.*Type|tolerances|smoothLimits|groupLimits)$/.test(name)),
    );
  const lines = own.map((field) => {
    const names = namesOf(tag, field);
    const note = noteOf(field, names);
    const inner = field.reader === 'struct' && pascal(/\w+$/.exec(field.type)[0]);
    const type =
      names?.map((name) => `'${name}'`).join(' | ') ??
      (inner || (field.reader === 'bool' ? 'boolean' : 'number'));
    return `${note ? `  /** ${note} */\n` : ''}  readonly ${field.name}${config ? '?' : ''}: ${type};`;
  });
  return `export interface ${pascal(tag)} {\n${lines.join('\n')}\n}\n`;
};

/** Returns the size of a struct and the offsets of its members by type, which is the shortest form in a page. */
const table = (tag) => {
  const { fields, size } = headers.layout(tag);
  const members = fields.filter(({ reader }) => reader !== 'struct' && reader !== 'array');
  const readers = [...new Set(members.map(({ reader }) => reader))].map((reader) => [
    reader,
    offsetsOf(members.filter((member) => member.reader === reader)),
  ]);
  const named = members.map((member) => [member.name, namesOf(tag, member)]);
  const names = Object.fromEntries(named.filter(([, its]) => its));
  const value = { size, fields: Object.fromEntries(readers), names };
  return `export const ${bare(tag)}Struct = ${JSON.stringify(value)} as const;\n`;
};

const offsetsOf = (fields) => Object.fromEntries(fields.map(({ name, place }) => [name, place]));

/** Returns the offsets of a struct's members by name. */
const places = (tag) =>
  `export const ${bare(tag)}At = ${JSON.stringify(offsetsOf(headers.layout(tag).fields))} as const;\n`;

/** Returns numbers by name, of which the compiler puts those that are used where they are used. */
export const inlined = (name, numbers) => {
  const rows = Object.entries(numbers).map(([key, number]) => `${key} = ${number}`);
  return `export const enum ${name} {${rows.join(', ')}}\n`;
};

/** Returns the offsets of a struct's members, and its size, as numbers for the compiler. */
const offsets = (tag) => {
  const { fields, size } = headers.layout(tag);
  return `${inlined(`${bare(tag)}At`, offsetsOf(fields))}export const ${bare(tag)}Size = ${size};\n`;
};

/** Returns the address of a member that lies in structs within structs, from the address of the outermost. */
const within = (tag, [member, ...more]) => {
  const { place, type } = headers.layout(tag).fields.find(({ name }) => name === member);
  return place + (more.length > 0 ? within(type.replace('struct ', ''), more) : 0);
};

/** Returns what an overlay reads of a connection beyond the functions of the core. */
export const packetPlaces = () => {
  const endpoint = (...path) => within('cw_endpoint', path);
  const places = {
    endpoint: within('cw_connection', ['endpoint']),
    channels: within('cw_connection', ['config', 'channelCount']),
    messagesRead: within('cw_connection', ['messagesRead']),
    next: endpoint('sent', 'window', 'next'),
    theirAck: endpoint('sent', 'headerAck'),
    theirAckBits: endpoint('sent', 'headerAckBits'),
    theirNext: endpoint('received', 'window', 'next'),
    ackBits: endpoint('received', 'history'),
  };
  return `// Made by scripts/generate.mjs from the headers of the core.
export const packetAt = ${JSON.stringify(places)} as const;
`;
};

const choices = (tag) => {
  const words = headers.choices(tag).map(([value, name]) => [value, name.toLowerCase()]);
  const names = JSON.stringify(Object.fromEntries(words));
  return `export const ${bare(tag)}s = ${names} as const;\n`;
};

/** Returns functions as members of an interface. */
const signatures = (functions) =>
  functions
    .map((name) => {
      const { names, result } = headers.signature(name);
      return `  ${name}(${names.join(', ')}): ${result};\n`;
    })
    .join('');

const functionsOf = (path) => headers.functions(path).map(({ name }) => name);

/** The functions of every module. */
const common = () => [...functionsOf('wasm/module.h'), 'cw_schema_decode', 'cw_schema_destroy'];

/** Returns the functions of the core that TypeScript calls, so that the modules have no others. */
const called = (isOurs) => {
  const sources = new URL('../web/src/', import.meta.url);
  const names = readdirSync(sources, { recursive: true })
    .filter((path) => path.endsWith('.ts') && !path.endsWith('generated.ts') && isOurs(path))
    .flatMap((path) => {
      const text = readFileSync(new URL(path, sources), 'utf8');
      return text.replace(/\/\*[^]*?\*\/|\/\/.*/g, '').match(/(?<=\bexports\.)cw_\w+/g) ?? [];
    });
  return [...new Set(names)].sort();
};

/** The functions of each module beside the common ones. */
const MODULES = {
  core: () => [
    ...functionsOf('wasm/message.h'),
    ...called((path) => !/^(game|protocols|record|server)\//.test(path)),
  ],
  record: () => called((path) => path.startsWith('record/')),
  server: () => [
    ...MODULES.core(),
    ...MODULES.record(),
    ...called((path) => path.startsWith('server/')),
  ],
  game: () => MODULES['game-server']().filter((name) => !GAME_SERVER.test(name)),
  /** The game kit also needs a function of schemas. */
  'game-server': () => [
    ...GAME_HEADERS.flatMap(functionsOf).filter((name) => !name.endsWith('_memory')),
    'cw_schema_message_size',
  ],
  protocols: () => [
    ...PROTOCOL_HEADERS.flatMap(functionsOf).filter((name) => !name.endsWith('_memory')),
    'cw_protocol_error_string',
  ],
  lab: () => [
    ...['column', 'line', 'match', 'cubes_view']
      .flatMap((name) => functionsOf(`core/lab/${name}.h`))
      .filter((name) => !LAB_HIDDEN.test(name)),
    ...functionsOf(RECORD_HEADER).filter((name) => name.startsWith('cw_recording_')),
  ],
};

const functionsIn = (module) => {
  const shared = common();
  return [...new Set(MODULES[module]())].filter((name) => !shared.includes(name));
};

/** Returns the exports of a module as an interface, and the structs and enums of its headers. */
const moduleText = (module, paths, { file, source, name }) => {
  const tags = paths
    .flatMap((path) => headers.structs(path))
    .filter((tag) => !LAB_HIDDEN.test(tag));
  const enums = paths.flatMap((path) => headers.enums(path));
  return `// Made by scripts/generate.mjs from the headers of the core.
import type { ModuleExports } from '${source}';

/** The functions of ${file}: those of the headers, with addresses for pointers. */
export interface ${name} extends ModuleExports {
${signatures(functionsIn(module))}}

${tags.map((tag) => `${declaration(tag)}\n${table(tag)}`).join('\n')}
${enums.map(choices).join('\n')}`;
};

export const gameModule = () => {
  const text = moduleText('game-server', GAME_HEADERS, {
    file: 'causeway-game-server.wasm',
    source: '../module.js',
    name: 'GameExports',
  });
  const errors = GAME_HEADERS.flatMap((path) => headers.errors(path));
  const codes = errors.map(([name, number]) => [number, name.replace('CW_ERROR_', '')]);
  return `${text}
${['cw_game_client_stats', 'cw_game_entity', 'cw_game_server_stats'].map(offsets).join('\n')}
export const GAME_BODY_SIZE = ${headers.number('CW_GAME_BODY_SIZE')};
export const gameErrorCodes: Readonly<Record<number, GameErrorCode>> = ${JSON.stringify(Object.fromEntries(codes))};
export type GameErrorCode = ${codes.map(([, name]) => `'${name}'`).join(' | ')};
`;
};

export const protocolsModule = () => {
  const text = moduleText('protocols', PROTOCOL_HEADERS, {
    file: 'causeway-protocols.wasm',
    source: '../module.js',
    name: 'ProtocolExports',
  });
  const codes = headers.choices('cw_protocol_error').map(([, name]) => name.replace('ERROR_', ''));
  return `${text}
${['cw_bunch_config', 'cw_bunch_stats'].map(offsets).join('\n')}
export const NOTIFY_HEADER_SIZE = ${headers.number('CW_NOTIFY_HEADER_SIZE')};
export const protocolErrorCodes = ${JSON.stringify(codes.slice(0, codes.indexOf('COUNT')))} as const;
export type ProtocolErrorCode = Exclude<(typeof protocolErrorCodes)[number], 'OK'>;
`;
};

export const labModule = () => {
  const text = moduleText('lab', [...LAB_HEADERS, RECORD_HEADER], {
    file: 'causeway-lab.wasm',
    source: '../src/module.js',
    name: 'LabExports',
  });
  const numbers = [
    ...['LINE_MAX_DATAGRAM', 'PLAYERS', 'PITCH_WIDTH', 'PITCH_HEIGHT'],
    ...['CUBES_COUNT', 'CUBES_FIGURES', 'CUBES_RATE', 'CUBES_VIEW_SIZE'],
  ].map((name) => `export const ${name} = ${headers.number(`CW_LAB_${name}`)};\n`);
  return `${text}\n${numbers.join('')}`;
};

/** Returns the exports of the modules that contain the protocol, and the structs that TypeScript reads and writes. */
export const coreModules = ({ structs, numbers, objects }) => `
/** The functions of every module. */
export interface ModuleFunctions {
${signatures(common())}}

/** The functions of causeway.wasm: those of the headers, with addresses for pointers. */
export interface CoreFunctions {
${signatures(functionsIn('core'))}}

/** The functions of causeway-server.wasm that record. */
export interface RecordFunctions {
${signatures(functionsIn('record'))}}

/** The functions of causeway-server.wasm beside those of causeway.wasm. */
export interface ServerFunctions {
${signatures(functionsIn('server').filter((name) => !functionsIn('core').includes(name)))}}

${structs.map(table).join('\n')}
${numbers.map(offsets).join('\n')}
${objects.map(places).join('\n')}
`;

if (MODULES[process.argv[2]])
  process.stdout.write([...common(), ...functionsIn(process.argv[2])].join('\n'));
