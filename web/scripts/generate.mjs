// Writes src/generated.ts and src/game/generated.ts: what TypeScript has to know of the headers of core and relay, taken from the
// headers themselves so that it cannot differ.
import { readFileSync, writeFileSync } from 'node:fs';
import { gameModule } from '../../wasm/game_module.mjs';

const headers = new URL('../../core/include/causeway/', import.meta.url);
const relay = new URL('../../relay/', import.meta.url);
const read = (name, folder = headers) =>
  readFileSync(new URL(name, folder), 'utf8').replace(/\/\*[^]*?\*\//g, '');

const body = (name, kind, tag) => {
  const match = new RegExp(`${kind} ${tag} \\{([^}]*)\\};`).exec(read(name));
  if (!match) throw new Error(`${name} has no ${kind} ${tag}`);
  return match[1];
};

const camel = (name) => name.replace(/_(\w)/g, (_, letter) => letter.toUpperCase());

/** The enumerators in order; the first one is 0 and none has a value of its own. */
const errorCodes = () =>
  body('error.h', 'enum', 'cw_error')
    .split(',')
    .map((entry) => entry.trim().replace(/ = 0$/, ''))
    .filter((name) => name && name !== 'CW_ERROR_COUNT')
    .map((name) => {
      const match = /^CW_(?:ERROR_)?(\w+)$/.exec(name);
      if (!match) throw new Error(`error.h: ${name} is not understood`);
      return match[1];
    });

/** The numbers and names of an enum; the number of an enumerator without one follows the one before. */
const numbered = (header, tag, prefix) => {
  let number = -1;
  return Object.fromEntries(
    body(header, 'enum', tag)
      .split(',')
      .map((entry) => {
        const match = new RegExp(`^\\s*${prefix}(\\w+)(?: = (-?\\d+))?\\s*$`).exec(entry);
        if (!match) throw new Error(`${header}: ${entry} is not understood`);
        number = match[2] === undefined ? number + 1 : Number(match[2]);
        return [number, match[1]];
      }),
  );
};

/** The C types that structs for JavaScript are made of: bytes, and the name of the reader. */
const types = { uint64_t: [8, 'u64'], double: [8, 'f64'], uint32_t: [4, 'u32'] };

/**
 * The fields of a struct: name, type, and offset as every C compiler places it. A struct within it has
 * to come first, and is read as a struct of its own.
 */
const fields = (header, struct) => {
  let offset = 0;
  return body(header, 'struct', struct)
    .split(';')
    .map((line) => line.trim().replace(/\s+/g, ' '))
    .filter(Boolean)
    .flatMap((line) => {
      const inner = /^struct cw_(\w+)_stats \w+$/.exec(line);
      if (inner && offset === 0) {
        const [, , last] = fields(`${inner[1]}.h`, `cw_${inner[1]}_stats`).at(-1);
        offset = last + 8;
        return [];
      }
      const match = /^(\w+) (\w+)$/.exec(line);
      if (!types[match?.[1]])
        throw new Error(`${header}: struct ${struct}: ${line} is not understood`);
      const [size, type] = types[match[1]];
      const place = Math.ceil(offset / size) * size;
      offset = place + size;
      return [[camel(match[2]), type, place]];
    });
};

/** The number of a #define: digits, or a sum of numbers and names of the same header. */
const size = (header, name, folder) => {
  const match = new RegExp(`^#define ${name}\\s+\\(?(.+?)\\)?\\s*$`, 'm').exec(
    read(header, folder),
  );
  if (!match) throw new Error(`${header} does not define ${name}`);
  const numbers = match[1]
    .split(' + ')
    .map((term) => (/^\d+$/.test(term) ? Number(term) : size(header, term, folder)));
  return numbers.reduce((sum, number) => sum + number);
};

const constants = {
  errorCodes: errorCodes(),
  connectionEvents: numbered('connection.h', 'cw_connection_event_type', 'CW_CONNECTION_EVENT_'),
  clientStates: numbered('client.h', 'cw_client_state', 'CW_CLIENT_'),
  endpointStatsFields: fields('endpoint.h', 'cw_endpoint_stats'),
  channelStatsFields: fields('channel.h', 'cw_channel_stats'),
  connectionStatsFields: fields('connection.h', 'cw_connection_stats'),
  simulatorPathFields: fields('simulator.h', 'cw_simulator_path'),
  simulatorStatsFields: fields('simulator.h', 'cw_simulator_stats'),
  KEY_SIZE: size('crypto.h', 'CW_KEY_BYTES'),
  PAYLOAD_MAX: size('secure_packet.h', 'CW_PAYLOAD_MAX'),
  SECURE_OVERHEAD: size('secure_packet.h', 'CW_SECURE_OVERHEAD'),
  SECURE_PACKET_MAX: size('secure_packet.h', 'CW_SECURE_MAX'),
  TOKEN_SIZE: size('token.h', 'CW_TOKEN_SIZE'),
  TOKEN_MAX_ADDRESSES: size('token.h', 'CW_TOKEN_MAX_ADDRESSES'),
  USER_DATA_SIZE: size('token.h', 'CW_USER_DATA_SIZE'),
  DATAGRAM_MAX: size('session/datagram.h', 'SESSION_DATAGRAM_MAX', relay),
};

const text = Object.entries(constants).map(
  ([name, value]) => `export const ${name} = ${JSON.stringify(value)} as const;\n`,
);
writeFileSync(
  new URL('../src/generated.ts', import.meta.url),
  `// Made by scripts/generate.mjs from the headers of core and relay.\n${text.join('\n')}`,
);
writeFileSync(new URL('../src/game/generated.ts', import.meta.url), gameModule());
