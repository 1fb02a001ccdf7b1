// Writes src/generated.ts and src/game/generated.ts: the facts that TypeScript needs of the headers of core, wasm and
// relay, taken from the headers themselves so that they cannot differ.
//   node generate.mjs [OUT REPOSITORY]: writes only the first, to OUT, from the headers of a repository elsewhere
import { writeFileSync } from 'node:fs';
import { gameModule } from '../../wasm/bindings.mjs';
import { Headers } from '../../wasm/headers.mjs';

const here = (path) => new URL(path, import.meta.url);
const [out = here('../src/generated.ts'), repository] = process.argv.slice(2);
const headers = new Headers(repository);

const withoutPrefix = (name) => name.replace(/^CW_(ERROR_)?/, '');

/** Returns the errors of error.h, in order; the first one is 0 and no other has a value of its own. */
const errorCodes = () => {
  const all = headers.enumerators('cw_error').map(([name]) => withoutPrefix(name));
  return all.slice(0, all.indexOf('COUNT'));
};

const names = (tag, prefix) =>
  headers.enumerators(tag).map(([name, number]) => [number, name.slice(prefix.length)]);

/** Returns the names of an enum by number. */
const numbered = (tag, prefix) => Object.fromEntries(names(tag, prefix));

/** Returns the numbers of an enum by name. */
const byName = (tag, prefix) =>
  Object.fromEntries(names(tag, prefix).map(([number, name]) => [name, number]));

/** Returns the codes and texts with which a relay ends sessions, by the name of the reason. */
const sessionEnds = () =>
  Object.fromEntries(
    headers.rows('SESSION_ENDS').map(([name, , code, text]) => [name, [Number(code), text]]),
  );

const members = (tag) => headers.layout(tag).fields.filter(({ reader }) => reader !== 'struct');

const fields = (tag) =>
  members(tag)
    .filter(({ reader }) => reader !== 'array')
    .map(({ name, reader, place }) => [name, reader, place]);

const offsets = (tag) => Object.fromEntries(members(tag).map(({ name, place }) => [name, place]));

const sizeOf = (tag) => headers.layout(tag).size;

const constants = {
  errorCodes: errorCodes(),
  firstConfigError: headers.number('CW_ERROR_CONFIG'),
  connectionEvents: byName('cw_connection_event_type', 'CW_CONNECTION_EVENT_'),
  endpointEvents: byName('cw_endpoint_event_type', 'CW_ENDPOINT_EVENT_'),
  channelKinds: byName('cw_channel_kind', 'CW_CHANNEL_'),
  clientStates: numbered('cw_client_state', 'CW_CLIENT_'),
  congestionLimits: numbered('cw_congestion_limit', 'CW_CONGESTION_LIMIT_'),
  endpointStatsFields: fields('cw_endpoint_stats'),
  channelStatsFields: fields('cw_channel_stats'),
  connectionStatsFields: fields('cw_connection_stats'),
  disconnectReasons: numbered('cw_disconnect_reason', 'CW_DISCONNECT_'),
  clientStatsFields: fields('cw_client_stats'),
  simulatorPathFields: fields('cw_simulator_path'),
  simulatorStatsFields: fields('cw_simulator_stats'),
  endpointNumberFields: fields('cw_endpoint_numbers'),
  connectionNumberFields: fields('cw_connection_numbers'),
  channelNumberFields: fields('cw_channel_numbers'),
  createdFields: fields('cw_created'),
  createdMessage: offsets('cw_created_message'),
  endpointNews: offsets('cw_endpoint_news'),
  connectionNews: offsets('cw_connection_news'),
  serverEvents: byName('cw_server_event_type', 'CW_SERVER_EVENT_'),
  serverStatsFields: fields('cw_server_stats'),
  serverNumberFields: fields('cw_server_numbers'),
  serverOptions: offsets('cw_server_options'),
  SERVER_OPTIONS_SIZE: sizeOf('cw_server_options'),
  serverNews: offsets('cw_server_news'),
  serverDestination: offsets('cw_server_destination'),
  serverAbout: offsets('cw_server_about'),
  clientSlotFields: fields('cw_client_slot'),
  clientFarewell: offsets('cw_client_farewell'),
  clientActions: byName('cw_client_action', 'CW_CLIENT_ACTION_'),
  policyFields: fields('cw_policy_facts'),
  CLIENT_FAREWELL_MS: headers.number('CW_CLIENT_FAREWELL_MS'),
  tokenFacts: offsets('cw_token_facts'),
  tokenOptions: offsets('cw_token_options'),
  TOKEN_OPTIONS_SIZE: sizeOf('cw_token_options'),
  INSECURE_KEY: headers.string('CW_TOKEN_INSECURE_KEY'),
  KEY_SIZE: headers.number('CW_KEY_BYTES'),
  PAYLOAD_MAX: headers.number('CW_PAYLOAD_MAX'),
  SECURE_OVERHEAD: headers.number('CW_SECURE_OVERHEAD'),
  SECURE_PACKET_MAX: headers.number('CW_SECURE_MAX'),
  STRUCT_MAX_DEPTH: headers.number('CW_STRUCT_MAX_DEPTH'),
  TOKEN_SIZE: headers.number('CW_TOKEN_SIZE'),
  TOKEN_MAX_ADDRESSES: headers.number('CW_TOKEN_MAX_ADDRESSES'),
  USER_DATA_SIZE: headers.number('CW_USER_DATA_SIZE'),
  DEFAULT_DATAGRAM_SIZE: headers.number('CW_DEFAULT_DATAGRAM_SIZE'),
  DATAGRAM_MAX: headers.number('SESSION_DATAGRAM_MAX'),
  MESSAGE_MAX: headers.number('SESSION_MESSAGE_MAX'),
  yojimbo: {
    channels: headers.number('CW_YOJIMBO_CHANNELS'),
    queue: headers.number('CW_YOJIMBO_QUEUE'),
    messages: headers.number('CW_YOJIMBO_MESSAGES'),
    fragmentAbove: headers.number('CW_YOJIMBO_FRAGMENT_ABOVE'),
    reassemblies: headers.number('CW_YOJIMBO_REASSEMBLIES'),
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
