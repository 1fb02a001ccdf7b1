// Writes src/generated.ts: what TypeScript has to know of the core's headers, taken from the headers
// themselves so that it cannot differ.
import { readFileSync, writeFileSync } from 'node:fs';

const headers = new URL('../../core/include/causeway/', import.meta.url);
const read = (name) => readFileSync(new URL(name, headers), 'utf8').replace(/\/\*[^]*?\*\//g, '');

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

/** The fields of a struct that has 8-byte fields only, as the reader of structs takes them. */
const fields = (header, struct) =>
  body(header, 'struct', struct)
    .split(';')
    .map((line) => line.trim())
    .filter(Boolean)
    .map((line) => {
      const match = /^(uint64_t|double) (\w+)$/.exec(line);
      if (!match) throw new Error(`${header}: struct ${struct}: ${line} has not 8 bytes`);
      return [camel(match[2]), match[1] === 'double' ? 'f64' : 'u64'];
    });

const constants = {
  errorCodes: errorCodes(),
  endpointStatsFields: fields('endpoint.h', 'cw_endpoint_stats'),
  simulatorPathFields: fields('simulator.h', 'cw_simulator_path'),
  simulatorStatsFields: fields('simulator.h', 'cw_simulator_stats'),
};

const text = Object.entries(constants).map(
  ([name, value]) => `export const ${name} = ${JSON.stringify(value, null, 2)} as const;\n`,
);
writeFileSync(
  new URL('../src/generated.ts', import.meta.url),
  `// Made by scripts/generate.mjs from the headers of the core.\n${text.join('\n')}`,
);
