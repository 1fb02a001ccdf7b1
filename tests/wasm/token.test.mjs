// Connect tokens made in JavaScript: the vectors' bytes, the native tool's form, and options that are refused.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { connectUdp, listen } from '../support/node_server.mjs';
import {
  bool,
  dist,
  fingerprint,
  generateConnectToken,
  generateInsecureToken,
  generateKey,
  loadCore,
  loadServer,
  message,
  reliable,
  schema,
  string,
} from '../support/causeway.mjs';

const folder = process.env.CAUSEWAY_VECTORS;
const skip = folder ? false : 'CAUSEWAY_VECTORS names no folder';
const fromHex = (hex) => new Uint8Array(Buffer.from(hex, 'hex'));
const toHex = (bytes) => Buffer.from(bytes).toString('hex');

const key = generateKey();
const options = {
  protocolId: 0x1122334455667788n,
  privateKey: key,
  clientId: 7,
  servers: ['127.0.0.1:40000', '[2001:db8::1]:40001'],
};

const text = ({ type, bytes, words, port }) =>
  type === 'ipv4'
    ? `${bytes.join('.')}:${port}`
    : `[${words.map((word) => word.toString(16)).join(':')}]:${port}`;

test('the tokens of the vectors come out byte for byte', { skip }, async (t) => {
  const { connect_tokens } = JSON.parse(readFileSync(join(folder, 'netcode.json'), 'utf8'));
  let compared = 0;
  for (const vector of connect_tokens) {
    const life = Number(vector.expire_timestamp) - Number(vector.create_timestamp);
    const addresses = [...vector.public_server_addresses, ...vector.private_server_addresses];
    if (life < 1 || vector.timeout_seconds < 1 || addresses.some(({ port }) => port === 0))
      continue;
    const random = [vector.client_to_server_key, vector.server_to_client_key, vector.nonce];
    t.mock.method(Date, 'now', () => Number(vector.create_timestamp) * 1000 + 999);
    t.mock.method(crypto, 'getRandomValues', (array) => {
      array.set(fromHex(random.shift()));
      return array;
    });
    const token = await generateConnectToken({
      protocolId: BigInt(vector.protocol_id),
      privateKey: vector.private_key,
      clientId: BigInt(vector.client_id),
      servers: vector.public_server_addresses.map(text),
      internalServers: vector.private_server_addresses.map(text),
      expireSeconds: life,
      timeoutSeconds: vector.timeout_seconds,
      userData: fromHex(vector.user_data),
    });
    t.mock.restoreAll();
    assert.equal(toHex(token), vector.connect_token, vector.name);
    compared++;
  }
  assert.ok(compared >= 3, `only ${compared} vectors could be compared`);
});

test('a token has the form of those of causeway-token', async () => {
  const token = await generateConnectToken({ ...options, fingerprint: 0xabcdef0123456789n });
  const native = execFileSync(
    process.env.CAUSEWAY_TOKEN,
    // prettier-ignore
    ['--protocol-id', '0x1122334455667788', '--client-id', '7', '--binary',
      '--fingerprint', 'abcdef0123456789', ...options.servers.flatMap((each) => ['--server', each])],
    { env: { CAUSEWAY_KEY: toHex(key) } },
  );
  assert.equal(token.length, native.length);
  const nonceAt = 13 + 3 * 8;
  const publicAt = nonceAt + 24 + 1024;
  const keysAt = publicAt + 4 + 4 + (1 + 4 + 2) + (1 + 16 + 2);
  for (const [from, to] of [
    [0, 13 + 8],
    [publicAt, keysAt],
    [keysAt + 64, 2048],
  ])
    assert.equal(toHex(token.subarray(from, to)), toHex(native.subarray(from, to)));
  const view = new DataView(token.buffer);
  assert.equal(view.getBigUint64(29, true) - view.getBigUint64(21, true), 45n);
});

test('a fresh server takes a token of causeway-token', async (t) => {
  const protocolId = 0x1122334455667788n;
  const chat = schema(message('say', { text: string(5) }));
  const server = await listen({ protocolId, privateKey: key, schema: chat });
  t.after(() => server.close());
  let tokens = 0;
  const client = await connectUdp({
    schema: chat,
    token: () => {
      tokens++;
      return execFileSync(
        process.env.CAUSEWAY_TOKEN,
        // prettier-ignore
        ['--protocol-id', String(protocolId), '--client-id', '7', '--binary', '--server', server.address],
        { env: { CAUSEWAY_KEY: toHex(key) } },
      );
    },
  });
  client.disconnect();
  assert.ok(tokens <= 2, `${tokens} tokens`);
});

test('no two tokens or keys have secrets in common', async () => {
  const [a, b] = [await generateConnectToken(options), await generateConnectToken(options)];
  assert.notEqual(toHex(a.subarray(37, 61)), toHex(b.subarray(37, 61)));
  assert.notEqual(toHex(generateKey()), toHex(generateKey()));
  assert.equal(generateKey().length, 32);
});

/** Makes a token from some options with the same random bytes and time as all that are made so. */
const alike = async (t, change, generate = generateConnectToken) => {
  t.mock.method(Date, 'now', () => 1e12);
  t.mock.method(crypto, 'getRandomValues', (array) => array.fill(7));
  try {
    return toHex(await generate({ ...options, ...change }));
  } finally {
    t.mock.restoreAll();
  }
};

test('a key is the same in digits of either case as in bytes', async (t) => {
  const bytes = Uint8Array.from({ length: 32 }, (_, i) => 255 - i);
  const token = await alike(t, { privateKey: bytes });
  assert.equal(await alike(t, { privateKey: toHex(bytes) }), token);
  assert.equal(await alike(t, { privateKey: toHex(bytes).toUpperCase() }), token);
});

test('the fingerprint is that of schema and channels', async (t) => {
  const core = await loadCore();
  const types = schema(message('flag', { on: bool() }));
  const channels = [reliable()];
  const named = (...chosen) => alike(t, { fingerprint: fingerprint(core, types, ...chosen) });
  assert.equal(await alike(t, { schema: types }), await named());
  assert.equal(await alike(t, { schema: types, channels }), await named(channels));
  assert.notEqual(await named(), await named(channels));
});

test('limits are within what is allowed', async () => {
  const view = async (change) =>
    new DataView((await generateConnectToken({ ...options, ...change })).buffer);
  for (const expireSeconds of [1, 2 ** 32 - 1]) {
    const token = await view({ expireSeconds });
    assert.equal(
      token.getBigUint64(29, true) - token.getBigUint64(21, true),
      BigInt(expireSeconds),
    );
  }
  const timeoutAt = 13 + 3 * 8 + 24 + 1024;
  for (const timeoutSeconds of [1, 2 ** 31 - 1])
    assert.equal((await view({ timeoutSeconds })).getInt32(timeoutAt, true), timeoutSeconds);
  assert.equal((await view({})).getInt32(timeoutAt, true), 15);
});

test('an insecure token is made with the key that servers know for one', async (t) => {
  const known = Buffer.from('insecure, for development only!!');
  assert.equal(
    await alike(t, { privateKey: undefined }, generateInsecureToken),
    await alike(t, { privateKey: new Uint8Array(known) }),
  );
});

test('a core of its own is used, and keeps neither key nor memory', async () => {
  const core = await loadServer({ wasm: readFileSync(new URL('causeway-server.wasm', dist)) });
  const untouched = Buffer.from(core.memory.bytes);
  const make = () => generateConnectToken({ ...options, core });
  const token = await make();
  assert.ok(!untouched.equals(Buffer.from(core.memory.bytes)));
  const holds = (secret) => Buffer.from(core.memory.bytes.buffer).includes(Buffer.from(secret));
  assert.ok(!holds(key));
  assert.ok(!holds(token.subarray(13 + 3 * 8 + 24, 13 + 3 * 8 + 24 + 32)));
  await make();
  const size = core.memory.bytes.length;
  for (let i = 0; i < 100; i++) await make();
  await assert.rejects(generateConnectToken({ ...options, core, servers: ['nowhere'] }));
  assert.equal(core.memory.bytes.length, size);
  assert.ok(!holds(key));
});

test('user data is followed by zeros, whatever was in memory before', async (t) => {
  const first = await alike(t, {});
  await generateConnectToken({ ...options, userData: new Uint8Array(256).fill(9) });
  assert.equal(await alike(t, { userData: new Uint8Array(3) }), first);
});

const refused = [
  [
    { servers: ['game.example.com:40000'] },
    'MisuseError',
    /servers\[0\]: 'game\.example\.com:40000'.*IP address/,
  ],
  [{ servers: ['127.0.0.1:1', '127.0.0.1'] }, 'MisuseError', /servers\[1\]/],
  [{ servers: ['127.0.0.1:1\u0000', '127.0.0.1:2'] }, 'MisuseError', /servers\[0\]/],
  [{ internalServers: ['10.0.0.256:1'] }, 'MisuseError', /internalServers\[0\]: '10\.0\.0\.256:1'/],
  [{ servers: [] }, 'RangeError', /servers: 0 addresses/],
  [{ servers: new Array(33).fill('127.0.0.1:1') }, 'RangeError', /servers: 33 addresses/],
  [{ servers: '127.0.0.1:1' }, 'TypeError', /servers: an array/],
  [{ servers: [1] }, 'TypeError', /servers: an array/],
  [{ protocolId: '7' }, 'TypeError', /protocolId/],
  [{ protocolId: 2n ** 64n }, 'RangeError', /protocolId/],
  [{ clientId: -1 }, 'RangeError', /clientId/],
  [{ clientId: 2 ** 53 }, 'RangeError', /clientId: .*bigint/],
  [{ privateKey: new Uint8Array(31) }, 'RangeError', /privateKey/],
  [{ privateKey: 'secret' }, 'RangeError', /^(?!.*secret).*privateKey/],
  [{ privateKey: undefined }, 'TypeError', /privateKey/],
  [{ privateKey: 'ab'.repeat(33) }, 'RangeError', /privateKey/],
  [{ privateKey: '00'.repeat(32) }, 'MisuseError', /all zero/],
  [{ privateKey: `xy${'ab'.repeat(32)}` }, 'RangeError', /privateKey/],
  [{ fingerprint: -1n }, 'RangeError', /fingerprint/],
  [{ expireSeconds: '45' }, 'TypeError', /expireSeconds/],
  [{ expireSeconds: 0 }, 'RangeError', /expireSeconds/],
  [{ expireSeconds: 2 ** 32 }, 'RangeError', /expireSeconds/],
  [{ timeoutSeconds: 0 }, 'RangeError', /timeoutSeconds/],
  [{ timeoutSeconds: 2 ** 31 }, 'RangeError', /timeoutSeconds/],
  [{ timeoutSeconds: 1.5 }, 'RangeError', /timeoutSeconds/],
  [{ userData: new Uint8Array(257) }, 'RangeError', /userData: 257/],
  [{ userData: 'text' }, 'TypeError', /userData/],
  [{ userData: new Uint8Array(256).fill(1), fingerprint: 1n }, 'MisuseError', /user data/],
];

for (const [change, name, message] of refused)
  test(`refused: ${Object.entries(change).map(([option, value]) => `${option} ${String(value).slice(0, 40)}`)}`, () =>
    assert.rejects(generateConnectToken({ ...options, ...change }), { name, message }));
