import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { gzipSync } from 'node:zlib';
import { fileURLToPath } from 'node:url';
import { Endpoint, dist, loadCore, require } from '../support/causeway.mjs';

const IMPORTS_ALLOWED = ['causeway.random'];

const bytes = readFileSync(new URL('causeway.wasm', dist));
const module = new WebAssembly.Module(bytes);

/** Checks the size of what a page loads against its bar, or against what it was when it missed that. */
function judge(t, key, contents) {
  const bars = readFileSync(new URL('../bench/bars.txt', import.meta.url), 'utf8');
  const [, bar, , missed = bar] = new RegExp(`^${key} (\\d+)( missed (\\d+))?$`, 'm').exec(bars);
  const size = gzipSync(contents, { level: 9 }).length;
  t.diagnostic(`${size} bytes when gzipped; the bar is ${bar}`);
  assert.ok(size <= Number(missed), `it has ${size}`);
}

test('the module is no larger than its bar, or than it was when it missed that', (t) =>
  judge(t, 'wasm.gzip_bytes', bytes));

/** A page that does no more than connect, send and take messages. */
const PAGE = `
  import { connect, message, schema, string } from 'causeway-net';
  const messages = schema(message('say', { text: string(200) }, { reliable: true }));
  const token = async () => (await fetch('/token', { method: 'POST' })).arrayBuffer();
  const client = await connect(location.origin, { token, schema: messages });
  client.send('say', { text: 'hello' });
  for await (const { value } of client) console.log(value.text);`;

test('the script of a page is no larger than its bar, or than it was when it missed that', (t) => {
  const { outputFiles } = require('esbuild').buildSync({
    stdin: { contents: PAGE, resolveDir: fileURLToPath(dist) },
    alias: { 'causeway-net': fileURLToPath(new URL('index.js', dist)) },
    bundle: true,
    minify: true,
    format: 'esm',
    target: 'es2022',
    write: false,
  });
  judge(t, 'wasm.page_script_gzip_bytes', outputFiles[0].contents);
});

test('the module imports nothing that the loader does not give', () => {
  const imports = WebAssembly.Module.imports(module).map(
    (entry) => `${entry.module}.${entry.name}`,
  );
  assert.deepEqual(
    imports.filter((name) => !IMPORTS_ALLOWED.includes(name)),
    [],
  );
});

test('views survive the growth of the memory', async () => {
  const core = await loadCore({ wasm: module });
  const before = core.memory.bytes.length;
  const early = new Endpoint(core);
  early.send(new Uint8Array([1, 2, 3]), 0);
  const endpoints = [];
  while (core.memory.bytes.length < 4 * before)
    endpoints.push(new Endpoint(core, { sentWindow: 4096, receivedWindow: 4096 }));
  assert.equal(core.memory.view.byteLength, core.memory.bytes.length);
  assert.deepEqual([...early.transmit(0).subarray(-3)], [1, 2, 3]);
  assert.equal(early.stats().packetsSent, 1);
  endpoints.forEach((endpoint) => endpoint.destroy());
});

test('memory that was given back is used again', async () => {
  const core = await loadCore({ wasm: module });
  new Endpoint(core).destroy();
  const size = core.memory.bytes.length;
  for (let i = 0; i < 1000; i++) new Endpoint(core, { maxPacketSize: 16384 }).destroy();
  assert.equal(core.memory.bytes.length, size);
});

test('more memory than there is gives an error, not a trap', async () => {
  const core = await loadCore({ wasm: module });
  const huge = {
    maxPacketSize: 1 << 23,
    fragmentSize: 65000,
    fragmentAbove: 65000,
    maxReassemblies: 64,
  };
  const endpoints = [];
  const use = () => {
    for (;;) endpoints.push(new Endpoint(core, huge));
  };
  assert.throws(use, { name: 'MisuseError', code: 'NO_MEMORY' });
  endpoints.forEach((endpoint) => endpoint.destroy());
  new Endpoint(core).destroy();
});
