import assert from 'node:assert/strict';
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import test from 'node:test';
import { startRelay } from '../support/relay.mjs';
import { startServed } from '../support/served.mjs';
import { startUdpServer } from '../support/udp_server.mjs';
import { temporaryFolder } from '../support/fixture.mjs';
import { ask } from '../support/http.mjs';

async function serveFiles(t, args = []) {
  const base = temporaryFolder(t);
  const root = path.join(base, 'root');
  mkdirSync(path.join(root, 'sub'), { recursive: true });
  writeFileSync(path.join(base, 'secret.txt'), 'secret');
  mkdirSync(path.join(base, 'root-beside'));
  writeFileSync(path.join(base, 'root-beside', 'secret.txt'), 'secret');
  // The new folder's path is as long as the root's: only the bytes differ.
  mkdirSync(path.join(base, 'beet'));
  writeFileSync(path.join(base, 'beet', 'secret.txt'), 'secret');
  symlinkSync(path.join(base, 'beet'), path.join(root, 'beside'));
  writeFileSync(path.join(root, '.hidden'), 'hidden');
  mkdirSync(path.join(root, '.well-known', 'acme-challenge'), { recursive: true });
  writeFileSync(path.join(root, '.well-known', 'acme-challenge', 'token'), 'proof');
  writeFileSync(path.join(root, '.well-known', '.hidden'), 'hidden');
  symlinkSync(path.join(base, 'secret.txt'), path.join(root, 'link.txt'));
  symlinkSync(path.join(base, 'root-beside'), path.join(root, 'away'));
  for (const name of [
    'index.html',
    'a.wasm',
    'a.mjs',
    'a.js',
    'a.css',
    'a.json',
    'a.svg',
    'a.png',
    'a.unknown',
    'with space.txt',
  ])
    writeFileSync(path.join(root, name), `the contents of ${name}`);
  writeFileSync(path.join(root, 'sub', 'index.html'), 'the sub index');
  writeFileSync(path.join(root, 'large.bin'), Buffer.alloc(3_000_000, 'causeway'));
  const server = await startUdpServer(t);
  return startRelay(t, { upstream: server.upstream, args: ['--root', root, ...args] });
}

test('files have the right type and contents', async (t) => {
  const relay = await serveFiles(t);
  const types = {
    'index.html': 'text/html; charset=utf-8',
    'a.wasm': 'application/wasm',
    'a.mjs': 'text/javascript; charset=utf-8',
    'a.js': 'text/javascript; charset=utf-8',
    'a.css': 'text/css; charset=utf-8',
    'a.json': 'application/json',
    'a.svg': 'image/svg+xml',
    'a.png': 'image/png',
    'a.unknown': 'application/octet-stream',
  };
  for (const [name, type] of Object.entries(types)) {
    const { status, headers, body } = await ask(relay.port, `/${name}`);
    assert.equal(status, 200);
    assert.equal(headers['content-type'], type);
    assert.equal(headers['x-content-type-options'], 'nosniff');
    assert.equal(body.toString(), `the contents of ${name}`);
  }
  assert.equal((await ask(relay.port, '/')).body.toString(), 'the contents of index.html');
  assert.equal(
    (await ask(relay.port, '/index.html?query=1')).body.toString(),
    'the contents of index.html',
  );
  assert.equal(
    (await ask(relay.port, '/with%20space.txt')).body.toString(),
    'the contents of with space.txt',
  );
  assert.equal((await ask(relay.port, '/sub/')).body.toString(), 'the sub index');
  const redirect = await ask(relay.port, '/sub');
  assert.equal(redirect.status, 301);
  assert.equal(redirect.headers.location, '/sub/');
  assert.deepEqual((await ask(relay.port, '/large.bin')).body, Buffer.alloc(3_000_000, 'causeway'));
});

test('HEAD has no body, a known file is not sent again, other methods are refused', async (t) => {
  const relay = await serveFiles(t);
  const head = await ask(relay.port, '/a.wasm', { method: 'HEAD' });
  assert.equal(head.status, 200);
  assert.equal(head.headers['content-length'], String('the contents of a.wasm'.length));
  assert.equal(head.body.length, 0);
  const again = await ask(relay.port, '/a.wasm', {
    headers: { 'if-none-match': head.headers.etag },
  });
  assert.equal(again.status, 304);
  assert.equal(again.body.length, 0);
  assert.equal(
    (await ask(relay.port, '/a.wasm', { headers: { 'if-none-match': '"other"' } })).status,
    200,
  );
  assert.equal((await ask(relay.port, '/a.wasm', { method: 'DELETE' })).status, 405);
  const posted = await ask(relay.port, '/rtc', { method: 'POST', body: 'x' });
  // A page of another origin may read that this relay has no WebRTC.
  assert.deepEqual([posted.status, posted.headers['access-control-allow-origin']], [405, '*']);
});

test('nothing outside of the root is served', async (t) => {
  const relay = await serveFiles(t);
  const targets = [
    '/missing.html',
    '/../secret.txt',
    '/sub/../../secret.txt',
    '/%2e%2e/secret.txt',
    '/..%2fsecret.txt',
    '/sub/..%2f..%2fsecret.txt',
    '/%2e%2e%2fsecret.txt',
    '//secret.txt',
    '/..\\secret.txt',
    '/link.txt',
    '/away/secret.txt',
    '/beside/secret.txt',
    '/.hidden',
    '/%2ehidden',
    '/.well-known/.hidden',
    '/.well-known/../.hidden',
    '/sub/../.hidden',
    '/sub/.%2e/.%2e/secret.txt',
    '/index.html%00.png',
    '/../root-beside/secret.txt',
    '/index.html/',
    '/etc/passwd',
    '//etc/passwd',
  ];
  for (const target of targets) {
    // The relay refuses it with a status, or hangs up on a target that is no path at all.
    const { status, body } = await ask(relay.port, target).catch((error) => {
      assert.equal(error.code, 'ECONNRESET');
      return { status: 0, body: '' };
    });
    assert.ok([0, 400, 403, 404].includes(status), `${target} gave ${status}`);
    assert.doesNotMatch(body.toString(), /secret|hidden|root:/, target);
  }
  assert.equal((await ask(relay.port, '/')).status, 200);
});

test('/.well-known/ is served, by which certbot renews certificates', async (t) => {
  const relay = await serveFiles(t);
  const { status, body } = await ask(relay.port, '/.well-known/acme-challenge/token');
  assert.equal(status, 200);
  assert.equal(body.toString(), 'proof');
});

test('without --root there are no files', async (t) => {
  const { relay } = await startServed(t);
  assert.equal((await ask(relay.port, '/')).status, 404);
  assert.equal((await ask(relay.port, '/etc/passwd')).status, 404);
});
