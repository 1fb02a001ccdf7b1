// Writes the calls that core.arguments makes, from the headers. Every function that a header declares gets NULL,
// numbers at their limits and times that are none, one at a time. Every field of every config gets values that its
// comment forbids, and 0. A new function or field needs a line here only where it needs a special value.
//   node arguments.mjs FOLDER|HEADER... > OUT    the folders have public headers; private ones are named
import { readFileSync, readdirSync } from 'node:fs';

// The tables. Each key is a regular expression for "function", "function.parameter", "config" or "config.field".

/** Headers that do not check their pointers, as base.h says, or are not public. */
const LEFT_OUT = /^((bits|stream|cubes(_\w+)?)|.*_internal)\.h$/;

/** A config needs these beside its defaults. */
const CONFIG = {
  cw_schema_config: 'config.types = &note_type; config.count = 1;',
  cw_message_pool_config: 'config.schema = made_cw_schema();',
  cw_game_config:
    'config.player_type = 0; config.ticks_per_snapshot = 1; config.max_interest = config.max_group = 16;',
  cw_history_config: 'config.state_size = sizeof(struct note);',
  cw_interpolation_config: 'config.entry_size = sizeof(struct note);',
  cw_prediction_config: 'config.state_type = 0;',
  cw_snapshot_config: 'config.max_interest = 16;',
  cw_connection_config: 'config.channels[0].blocks = true;',
  cw_client_config: 'config.connection = the_messages();',
  cw_server_config: 'fit_server(&config.netcode); config.connection = the_messages();',
  cw_bunch_config: 'config.properties = config.unreliable_bunches = 1;',
  cw_netcode_server_config: 'fit_server(&config);',
  cw_host_config:
    'config.server.netcode.private_key[0] = 1; config.server.connection = the_messages();',
  cw_netcode_host_config: 'config.server.private_key[0] = 1;',
  cw_client_host_config: 'config.client.connection = the_messages();',
  cw_socket_config: 'config.address = here; config.address.port = 0;',
  cw_token_grant: 'config.addresses = &here; config.address_count = 1;',
};

/** Calls that give an object something to do. They follow its creation. */
const MADE = {
  '(cw_|cw_netcode_)(client|server)': 'meet_$1();',
  cw_endpoint: 'prepare_endpoint(made);',
  cw_connection: 'prepare_connection(made);',
  cw_record: 'cw_endpoint_set_record(made_cw_endpoint(), made); cw_record_note(made, "text", 1);',
  cw_simulator: 'cw_simulator_receive(made, a_key, 8, 1);',
  cw_clock_sync: 'prepare_clock_sync(made);',
  cw_history: 'cw_history_begin(made, 1); cw_history_add(made, 7, &a_note);',
  cw_input_sender: 'cw_input_sender_add(made, 1, &(struct note){1});',
  cw_input_receiver: 'prepare_input_receiver(made, made_cw_input_sender());',
  cw_interest: 'cw_interest_set(made, 0, 0, 0, 1);',
  cw_interpolation: 'cw_interpolation_receive(made, 1, &a_note, 1);',
  cw_prediction:
    'cw_prediction_add(made, 1, &a_note, &a_note); cw_prediction_add(made, 2, &a_note, &a_note);',
  cw_snapshot_server:
    'cw_snapshot_server_set(made, 0, 0, &a_note); cw_snapshot_server_join(made, 0); cw_snapshot_server_set_priority(made, 0, 0, 1); cw_snapshot_server_tick(made, 1);',
  cw_lab_column: 'cw_lab_column_step(made, 60);',
  cw_lab_echo: 'prepare_echo(made);',
  cw_lab_line: 'prepare_line(made, made_cw_lab_echo());',
  cw_lab_match: 'cw_lab_match_step(made, 60);',
  'cw_(rudp|notify|bunch|window)': 'prepare_$1(made);',
  cw_game_server: 'prepare_game_server(made);',
  cw_game_client: 'prepare_game_client(made, made_cw_game_server());',
  cw_snapshot_client: 'prepare_snapshot_client(made, made_cw_snapshot_server());',
};

/** The contents of the structs that are given to functions; all others are zero. */
const CONTENT = {
  'struct cw_address': 'here',
  'struct cw_seal': '{.key = a_key, .nonce = a_key}',
  'struct cw_secure_key': '{1, CW_TO_CLIENT, a_key}',
  'struct cw_lab_item': '{CW_LAB_MESSAGE, 1, 64}',
  'struct cw_lab_settings': 'cw_lab_settings_default()',
  'struct cw_secure_packet': '{CW_SECURE_PAYLOAD, 1, a_key, 8}',
  'struct cw_request': '{.nonce = a_key, .sealed = scratch, .mac = scratch}',
  'struct cw_token_private': '{.address_count = 1, .addresses = {here}}',
  'struct cw_stream': 'cw_stream_measurer()',
  'struct cw_view': '{1, 1, 0}',
  'struct cw_allocator': 'counted',
  'struct cw_lab_peer_type': '*cw_lab_protocol(0)',
};

/** Good arguments, where the type does not give one. */
const GOOD = {
  'cw_lab_game_\\w+\\.game': 'a_game()',
  'cw_run\\.tick': 'stop',
  'cw_recording_create\\.data': 'a_recording()',
  'cw_key_parse\\.text': 'a_key_text',
  'cw_token_id\\.mac': 'a_key',
  'cw_(address_parse|resolve)\\.text|.*host_open\\.listen|.*_insecure\\.server': '"127.0.0.1:0"',
};
const NUMBERS = {
  '.*\\.now': '2',
  '.*_host_next\\.until': '0',
  'cw_snapshot_server_tick\\.tick': '2',
  '.*\\.tick(_time)?': '1',
  'cw_history_(add|find)\\.entity': '7',
  'cw_secure_read\\.size': '40',
  'cw_recording_create\\.size': 'SLOT_SIZE',
  'cw_lab_item_read\\.size': '64',
  'cw_lab_match_hash\\.turns': '1',
  'cw_lab_.*\\.traffic': 'CW_LAB_MESSAGE',
  'cw_token_names\\.count|.*_batch\\.count': '1',
  'cw_(netcode_)?(client|client_host)_connect\\.size|cw_token_read\\.size': 'CW_TOKEN_SIZE',
};

/** Calls that prepare for a function. They may use its arguments. */
const BEFORE = {
  cw_endpoint_commit: 'prepare_commit(endpoint, size);',
  cw_connection_send: 'message = own_message(connection);',
  'cw_server_broadcast(_to)?':
    'assert_int_equal(cw_server_create_message(server, 0, &message), CW_OK); own(message, end_own_message);',
  cw_prediction_correct: 'put(2, &(struct note){7}, sizeof(struct note));',
  cw_prediction_again: 'cw_prediction_correct(prediction, 1, &a_note);',
  cw_prediction_replay: 'assert_true(cw_prediction_correct(prediction, 1, &(struct note){7}));',
  'cw_crypto_open(_long)?':
    'size = 8 + CW_MAC_BYTES; cw_crypto_seal$1(seal, scratch, 8, slots[1]);',
  cw_schema_decode: 'size = cw_schema_encode(made_cw_schema(), slots[0], SLOT_SIZE);',
  '(cw_|cw_netcode_)server_user': '$1server_set_user(made_$1server(), 0, scratch);',
  cw_netcode_server_client_at: 'put(1, &client_address, sizeof client_address);',
  cw_challenge_token_open:
    'cw_challenge_token_seal(&(struct cw_challenge_token){0}, sequence, key, slots[0]);',
  cw_user_data_fingerprint: 'cw_user_data_set_fingerprint(slots[0], 1);',
  cw_message_acquire: 'own(message, end_own_message);',
  cw_message_pool_used: 'made_cw_message();',
  'cw_lab_latencies_(mean|quantile)':
    'cw_lab_latencies_add((struct cw_lab_latencies *)slots[0], 1);',
  cw_lab_item_read:
    'cw_lab_item_write(&(struct cw_lab_item){CW_LAB_MESSAGE, 1, 64}, 0, slots[0], 64);',
  cw_lab_line_receive: 'size = cw_lab_echo_refuse(0, CW_LAB_ANSWER_ECHO, slots[1], SLOT_SIZE);',
  cw_lab_echo_read: 'size = 11; slots[0][0] = CW_LAB_LINE_VERSION;',
  cw_lab_echo_receive: 'size = 11; slots[1][0] = CW_LAB_LINE_VERSION;',
  cw_lab_item_check: 'cw_lab_item_write(item, offset, slots[2], size = 64);',
  cw_lab_game_send: 'peer = own(cw_lab_peer_create(type, &counted), cw_lab_peer_destroy);',
};

/** The code that follows a call. */
const AFTER = {
  'cw_(connection|client|server)_next': 'if (event)\n        cw_message_release(event->message);',
};

/** NULL and times that a function takes. */
const OPTIONAL = [
  'cw_message_release\\.message',
  'cw_key_parse\\.text|cw_schema_create\\.config',
  'cw_clock_next_tick\\..*',
  'cw_schema_encode\\.out',
  'cw_message_attach\\.(release|context)',
  'cw_endpoint_set_record\\.record|cw_connection_set_record\\.record|cw_recording_create\\.allocator',
  'cw_schema_decode\\.allocator|cw_secure_read\\.replay|cw_((snapshot|game)_client|game_server)_state\\.type|cw_game_client_newest\\.type',
  'cw_random_fill\\.random',
  'cw_schema_fingerprint\\.extra',
  'cw_secure_shape\\.type',
  'cw_crypto_open(_long)?\\.out',
  'cw_farewell_make\\.text',
  'cw_run\\.context',
  '.*_transmit\\.to|cw_(netcode_)?client_receive\\.from',
  'cw_(endpoint_commit|notify_send)\\.sequence',
  '.*_(disconnect|set_user)\\.(text|user)',
];

/** The value that a function returns when it refuses, if not 0, false or NULL. */
const NOTHING = {
  'cw_simulator_(newest_)?due': 'INFINITY',
  cw_socket_handle: '-1',
  cw_crypto_is_zero: 'true',
  '.*_client_at': 'UINT32_MAX',
};

/** Functions that give nothing although the arguments are good. */
const EMPTY = [
  'cw_game_client_next_event',
  'cw_(netcode_)?(client|server)_(state|moving|index|server_index|dropped|broadcasts?_refused)',
  'cw_(error|.*_config_error)_field',
  'cw_connection_receipt_waits|cw_crypto_is_zero',
  'cw_lab_column_events_dropped',
  '.*host_(token_file|reconnects|next)|cw_socket_(receive|receive_batch|wait)',
  'cw_lab_(game_settle|(column|line)_waiting)|cw_bunch_missing|cw_rudp_waiting|cw_client_schema_difference',
];

/** Functions that go on with their work when an argument makes no sense. */
const GOES_ON = ['cw_schema_serialize'];

/** Sizes that a build without NDEBUG asserts. */
const ASSERTED = ['cw_(connection|endpoint)_transmit\\.capacity'];

/** Arguments that would take too long. */
const SKIPPED = [
  'cw_lab_(column|match)_step\\.ticks',
  'cw_socket_wait\\.seconds',
  '.*_batch\\.count',
];

/** Functions that arguments.c calls itself. */
const BY_HAND = ['cw_address_(compare|format)', 'cw_lab_peer_(create|destroy)'];

/** The errors of 0 and of other bad values, where they do not follow from the comment of the field. */
const FIELD_ERRORS = {
  '.*server_config\\.private_key': 'CW_ERROR_KEY',
  'cw_schema_config\\.(types|count)': 'CW_ERROR_SCHEMA_TYPES',
  'cw_simulator_path\\..*|.*_type|cw_window_config\\.first_sequence': 'CW_OK',
  '.*server_config\\.unix_offset_seconds|cw_lab_column_config\\.seed|cw_lab_line_config\\.key':
    'CW_OK',
  'cw_window_config\\.control': 'CW_ERROR_CONFIG',
  'cw_lab_(column|line)_config\\.(protocol|max_events)': 'CW_OK CW_ERROR_INVALID_ARGUMENT',
};

/** Fields that may be negative. */
const NEGATIVE = ['.*server_config\\.unix_offset_seconds'];

const matches = (pattern, name) => new RegExp(`^(${pattern})$`).test(name);
const look = (table, name) => {
  const [pattern, value] = Object.entries(table).find(([one]) => matches(one, name)) ?? [];
  return typeof value === 'string' ? name.replace(new RegExp(`^(?:${pattern})$`), value) : value;
};
const listed = (list, name) => list.some((pattern) => matches(pattern, name));

// The reader.

/** Blanks comments and directives out, so that places stay. */
const bare = (text) =>
  text.replace(/\/\*[^]*?\*\/|^#.*(\\\n.*)*$/gm, (one) => one.replace(/[^\n]/g, ' '));

/** Splits "const uint8_t *data" into type and name; an array is a pointer. */
const declaration = (text) => {
  const callback = /^(.*)\(\*(\w+)\)\((.*)\)$/.exec(text);
  if (callback) return { type: `${callback[1].trim()} (*)(${callback[3]})`, name: callback[2] };
  const [, type, name, array] = /^(.*?[\s*])(\w+)(\[\w+\])?$/.exec(text);
  return { type: array ? `${type}*` : type.trim(), name, array };
};

const headers = process.argv
  .slice(2)
  .flatMap((path) =>
    path.endsWith('.h')
      ? path
      : readdirSync(path)
          .filter((file) => file.endsWith('.h') && !LEFT_OUT.test(file))
          .map((file) => `${path}/${file}`),
  )
  .map((path) => readFileSync(path, 'utf8'));

/** All functions, each with the comment before it. */
const functions = headers.flatMap((text) =>
  [...bare(text).matchAll(/^([a-z][\w ]*?[\s*]+)(cw_\w+)\(((?:[^()]|\([^()]*\))*)\);/gm)]
    .filter(([, result]) => !/^(static|typedef)\b/.test(result))
    .map(({ 1: result, 2: name, 3: list, index }) => ({
      name,
      result: result.trim(),
      comment: /\/\*((?:(?!\*\/)[^])*)\*\/\s*$/.exec(text.slice(0, index))?.[1] ?? '',
      parameters:
        list === 'void'
          ? []
          : list
              .replace(/\s+/g, ' ')
              .split(/, (?![^(]*\))/)
              .map(declaration),
    })),
);
// A declaration that is not understood must not go unnoticed.
const declared = headers.join('').match(/^(?!static|typedef)[a-z][^\n]*\bcw_\w+\(/gm).length;
if (functions.length !== declared)
  throw new Error(`${declared} functions are declared, but ${functions.length} understood`);

const known = new Map(functions.map((one) => [one.name, one]));

/** The members of a struct, each with the comments before it and on its line. */
const members = (body) => {
  const all = [];
  let before = '';
  let end;
  for (const { 1: note, 2: code, index } of body.matchAll(/(\/\*[^]*?\*\/)|([^;/]+;[^\S\n]*)/g)) {
    const words = note?.replace(/\s+/g, ' ');
    if (code) {
      all.push({
        ...declaration(code.replace(/;\s*$/, '').trim().replace(/\s+/g, ' ')),
        note: before,
      });
      end = index + code.length;
      before = '';
    } else if (index === end) all.at(-1).note += words;
    else before = words;
  }
  return all;
};
const structs = new Map(
  headers.flatMap((text) =>
    [...text.matchAll(/^struct (cw_\w+(?:_config|_path|_grant)) \{\n([^}]*)\};/gm)].map(
      ([, name, body]) => [name, members(body)],
    ),
  ),
);

// Objects and configs.

/** The function that makes the struct, and the one that ends it. */
const maker = (name) => known.get(`${name}_create`) ?? known.get(`${name}_open`);
const ender = (name) =>
  ['destroy', 'close', 'release'].map((word) => `${name}_${word}`).find((one) => known.has(one));
const structOf = (type) => /^(?:const )?struct (cw_\w+) ?\*$/.exec(type)?.[1];
const madeBy = (type) => {
  const name = structOf(type);
  return name && maker(name) && ender(name) ? name : undefined;
};

const configs = [...structs.keys()].filter((name) => !/_path$/.test(name));
const block = (lines) =>
  `{\n${lines
    .filter(Boolean)
    .map((line) => `    ${line}\n`)
    .join('')}}\n`;

const configText = (name) => {
  const start = known.get(`${name}_default`);
  const argument = start?.parameters
    .map(({ type }) => (/schema/.test(type) ? 'made_cw_schema()' : 'CW_CHANNEL_RELIABLE_ORDERED'))
    .join();
  return `static inline struct ${name} good_${name}(void)\n${block([
    `struct ${name} config = ${start ? `${start.name}(${argument})` : '{0}'};`,
    structs.get(name).some((one) => one.name === 'allocator') && 'config.allocator = counted;',
    look(CONFIG, name),
    'return config;',
  ])}`;
};

// The calls.

/** The letter that struct function in arguments.c has for a parameter; before is the one before. */
const kindOf = (type, name, before) => {
  if (type.endsWith('*') || type.includes('(*)')) return 'p';
  if (/^(double|float)$/.test(type)) return type === 'float' ? 'f' : 't';
  if (type === 'bool') return 'b';
  if (/^enum/.test(type)) return 'e';
  return before === 'p' && /^(size|capacity|count)$/.test(name) ? 's' : 'n';
};

const goodOf = (f, { type, name, kind }, i) => {
  const special = look(kind === 'p' ? GOOD : NUMBERS, `${f.name}.${name}`);
  if (special) return special;
  if (madeBy(type)) return `made_${madeBy(type)}()`;
  const struct = structOf(type);
  if (configs.includes(struct))
    return `put(${i}, &(struct ${struct}[1]){good_${struct}()}, sizeof(struct ${struct}))`;
  const content = struct && look(CONTENT, `struct ${struct}`);
  if (content) return `put(${i}, &(struct ${struct}[1]){${content}}, sizeof(struct ${struct}))`;
  if (type === 'const char *') return '"text"';
  if (type.includes('(*)')) return 'NULL';
  if (kind === 'p') return `room(${i}, ${struct ? `sizeof(struct ${struct})` : '1'})`;
  return {
    s: /^capacity$/.test(name) ? 'SLOT_SIZE' : '8',
    b: 'true',
    e: '0',
    n: '0',
    t: '0.5',
    T: type === 'float' ? '0.5f' : '0.5',
  }[kind];
};

/** The errors that the comment of a function names, also by naming another function. */
const documented = (f, seen = new Set()) => {
  if (seen.has(f.name)) return [];
  seen.add(f.name);
  const index = functions.indexOf(f);
  const same =
    /^\s*$|same/.test(f.comment) && functions[index - 1]
      ? documented(functions[index - 1], seen)
      : [];
  const others = [...f.comment.matchAll(/\bcw_\w+/g)].flatMap(([name]) =>
    known.has(name) ? documented(known.get(name), seen) : [],
  );
  const own = [...f.comment.matchAll(/\bCW_(?:PROTOCOL_)?ERROR_[A-Z_]*[A-Z]\b/g)].map(
    ([name]) => name,
  );
  return [...new Set([...own, ...others, ...same])];
};

const errorOf = (f) => /^enum cw_(protocol_)?error$/.exec(f.result);

/** The parameters of a function with their kinds. A float is no time, unless a function returns an error for it. */
const parametersOf = (f) => {
  let before;
  return f.parameters.map((one) => {
    const is = (list) => listed(list, `${f.name}.${one.name}`);
    const kind = kindOf(one.type, one.name, before).replace('f', errorOf(f) ? 't' : 'T');
    before = kind;
    const letter = is(SKIPPED)
      ? '-'
      : is(ASSERTED)
        ? 'a'
        : is(OPTIONAL)
          ? kind.toUpperCase()
          : kind;
    return { ...one, kind, letter };
  });
};

const badOf = ({ type, kind }) => {
  const value = { p: 'NULL', t: 'no_time()', e: 'no_enum()', s: 'no_size()' }[kind.toLowerCase()];
  return type === 'double' || kind === 'p' ? value : `(${type})${value ?? 'no_number()'}`;
};

/** The call and the check of what it gives. */
const checked = (f, call) => {
  if (errorOf(f))
    return `gave_error((int)${call}, (const int[]){${[...documented(f), '0'].join(', ')}});`;
  if (f.result === 'void') return `${call};\n    gave(try.parameter < 0);`;
  if (/^struct \w+$/.test(f.result)) return `(void)${call};\n    gave(try.parameter < 0);`;
  const nothing = look(NOTHING, f.name) ?? (f.result.endsWith('*') ? 'NULL' : '0');
  return `gave(${call} != (${nothing}));`;
};

/** Ends what the call made, or forgets what it ended. */
const afterwards = (f) => {
  const [{ type: first, name } = { type: '' }] = f.parameters;
  const { type = '', name: out } = f.parameters.at(-1) ?? {};
  const made = /^struct (cw_\w+) \*\*$/.exec(type)?.[1];
  if (made && ender(made)) return `if (${out} && *${out})\n        ${ender(made)}(*${out});`;
  return ender(madeBy(first)) === f.name
    ? `forget_${madeBy(first)}(${name});`
    : look(AFTER, f.name);
};

const callText = (f) => {
  const all = parametersOf(f);
  const lines = [
    ...all.map((one, i) => {
      const named = one.type.includes('(*)')
        ? one.type.replace('(*)', `(*${one.name})`)
        : `${one.type} ${one.name}`;
      return `${named} = ${goodOf(f, one, i)};`;
    }),
    look(BEFORE, f.name),
    ...all.map((one, i) => `if (bad(${i}))\n        ${one.name} = ${badOf(one)};`),
    'begin();',
    checked(f, `${f.name}(${all.map(({ name }) => name).join(', ')})`),
    afterwards(f),
  ];
  return {
    kinds: all.map(({ letter }) => letter).join(''),
    text: `static void call_${f.name}(void)\n${block(lines)}`,
  };
};

const objects = [
  ...new Set(
    functions.flatMap((f) => f.parameters.map(({ type }) => madeBy(type))).filter(Boolean),
  ),
];

const objectText = (name) => {
  const make = maker(name);
  const good = make.parameters.slice(0, -1).map((one, i) => {
    const struct = structOf(one.type);
    return configs.includes(struct)
      ? `&(struct ${struct}[1]){good_${struct}()}[0]`
      : goodOf(make, { ...one, kind: kindOf(one.type, one.name) }, i);
  });
  return `static void end_${name}(void *object)
{
    ${ender(name)}(object);
    the_${name} = NULL;
}

static void forget_${name}(struct ${name} *object)
{
    if (object)
        disown(object);
    if (object == the_${name})
        the_${name} = NULL;
}

static struct ${name} *made_${name}(void)
{
    if (the_${name})
        return the_${name};
    struct ${name} *made = NULL;
    assert_int_equal(${make.name}(${[...good, '&made'].join(', ')}), 0);
    the_${name} = own(made, end_${name});
    ${look(MADE, name) ?? ''}
    return made;
}
`;
};

// The fields of configs.

const number = (text) => {
  const [base, power] = text.replace(/,/g, '').split('^').map(Number);
  return power === undefined ? base : base ** power;
};

/** Returns what the comment of a field allows: from, to, and whether 0 is allowed. */
const limits = (name, { type, note }) => {
  const range =
    /(?:(above|from) )?(\d[\d.,]*)(?: \([^)]*\))? to (\d[\d,.^]*\d|\d|CW_\w+)?(?!\d| MB)/.exec(
      note,
    );
  const above = /\babove 0\b/.test(note) || range?.[1] === 'above';
  const least = range?.[2] ?? /(\d+) or more|at least (\d+)/.exec(note)?.slice(1).find(Boolean);
  const most = range ? range[3] : /(?:above 0,|;) at most (\d[\d.,]*\d|\d|CW_\w+)/.exec(note)?.[1];
  const [given, other = given] = look(FIELD_ERRORS, name)?.split(' ') ?? [];
  const free =
    type === 'bool' ||
    /^(enum|struct)/.test(type) ||
    /\b0: |\bNULL: |zero: |any number|[Dd]efault 0\b|\b0 turns|: 0: /.test(note) ||
    least === '0';
  const pointer = type.endsWith('*') && !/[Mm]ust outlive|no default|copied, with/.test(note);
  return {
    zero: given ?? ((free || pointer) && !above ? 'CW_OK' : 'CW_ERROR_CONFIG'),
    refused: other && other !== 'CW_OK' ? other : 'CW_ERROR_CONFIG',
    least: least && number(least),
    most: most && (/^CW_/.test(most) ? most : number(most)),
    power: /power of two/.test(note),
  };
};

/** The values that a field gets, each with the error that is expected. */
const valuesOf = (name, member) => {
  const { zero, refused, least, most, power } = limits(name, member);
  const bad = (...values) => values.map((value) => [value, refused]);
  const { type } = member;
  const values = [['0', zero]];
  if (/^(uint\d+_t|size_t)$/.test(type)) {
    if (least > 1) values.push(...bad(least - 1));
    if (power) values.push(...bad(least + 1));
    if (most) values.push(...bad(`${most}u + 1`.replace(/(CW_\w+)u/, '$1')));
    if (most && type === 'uint32_t') values.push(...bad('UINT32_MAX - 1'));
  }
  if (type === 'double') {
    values.push(...bad('(double)NAN', '(double)INFINITY'));
    if (!listed(NEGATIVE, name)) values.push(...bad('-1'));
    if (most) values.push(...bad(`${most} * 1.001`));
  }
  if (/^enum/.test(type)) values.push(...bad(`(${type})9999`));
  return values;
};

const fieldsOf = (config, path = '') =>
  structs.get(config).flatMap((member) => {
    const inner =
      /^struct (cw_\w+)$/.exec(member.type)?.[1] ??
      /^struct (cw_\w+) ?\*$/.exec(member.array ? member.type : '')?.[1];
    const place = `${path}${member.name}`;
    if (structs.has(inner)) return fieldsOf(inner, `${place}${member.array ? '[0]' : ''}.`);
    return /void \*$|\(\*\)/.test(member.type) || (path && member.name === 'allocator')
      ? []
      : [{ member, place, config }];
  });

/** The tests of each object and its config: one of its memory, and one of each field. */
const configTests = objects
  .filter((name) => known.has(`${name}_create`) && known.has(`${name}_memory`))
  .flatMap((object) => {
    const create = known.get(`${object}_create`);
    const config = structOf(create.parameters[0].type);
    const named = known.has(`${config}_error_field`)
      ? `${config}_error_field(&config)`
      : 'named((enum cw_error)error)';
    const outOfMemory = create.result.replace(/^enum (\w+)$/, '$1_NO_MEMORY').toUpperCase();
    const memoryTest = {
      name: `memory_of_${object}`,
      text: `static void memory_of_${object}(void **state)\n${block([
        '(void)state;',
        `ONE_ALLOCATION(${object}, ${config}, ${outOfMemory});`,
      ])}`,
    };
    const hasAllocator = structs.get(config).some(({ name }) => name === 'allocator');
    const fields = fieldsOf(config).map(({ member, place, config: own }) => {
      const lines = valuesOf(`${own}.${member.name}`, member).map(([value, error]) => {
        const scalar = /^(u?int\d+_t|size_t|double|bool|enum \w+)$/.test(member.type);
        const set = scalar
          ? `config.${place} = ${value}`
          : `memset(&config.${place}, 0, sizeof config.${place})`;
        return `FIELD(${object}, ${config}, ${set}, ${error}, ${named});`;
      });
      const name = `field_${object}_${place.replace(/\W+/g, '_')}`;
      const start = ['(void)state;', `const char *const field = "${member.name}";`];
      return {
        name,
        text: `static void ${name}(void **state)\n${block([...start, ...lines, 'no_failures();'])}`,
      };
    });
    return hasAllocator ? [memoryTest, ...fields] : fields;
  });

const exported = functions.filter(
  (f) => !/^struct .*_default$/.test(`${f.result} ${f.name}`) && !listed(BY_HAND, f.name),
);
const rows = exported.map((f) => {
  const flags = [!!errorOf(f), listed(EMPTY, f.name), listed(GOES_ON, f.name)];
  const { kinds, text } = callText(f);
  return { text, row: `    {"${f.name}", call_${f.name}, "${kinds}", ${flags.join(', ')}},` };
});
process.stdout.write(`/* arguments.mjs has made this from the public headers. */
${objects.map((name) => `static struct ${name} *the_${name};\nstatic struct ${name} *made_${name}(void);`).join('\n')}

${configs.map(configText).join('\n')}
${objects.map(objectText).join('\n')}
${rows.map(({ text }) => text).join('\n')}
static const struct function functions[] = {
${rows.map(({ row }) => row).join('\n')}
};

${configTests.map(({ text }) => text).join('\n')}
static const struct CMUnitTest configs[] = {
${configTests.map(({ name }) => `    cmocka_unit_test_teardown(${name}, fixture_release),`).join('\n')}
};
`);
