// TypeScript's knowledge of C is read from the C headers when the package is built.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { gameModule } from '../../wasm/bindings.mjs';
import { Client, loadCore, message, schema } from '../support/causeway.mjs';

const root = fileURLToPath(new URL('../../', import.meta.url));
const endpoint = 'core/include/causeway/endpoint.h';
const script = join(root, 'web/scripts/generate.mjs');

/** Returns what the script makes of the headers after `edit(file, change)` has changed some. */
const generate = (more = () => {}) => {
  const folder = mkdtempSync(join(tmpdir(), 'causeway-generated-'));
  try {
    for (const part of ['core/include', 'core/src', 'core/lab', 'relay', 'wasm'])
      cpSync(join(root, part), join(folder, part), { recursive: true });
    more((file, from, to) => {
      const text = readFileSync(join(folder, file), 'utf8');
      assert.ok(text.includes(from), `${file} has no ${from}`);
      writeFileSync(join(folder, file), text.replace(from, to));
    });
    const out = join(folder, 'generated.ts');
    execFileSync(process.execPath, [script, out, folder], { stdio: 'pipe' });
    return readFileSync(out, 'utf8');
  } finally {
    rmSync(folder, { recursive: true });
  }
};

/** Returns one of the text's constants. */
const constant = (text, name) =>
  JSON.parse(new RegExp(`^export const ${name} = (.*) as const;$`, 'm').exec(text)[1]);

/** Returns the numbers of one of the text's enums, by name. */
const numbersOf = (text, name) => {
  const rows = new RegExp(`^export const enum ${name} \\{(.*)\\}$`, 'm').exec(text)[1].split(', ');
  return Object.fromEntries(
    rows.map((row) => row.split(' = ')).map(([key, n]) => [key, Number(n)]),
  );
};

test('a server with browsers of its own waits as long as a relay does', () => {
  const text = generate((edit) => {
    edit('relay/options/options.h', 'ANSWER_SECONDS  "10"', 'ANSWER_SECONDS  "11"');
    edit('relay/session/session.h', 'AWAY_SECONDS 3.0', 'AWAY_SECONDS 4.5');
  });
  assert.deepEqual([constant(text, 'ANSWER_SECONDS'), constant(text, 'AWAY_SECONDS')], [11, 4.5]);
});

test("yojimbo's defaults are those of the core", () => {
  const text = generate((edit) =>
    edit('core/src/message/yojimbo.h', '_REASSEMBLIES   64', '_REASSEMBLIES 65'),
  );
  assert.equal(constant(text, 'yojimbo').reassemblies, 65);
});

test('the package was built with what the headers say', () => {
  assert.equal(readFileSync(join(root, 'web/src/generated.ts'), 'utf8'), generate());
});

test('a new error, and a new reason to drop a datagram with it, appears by itself', async () => {
  const codes = constant(generate(), 'errorCodes');
  const text = generate((edit) =>
    edit('core/include/causeway/base.h', 'CW_ERROR_COUNT', 'CW_ERROR_BRAND_NEW, CW_ERROR_COUNT'),
  );
  assert.deepEqual(constant(text, 'errorCodes'), [...codes, 'BRAND_NEW']);
  // The client asks for each figure by its number.
  const client = new Client(await loadCore(), schema(message('ping', {})));
  for (let i = 1; i <= 3; i++) client.receive(new Uint8Array(50), 0);
  assert.deepEqual(client.clientStats().dropped, { NOT_CONNECTED: 3 });
  client.destroy();
});

test('why a relay ends a session follows its header', () => {
  const text = generate((edit) =>
    edit('relay/session/transport.h', '4000, "idle"', '4999, "brand new"'),
  );
  const codes = constant(generate(), 'closeCodes');
  assert.deepEqual(constant(text, 'closeCodes'), { ...codes, IDLE: 4999 });
  const { DOWN, EVICTED, MOVED, ORIGIN, SERVER } = codes;
  assert.deepEqual([DOWN, EVICTED, MOVED, ORIGIN, SERVER], [4005, 1013, 4003, 4004, 4006]);
});

test('fields, numbers and sizes follow the headers', () => {
  const text = generate((edit) => {
    edit(endpoint, 'uint32_t fragment_size;', 'double brand_new; uint32_t fragment_size;');
    edit(
      'core/include/causeway/token.h',
      'uint32_t life_seconds;',
      'uint32_t brand_new; uint32_t life_seconds;',
    );
    edit(
      'core/include/causeway/connection.h',
      'CW_CONNECTION_EVENT_ACKED,',
      'CW_CONNECTION_EVENT_BRAND_NEW, CW_CONNECTION_EVENT_ACKED,',
    );
  });
  const before = generate();
  const places = (name) => [numbersOf(text, name), numbersOf(before, name)];
  const [endpoints, earlier] = places('endpointConfigAt');
  assert.equal(endpoints.brandNew % 8, 0);
  assert.equal(endpoints.fragmentSize, endpoints.brandNew + 8);
  assert.ok(endpoints.fragmentSize > earlier.fragmentSize);
  const [connections, earlierConnections] = places('connectionConfigAt');
  assert.ok(connections.maxMessages > earlierConnections.maxMessages);
  const [grants, earlierGrants] = places('tokenGrantAt');
  assert.equal(grants.lifeSeconds, 4 + earlierGrants.lifeSeconds);
  assert.equal(constant(text, 'endpointConfigStruct').fields.f64.brandNew, endpoints.brandNew);
  assert.deepEqual(numbersOf(text, 'connectionEvents'), {
    MESSAGE: 1,
    BRAND_NEW: 2,
    ACKED: 3,
    LOST: 4,
    REQUEST: 5,
    ANSWER: 6,
    UNANSWERED: 7,
  });
});

/** Returns the members of an interface of the game kit, each with its comment. */
const documented = (text, name) => {
  const body = new RegExp(`^export interface ${name} \\{\\n([^}]*)\\}`, 'm').exec(text)[1];
  const found = body.matchAll(/(?: {2}\/\*\* (.*) \*\/\n)? {2}readonly (\w+)\??: [\w' |]+;\n/g);
  return Object.fromEntries([...found].map(([, note, member]) => [member, note]));
};

test('each member of the game kit has the comment of its own, as TypeScript says it', () => {
  const text = gameModule();
  const inputs = documented(text, 'InputConfig');
  assert.deepEqual(Object.keys(inputs), ['copies', 'maxEarlyTicks', 'maxRepeats']);
  assert.match(inputs.copies, /^Sender only: the most packets .*, 1 to 32; default 6\./);
  assert.match(inputs.maxEarlyTicks, /^Receiver only: the number of ticks ahead/);
  assert.match(inputs.maxRepeats, /^Receiver only: the number of ticks in a row/);
  const clock = documented(text, 'ClockSyncConfig');
  assert.match(clock.ticksPerSecond, /^Ticks of the server, 1 to 1000/);
  assert.match(clock.slew, /^To correct itself/);
  assert.match(clock.jumpSeconds, /^A time that is wrong by more/);
  assert.match(clock.maxLeadSeconds, /^The longest/);
  assert.match(documented(text, 'InterpolationStats').frozen, /maxExtrapolationSeconds/);
  assert.equal(
    documented(text, 'SnapshotConfig').coding,
    'The way to encode changes; default DIFFERENCES.',
  );
  for (const [, name] of text.matchAll(/^export interface (\w+Config) /gm))
    for (const [member, note] of Object.entries(documented(text, name))) {
      assert.ok(note, `${name}.${member} has no comment`);
      assert.match(note, /^[A-Z0-9].*\.$/, `${name}.${member} is no sentence`);
      assert.doesNotMatch(note, /[a-z]_[a-z]|CW_/, `${name}.${member} speaks of C`);
    }
});

test('what is not understood fails the build', () => {
  for (const [from, to] of [
    ['uint32_t fragment_size;', 'long fragment_size;'],
    ['struct cw_endpoint_stats {', 'struct cw_brand_new {'],
    ['void cw_endpoint_update(', 'void cw_endpoint_brand_new('],
  ])
    assert.throws(() => generate((edit) => edit(endpoint, from, to)), /understood|no header has a/);
});
