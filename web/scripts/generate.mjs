// Writes the generated.ts of src, src/game, src/overlay and src/protocols: what TypeScript needs of the headers of core, wasm and
// relay, taken from the headers themselves so that they cannot differ.
//   node generate.mjs [OUT REPOSITORY]: writes only the first, to OUT, from the headers of a repository elsewhere
import { writeFileSync } from 'node:fs';
import {
  bind,
  coreModules,
  gameModule,
  inlined,
  packetPlaces,
  protocolsModule,
} from '../../wasm/bindings.mjs';
import { Headers } from '../../wasm/headers.mjs';

const here = (path) => new URL(path, import.meta.url);
const [out = here('../src/generated.ts'), repository] = process.argv.slice(2);
const headers = new Headers(repository);
bind(headers);

const withoutPrefix = (name) => name.replace(/^CW_(ERROR_)?/, '');

/** Returns the errors of base.h, in order; the first one is 0 and no other has a value of its own. */
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

/** Returns the codes with which a relay closes links, by the name of the reason. */
const closeCodes = () => ({
  ...Object.fromEntries(headers.rows('SESSION_ENDS').map(([name, , code]) => [name, Number(code)])),
  ORIGIN: headers.number('SESSION_CODE_ORIGIN'),
  SERVER: headers.number('SESSION_CODE_SERVER'),
});

/** Returns the texts that go with them. */
const closeTexts = () =>
  Object.fromEntries(headers.rows('SESSION_ENDS').map(([name, , , text]) => [name, text]));

/** Returns the statuses of a relay's answers, by name. */
const httpStatuses = () =>
  Object.fromEntries(headers.rows('HTTP_STATUSES').map(([name, number]) => [name, Number(number)]));

/** The structs of the core that TypeScript reads or writes as a whole. */
const structs = [
  'endpoint_config',
  'endpoint_stats',
  'channel_config',
  'channel_stats',
  'congestion_config',
  'connection_config',
  'connection_stats',
  'netcode_client_config',
  'netcode_client_stats',
  'client_policy_config',
  'server_config',
  'netcode_server_config',
  'netcode_server_stats',
  'simulator_config',
  'simulator_path',
  'simulator_stats',
  'token_grant',
  'address',
].map((name) => `cw_${name}`);

/** The structs of which it reads or writes single members. */
const numbers = [
  'endpoint_config',
  'endpoint_event',
  'connection_config',
  'message',
  'channel_stats',
  'client_config',
  'netcode_client_event',
  'client_policy',
  'farewell',
  'server_config',
  'netcode_server_config',
  'server_client_info',
  'netcode_server_stats',
  'simulator_config',
  'token',
  'token_grant',
  'address',
].map((name) => `cw_${name}`);

/** The structs whose offsets it passes on. */
const objects = ['cw_connection_event', 'cw_server_event'];

/** Numbers that are only used one by one. */
const enums = {
  connectionEvents: byName('cw_connection_event_type', 'CW_CONNECTION_EVENT_'),
  endpointEvents: byName('cw_endpoint_event_type', 'CW_ENDPOINT_EVENT_'),
  netcodeClientEvents: byName('cw_netcode_client_event_type', 'CW_NETCODE_CLIENT_EVENT_'),
  serverEvents: byName('cw_server_event_type', 'CW_SERVER_EVENT_'),
  refusals: byName('cw_refusal', 'CW_REFUSAL_'),
  httpStatuses: httpStatuses(),
};

const constants = {
  errorCodes: errorCodes(),
  firstConfigError: headers.number('CW_ERROR_CONFIG'),
  unanswereds: numbered('cw_unanswered', 'CW_UNANSWERED_'),
  channelKinds: byName('cw_channel_kind', 'CW_CHANNEL_'),
  recoveryKinds: byName('cw_recovery_kind', 'CW_RECOVERY_'),
  clientStates: numbered('cw_client_state', 'CW_CLIENT_'),
  congestionModes: byName('cw_congestion_mode', 'CW_CONGESTION_'),
  congestionLimits: numbered('cw_congestion_limit', 'CW_CONGESTION_LIMIT_'),
  congestionStates: numbered('cw_congestion_state', 'CW_CONGESTION_'),
  congestionReasons: numbered('cw_congestion_reason', 'CW_CONGESTION_'),
  disconnectReasons: numbered('cw_disconnect_reason', 'CW_DISCONNECT_'),
  clientActions: byName('cw_client_action', 'CW_CLIENT_ACTION_'),
  CLIENT_FAREWELL_MS: headers.number('CW_CLIENT_FAREWELL_MS'),
  INSECURE_KEY: headers.string('CW_TOKEN_INSECURE_KEY'),
  KEY_SIZE: headers.number('CW_KEY_BYTES'),
  REQUEST_SIZE: headers.number('CW_REQUEST_SIZE'),
  MAX_CHANNELS: headers.number('CW_MAX_CHANNELS'),
  NOBODY: headers.number('CW_SERVER_NOBODY'),
  CLIENT_SILENCE_SECONDS: headers.number('CW_CLIENT_SILENCE_SECONDS'),
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
  SUBFLOW_HEADER_SIZE: headers.number('SUBFLOW_HEADER_SIZE'),
  subflows: {
    most: headers.number('SUBFLOWS_MAX'),
    repeated: headers.number('SUBFLOW_REPEATED'),
    sequenceMask: headers.number('SUBFLOW_SEQUENCE_MASK'),
    keptMost: headers.number('SUBFLOW_KEPT_MAX'),
    lateSeconds: headers.number('SUBFLOW_LATE_SECONDS'),
    repeatShare: headers.number('SUBFLOW_REPEAT_SHARE'),
    repeatMost: headers.number('SUBFLOW_REPEAT_MOST'),
    unconfirmedMost: headers.number('SUBFLOW_UNCONFIRMED_MAX'),
  },
  closeCodes: closeCodes(),
  closeTexts: closeTexts(),
  REQUEST_SECONDS: Number(headers.string('REQUEST_SECONDS')),
  ANSWER_SECONDS: Number(headers.string('ANSWER_SECONDS')),
  IDLE_SECONDS: Number(headers.string('IDLE_SECONDS')),
  PING_SECONDS: Number(headers.string('PING_SECONDS')),
  RESUME_SECONDS: Number(headers.string('RESUME_SECONDS')),
  AWAY_SECONDS: headers.number('SESSION_AWAY_SECONDS'),
};

const text = [
  ...Object.entries(enums).map(([name, values]) => inlined(name, values)),
  ...Object.entries(constants).map(
    ([name, value]) => `export const ${name} = ${JSON.stringify(value)} as const;\n`,
  ),
];
writeFileSync(
  out,
  `// Made by scripts/generate.mjs from the headers of core, wasm and relay.\n${coreModules({ structs, numbers, objects })}\n${text.join('\n')}`,
);
if (!repository) {
  writeFileSync(here('../src/game/generated.ts'), gameModule());
  writeFileSync(here('../src/overlay/generated.ts'), packetPlaces());
  writeFileSync(here('../src/protocols/generated.ts'), protocolsModule());
}
