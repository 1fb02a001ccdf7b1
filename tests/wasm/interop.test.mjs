// One declaration, two languages: messages of a client in JavaScript come back from a server in C,
// through the real relay.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import {
  ConnectionHost,
  WebSocketTransport,
  dist,
  fingerprint,
  loadCore,
  reliable,
  require,
  unreliable,
} from '../support/causeway.mjs';
import { interop } from '../support/interop_schema.mjs';
import { startRelay } from '../support/relay.mjs';
import { choicesFrom } from '../support/random.mjs';
import { temporaryFolder } from '../support/fixture.mjs';
import { lineOf, startProgram } from '../support/programs.mjs';

const SEED = 20260101;
const { WebSocket } = require('ws');
const core = await loadCore();
const channels = [reliable({ blocks: true }), unreliable()];
const server = startProgram(test, process.env.INTEROP_SERVER, [], {
  stdio: ['ignore', 'pipe', 'inherit'],
});
const [, port, number] = await lineOf(server, /^(\d+) (\w+)/);
const theirs = BigInt(`0x${number}`);
const relay = await startRelay(test, { upstream: `127.0.0.1:${port}` });

const { below: random } = choicesFrom(SEED);
const list = (most, item) => Array.from({ length: random(most + 1) }, item);
const big = () => (BigInt(random(2 ** 32)) << 32n) | BigInt(random(2 ** 32));
const text = (most) => list(most, () => 'az09 ~'[random(6)]).join('');
const blob = (most) => new Uint8Array(list(most, () => random(256)));
const perhaps = (name, value) => (random(2) ? { [name]: value } : {});

const everything = () => ({
  flag: random(2) === 1,
  small: random(8) - 3,
  wide: random(2 ** 32) - 2 ** 31,
  count: random(2 ** 32),
  nibble: random(16),
  low: BigInt.asIntN(64, big()),
  high: big(),
  single: Math.fround(random(2 ** 32) / 1000),
  exact: random(2 ** 32) / 7,
  angle: random(361) - 180,
  raw: blob(90),
  name: `${text(100)}é🎈`,
  path: list(40, () => random(201) - 100),
  far: list(3, () => BigInt(random(2 ** 32))),
  names: list(3, () => text(6)),
  blobs: list(3, () => blob(5)),
  ...perhaps('maybe', random(2) === 1),
  ...perhaps('target', random(4096)),
  ...perhaps('big', big() >> 4n),
  ...perhaps('nick', text(7)),
});

const point = () => ({ known: random(2) === 1, x: random(2 ** 32) / 7, name: text(5) });
const leg = () => ({
  from: point(),
  stops: list(3, point),
  ...perhaps('to', point()),
  kind: random(8),
});
const journey = () => ({
  start: point(),
  legs: list(4, leg),
  ...perhaps('back', leg()),
  far: { away: list(2, () => ({ by: BigInt(random(2 ** 32)) })) },
});

const values = () => ({
  team: ['none', 'red', 'blue'][random(3)],
  teams: list(3, () => ['none', 'red', 'blue'][random(3)]),
  ...perhaps('abilities', { swim: random(2) === 1, fly: true, dig: random(2) === 1 }),
  powers: Object.fromEntries(Array.from({ length: 40 }, (_, i) => [`power${i}`, random(2) === 1])),
  speed: (random(51201) - 25600) / 256,
  far: list(2, () => (random(2 ** 31) - 2 ** 30) / 65536),
  id: (big() << 64n) | big(),
  ...perhaps('balance', BigInt.asIntN(128, (big() << 64n) | big())),
  text: ['', 'мир!', 'a🎈'][random(3)],
});

test('both sides have the same fingerprint', () => {
  assert.equal(fingerprint(core, interop, channels), theirs);
});

test(`random messages come back as they were sent, in order (seed ${SEED})`, async () => {
  const transport = await WebSocketTransport.connect(relay.url, { WebSocket });
  const connection = new ConnectionHost(core, interop, transport, { channels });
  const sent = Array.from({ length: 200 }, () => {
    if (random(20) === 0) return { type: 'file', value: { fileName: text(30) }, block: blob(5000) };
    if (random(10) === 0) return { type: 'ping', value: {} };
    if (random(4) === 0) return { type: 'values', value: values() };
    return random(2)
      ? { type: 'everything', value: everything() }
      : { type: 'journey', value: journey() };
  }).map((entry) => (entry.block?.length === 0 ? { ...entry, block: new Uint8Array(1) } : entry));
  for (const { type, value, block } of sent) connection.send(0, type, value, block);

  const received = [];
  for await (const { channel, ...entry } of connection) {
    assert.equal(channel, 0);
    received.push(entry);
    if (received.length === sent.length) break;
  }
  for (const entry of sent.concat(received))
    if (entry.type === 'everything') entry.value.angle = Math.round(entry.value.angle * 10) / 10;
  assert.deepEqual(received, sent);
  connection.close();
  await connection.closed;
});

const generate = (source, ...parameters) => {
  const folder = temporaryFolder(test);
  const file = join(folder, 'messages.mjs');
  writeFileSync(file, source.replaceAll('causeway-net', new URL('index.js', dist).href));
  return execFileSync(
    process.execPath,
    [fileURLToPath(new URL('../bin/causeway-schema.mjs', dist)), file, ...parameters],
    { encoding: 'utf8', stdio: 'pipe' },
  );
};

test('the header has what C wants to read', () => {
  const header = generate(`
    import { compressedFloat, int64, message, optional, schema, uint } from 'causeway-net';
    export const game = schema(
      message('move', {
        x: compressedFloat(0, 1, 0.001),
        far: int64(-(2n ** 63n), 2n ** 40n),
        jumpHeight: optional(uint(0, 2 ** 32 - 1)),
      }),
      message('ping', {}),
    );`);
  assert.match(header, /FIELD\(x, CW_COMPRESSED_FLOAT\(0\.0f, 1\.0f, 0\.001f\)\)/);
  assert.match(header, /FIELD\(far, CW_INT_64\(INT64_MIN, INT64_C\(1099511627776\)\)\)/);
  assert.match(header, /FIELD\(jumpHeight, CW_OPTIONAL\(CW_UINT\(0, UINT64_C\(4294967295\)\)\)\)/);
  assert.match(header, /ping_type = \{"ping", NULL, 0, 0, NULL, false\};/); // C++ before 2020 can read this too
  assert.match(header, /enum \{ GAME_MOVE, GAME_PING, GAME_TYPE_COUNT \};/);
  assert.match(header, /#define GAME_TYPES \{move_type, ping_type\}/);
});

test('structs are declared before what they are in, and once', () => {
  const header = generate(`
    import { array, bool, f32, message, optional, schema, struct } from 'causeway-net';
    export const point = struct({ x: f32(), y: f32() });
    const leg = struct({ from: point, to: point });
    export const trip = schema(
      message('there', { legs: array(leg, 9), at: optional(point) }),
      message('back', { leg, seat: struct({ row: bool() }) }),
    );`);
  const order = [...header.matchAll(/^CW_MESSAGE\((\w+), /gm)].map(([, name]) => name);
  assert.deepEqual(order, ['point', 'there_legs', 'back_seat', 'there', 'back']);
  assert.match(header, /FIELD\(from, CW_STRUCT\(point\)\)/);
  assert.match(header, /FIELD\(legs, CW_ARRAY\(CW_STRUCT\(there_legs\), 9\)\)/);
  assert.match(header, /FIELD\(at, CW_OPTIONAL\(CW_STRUCT\(point\)\)\)/);
  assert.match(header, /FIELD\(leg, CW_STRUCT\(there_legs\)\)/);
  assert.match(header, /#define TRIP_TYPES \{there_type, back_type\}/);
});

test('what cannot become a header is one clear line', () => {
  const fails = (source, text, ...parameters) =>
    assert.throws(
      () =>
        generate(`import { bool, message, schema } from 'causeway-net';${source}`, ...parameters),
      (error) => {
        assert.match(error.stderr, text);
        assert.equal(error.stderr.trim().split('\n').length, 1);
        assert.equal(error.status, 1);
        return true;
      },
    );
  fails(`export const a = schema(message('for', {}));`, /the message for cannot be a name in C/);
  fails(`export const a = schema(message('m', { 'x-y': bool() }));`, /m: the field x-y cannot/);
  const taken = `import { struct } from 'causeway-net'; const point = struct({ x: bool() });`;
  fails(
    `${taken} export const a = schema(message('m', { n: point }), message('m_n', {}));`,
    /two structs would be called m_n in C; export them/,
  );
  fails(`export const a = 1;`, /exports 0 schemas/);
  fails(`export const a = 1;`, /no schema a/, 'a');
});
