// The places that the module may come from, in a process that has not loaded it yet; each test goes on from the one
// before.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import {
  connect,
  dist,
  generateConnectToken,
  generateKey,
  loadCore,
  loadServer,
  openSecureTransport,
} from '../support/causeway.mjs';

import { messages } from '../support/chat_schema.mjs';

const bytes = readFileSync(new URL('causeway.wasm', dist));
const server = readFileSync(new URL('causeway-server.wasm', dist));
const foreign = new Uint8Array(8);
const token = (wasm) =>
  generateConnectToken({
    protocolId: 1n,
    privateKey: generateKey(),
    clientId: 1n,
    servers: ['127.0.0.1:40000'],
    wasm,
  });
const options = { token: new Uint8Array(2048), schema: messages, wasm: foreign };

test('a source that fails is not kept', async () => {
  await assert.rejects(loadCore({ wasm: foreign }), { name: 'ConnectError', code: 'LOAD' });
  await assert.rejects(token(foreign), { name: 'ConnectError', code: 'LOAD' });
});

test('whatever needs the core takes a source', async () => {
  await assert.rejects(connect('http://127.0.0.1:1/', options), {
    name: 'ConnectError',
    code: 'LOAD',
  });
  await assert.rejects(openSecureTransport('http://127.0.0.1:1/', options), {
    name: 'ConnectError',
    code: 'LOAD',
  });
});

test('the first source that is given is the default from then on', async () => {
  const [first, second] = [loadCore({ wasm: bytes }), loadCore({ wasm: bytes })];
  assert.notEqual(await first, await second);
  assert.equal(await loadCore(), await first);
  assert.equal((await token(server)).length, 2048);
});

test('what has been loaded is not loaded again by those who say where it is', async () => {
  assert.equal((await token(foreign)).length, 2048);
  await assert.rejects(loadServer({ wasm: foreign }), { name: 'ConnectError', code: 'LOAD' });
  assert.equal((await token()).length, 2048);
  await assert.rejects(openSecureTransport('http://127.0.0.1:1/', options), {
    code: 'INVALID_TOKEN',
  });
});
