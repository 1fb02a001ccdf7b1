// Writes src/generated.ts and src/game/generated.ts: the facts that TypeScript needs of the headers of core, wasm and
// relay, taken from the headers themselves so that they cannot differ.
//   node generate.mjs [OUT REPOSITORY]: writes only the first, to OUT, from the headers of a repository elsewhere
import { readFileSync, writeFileSync } from 'node:fs';
import { pathToFileURL } from 'node:url';
import { gameModule } from '../../wasm/header_modules.mjs';

const here = (path) => new URL(path, import.meta.url);
const [out = here('../src/generated.ts'), repository] = process.argv.slice(2);
const root = repository ? pathToFileURL(`${repository}/`) : here('../../');
/** Reads a header. A public header of the core is named without its folder. */
const read = (header) =>
  readFileSync(
    new URL(header.includes('/') ? header : `core/include/causeway/${header}`, root),
    'utf8',
  ).replace(/\/\*[^]*?\*\//g, '');

const body = (name, kind, tag) => {
  const match = new RegExp(`${kind} ${tag} \\{([^}]*)\\};`).exec(read(name));
  if (!match) throw new Error(`${name} has no ${kind} ${tag}`);
  return match[1];
};

const camel = (name) => name.replace(/_(\w)/g, (_, letter) => letter.toUpperCase());

/** Returns the enumerators before the count, in order; the first one is 0 and no other has a value of its own. */
const errorCodes = () =>
  body('error.h', 'enum', 'cw_error')
    .split('CW_ERROR_COUNT')[0]
    .split(',')
    .map((entry) => entry.trim().replace(/ = 0$/, ''))
    .filter(Boolean)
    .map((name) => {
      const match = /^CW_(?:ERROR_)?(\w+)$/.exec(name);
      if (!match) throw new Error(`error.h: ${name} is not understood`);
      return match[1];
    });

/**
 * Returns the numbers and names of an enum; an enumerator without a number follows the one before. `known` has the
 * numbers of enumerators of other enums that stand for a number.
 */
const numbered = (header, tag, prefix, known = {}) => {
  let number = -1;
  return Object.fromEntries(
    body(header, 'enum', tag)
      .split(',')
      .map((entry) => {
        const match = new RegExp(`^\\s*${prefix}(\\w+)(?: = (-?\\w+))?\\s*$`).exec(entry);
        if (!match) throw new Error(`${header}: ${entry} is not understood`);
        number = match[2] === undefined ? number + 1 : Number(known[match[2]] ?? match[2]);
        if (Number.isNaN(number)) throw new Error(`${header}: the number of ${entry} is not known`);
        return [number, match[1]];
      }),
  );
};

/** Returns the number of a #define, which is digits, or a sum of numbers and names of the same header. */
const size = (header, name) => {
  const match = new RegExp(`^#define ${name}\\s+\\(?(.+?)\\)?\\s*$`, 'm').exec(read(header));
  if (!match) throw new Error(`${header} does not define ${name}`);
  const numbers = match[1]
    .split(' + ')
    .map((term) => (/^\d+$/.test(term) ? Number(term) : size(header, term)));
  return numbers.reduce((sum, number) => sum + number);
};

/** Returns the text of a #define. */
const string = (header, name) => {
  const match = new RegExp(`^#define ${name}\\s+"(.*)"$`, 'm').exec(read(header));
  if (!match) throw new Error(`${header} does not define ${name} as text`);
  return match[1];
};

/** Returns the codes and texts with which a relay ends sessions, by the name of the reason. */
const sessionEnds = () =>
  Object.fromEntries(
    [...read('relay/session/transport.h').matchAll(/X\((\w+), \w+, (\d+), "([^"]*)",/g)].map(
      ([, name, code, reason]) => [name, [Number(code), reason]],
    ),
  );

/** The C types of the members of structs for JavaScript, each with its size in bytes and the name of its reader. */
const types = {
  uint64_t: [8, 'u64'],
  double: [8, 'f64'],
  uint32_t: [4, 'u32'],
  int32_t: [4, 'i32'],
  uint8_t: [1, 'u8'],
};

/** The lengths of arrays, by the name that a struct gives them. */
const lengths = {
  CW_USER_DATA_SIZE: size('token.h', 'CW_USER_DATA_SIZE'),
  CW_KEY_BYTES: size('crypto.h', 'CW_KEY_BYTES'),
};

/**
 * Returns the fields of a struct, each with name, type, and offset as every C compiler places it, and the size of the
 * struct. A struct within the struct has to come first, and is read as a struct of its own.
 */
const layout = (header, struct) => {
  let end = 0;
  let alignment = 1;
  const fields = body(header, 'struct', struct)
    .split(';')
    .map((line) => line.trim().replace(/\s+/g, ' '))
    .filter(Boolean)
    .flatMap((line) => {
      const inner = /^struct (cw_(\w+)_\w+) \w+$/.exec(line);
      if (inner && end === 0) {
        const own = read(header).includes(`struct ${inner[1]} {`);
        ({ end, alignment } = layout(own ? header : `${inner[2]}.h`, inner[1]));
        return [];
      }
      const plain = line.replace(/^enum \w+/, 'int32_t');
      const [, name, field, length] = /^(\w+) (\w+)(?:\[(\w+)\])?$/.exec(plain) ?? [];
      if (!types[name] || (length && !lengths[length]))
        throw new Error(`${header}: struct ${struct}: ${line} is not understood`);
      const [bytes, type] = types[name];
      const place = Math.ceil(end / bytes) * bytes;
      alignment = Math.max(alignment, bytes);
      end = place + bytes * (length ? lengths[length] : 1);
      return [[camel(field), length ? 'array' : type, place]];
    });
  return { fields, alignment, end: Math.ceil(end / alignment) * alignment };
};

const fields = (header, struct) =>
  layout(header, struct).fields.filter(([, type]) => type !== 'array');

const offsets = (header, struct) =>
  Object.fromEntries(layout(header, struct).fields.map(([name, , place]) => [name, place]));

const exported = (struct) => fields(LAYOUTS, struct);

/** Returns the numbers of an enum by name. */
const byName = (names) =>
  Object.fromEntries(Object.entries(names).map(([number, name]) => [name, Number(number)]));

const ofConnection = byName(
  numbered('connection.h', 'cw_connection_event_type', 'CW_CONNECTION_EVENT_'),
);

const LAYOUTS = 'wasm/exports/layouts.h';
const POLICY = 'core/src/session/client_policy.h';
const YOJIMBO = 'core/src/message/yojimbo.h';

const constants = {
  errorCodes: errorCodes(),
  firstConfigError: Number(/CW_ERROR_CONFIG = (\w+)/.exec(body('error.h', 'enum', 'cw_error'))[1]),
  connectionEvents: ofConnection,
  endpointEvents: byName(numbered('endpoint.h', 'cw_endpoint_event_type', 'CW_ENDPOINT_EVENT_')),
  channelKinds: byName(numbered('channel.h', 'cw_channel_kind', 'CW_CHANNEL_')),
  clientStates: numbered('client.h', 'cw_client_state', 'CW_CLIENT_'),
  congestionLimits: numbered('congestion.h', 'cw_congestion_limit', 'CW_CONGESTION_LIMIT_'),
  endpointStatsFields: fields('endpoint.h', 'cw_endpoint_stats'),
  channelStatsFields: fields('channel.h', 'cw_channel_stats'),
  connectionStatsFields: fields('connection.h', 'cw_connection_stats'),
  disconnectReasons: numbered('secure_packet.h', 'cw_disconnect_reason', 'CW_DISCONNECT_'),
  clientStatsFields: fields('client.h', 'cw_client_stats'),
  simulatorPathFields: fields('simulator.h', 'cw_simulator_path'),
  simulatorStatsFields: fields('simulator.h', 'cw_simulator_stats'),
  endpointNumberFields: exported('cw_endpoint_numbers'),
  connectionNumberFields: exported('cw_connection_numbers'),
  channelNumberFields: exported('cw_channel_numbers'),
  createdFields: exported('cw_created'),
  createdMessage: offsets(LAYOUTS, 'cw_created_message'),
  endpointNews: offsets(LAYOUTS, 'cw_endpoint_news'),
  connectionNews: offsets(LAYOUTS, 'cw_connection_news'),
  serverEvents: byName(
    numbered('server.h', 'cw_server_event_type', 'CW_SERVER_EVENT_', {
      CW_CONNECTION_EVENT_MESSAGE: ofConnection.MESSAGE,
      CW_CONNECTION_EVENT_ACKED: ofConnection.ACKED,
      CW_CONNECTION_EVENT_LOST: ofConnection.LOST,
    }),
  ),
  serverStatsFields: fields('server.h', 'cw_server_stats'),
  serverNumberFields: exported('cw_server_numbers'),
  serverOptions: offsets(LAYOUTS, 'cw_server_options'),
  SERVER_OPTIONS_SIZE: layout(LAYOUTS, 'cw_server_options').end,
  serverNews: offsets(LAYOUTS, 'cw_server_news'),
  serverDestination: offsets(LAYOUTS, 'cw_server_destination'),
  serverAbout: offsets(LAYOUTS, 'cw_server_about'),
  clientSlotFields: exported('cw_client_slot'),
  clientFarewell: offsets(LAYOUTS, 'cw_client_farewell'),
  clientActions: byName(numbered(POLICY, 'cw_client_action', 'CW_CLIENT_ACTION_')),
  policyFields: exported('cw_policy_facts'),
  CLIENT_FAREWELL_MS: size(POLICY, 'CW_CLIENT_FAREWELL_MS'),
  tokenFacts: offsets(LAYOUTS, 'cw_token_facts'),
  tokenOptions: offsets(LAYOUTS, 'cw_token_options'),
  TOKEN_OPTIONS_SIZE: layout(LAYOUTS, 'cw_token_options').end,
  INSECURE_KEY: string('token.h', 'CW_TOKEN_INSECURE_KEY'),
  KEY_SIZE: size('crypto.h', 'CW_KEY_BYTES'),
  PAYLOAD_MAX: size('secure_packet.h', 'CW_PAYLOAD_MAX'),
  SECURE_OVERHEAD: size('secure_packet.h', 'CW_SECURE_OVERHEAD'),
  SECURE_PACKET_MAX: size('secure_packet.h', 'CW_SECURE_MAX'),
  STRUCT_MAX_DEPTH: size('schema.h', 'CW_STRUCT_MAX_DEPTH'),
  TOKEN_SIZE: size('token.h', 'CW_TOKEN_SIZE'),
  TOKEN_MAX_ADDRESSES: size('token.h', 'CW_TOKEN_MAX_ADDRESSES'),
  USER_DATA_SIZE: size('token.h', 'CW_USER_DATA_SIZE'),
  DEFAULT_DATAGRAM_SIZE: size('connection.h', 'CW_DEFAULT_DATAGRAM_SIZE'),
  DATAGRAM_MAX: size('relay/session/datagram.h', 'SESSION_DATAGRAM_MAX'),
  MESSAGE_MAX: size('relay/session/datagram.h', 'SESSION_MESSAGE_MAX'),
  yojimbo: {
    channels: size(YOJIMBO, 'CW_YOJIMBO_CHANNELS'),
    queue: size(YOJIMBO, 'CW_YOJIMBO_QUEUE'),
    messages: size(YOJIMBO, 'CW_YOJIMBO_MESSAGES'),
    fragmentAbove: size(YOJIMBO, 'CW_YOJIMBO_FRAGMENT_ABOVE'),
    reassemblies: size(YOJIMBO, 'CW_YOJIMBO_REASSEMBLIES'),
  },
  sessionEnds: sessionEnds(),
};

const text = Object.entries(constants).map(
  ([name, value]) => `export const ${name} = ${JSON.stringify(value)} as const;\n`,
);
writeFileSync(
  out,
  `// Made by scripts/generate.mjs from the headers of core, wasm and relay.\n${text.join('\n')}`,
);
if (!repository) writeFileSync(here('../src/game/generated.ts'), gameModule());
