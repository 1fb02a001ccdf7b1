import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { after, before, test } from 'node:test';
import { Core, Endpoint, ConnectError, dist, loadCore } from '../support/causeway.mjs';

const file = new URL('causeway.wasm', dist);
const bytes = readFileSync(file);
let server;
let origin;

before(async () => {
  server = createServer((request, response) => {
    const type = { '/right.wasm': 'application/wasm', '/odd.wasm': 'text/plain' }[request.url];
    response.writeHead(type ? 200 : 404, { 'content-type': type ?? 'text/plain' });
    response.end(type ? bytes : 'not here');
  });
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  origin = `http://127.0.0.1:${server.address().port}`;
});

after(() => {
  server.closeAllConnections();
  server.close();
});

const works = (core) => {
  assert.ok(core instanceof Core);
  assert.equal(new Endpoint(core).nextSequence, 0);
};

test('from the file beside the package', async () => works(await loadCore()));

test('without a source it is loaded once', async () =>
  assert.equal(await loadCore(), await loadCore()));

test('from a file: address', async () => works(await loadCore({ wasm: file })));

test('from a file or bytes it does not make Node load its fetch', async (t) => {
  const named = Object.getOwnPropertyDescriptor(globalThis, 'Response');
  t.after(() => Object.defineProperty(globalThis, 'Response', named));
  const get = () => assert.fail('loadCore has looked at Response');
  Object.defineProperty(globalThis, 'Response', { configurable: true, get });
  works(await loadCore({ wasm: file }));
  works(await loadCore({ wasm: bytes }));
});

test('from bytes', async () => {
  works(await loadCore({ wasm: bytes }));
  works(await loadCore({ wasm: new Uint8Array(bytes).buffer }));
});

test('from a compiled module', async () =>
  works(await loadCore({ wasm: await WebAssembly.compile(bytes) })));

test('from an http: address, as URL and as text', async () => {
  works(await loadCore({ wasm: new URL('/right.wasm', origin) }));
  works(await loadCore({ wasm: `${origin}/right.wasm` }));
});

test('from a server that calls it text', async () =>
  works(await loadCore({ wasm: `${origin}/odd.wasm` })));

test('from a response and from the promise of one', async () => {
  works(await loadCore({ wasm: await fetch(`${origin}/right.wasm`) }));
  works(await loadCore({ wasm: fetch(`${origin}/odd.wasm`) }));
});

test('what is not there is a ConnectError that says where', async () => {
  await assert.rejects(loadCore({ wasm: `${origin}/none.wasm` }), (error) => {
    assert.ok(error instanceof ConnectError);
    assert.equal(error.code, 'LOAD');
    assert.match(error.message, /none\.wasm answered 404/);
    return true;
  });
  await assert.rejects(loadCore({ wasm: new URL('none.wasm', dist) }), {
    name: 'ConnectError',
    code: 'LOAD',
  });
});

test('what is no module, or another one, is a ConnectError', async () => {
  await assert.rejects(loadCore({ wasm: new Uint8Array(8) }), {
    name: 'ConnectError',
    code: 'LOAD',
  });
  const empty = new Uint8Array([0, 0x61, 0x73, 0x6d, 1, 0, 0, 0]);
  await assert.rejects(loadCore({ wasm: empty }), /not causeway\.wasm/);
});
