// Attempts to drive the admin listener by those who should not: pages in a browser, and programs that send nonsense.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import test from 'node:test';
import { startWatched } from './admin.mjs';
import { patiently } from '../support/patience.mjs';
import { openTcp, replyTo } from '../support/tcp.mjs';
import { handshake } from '../support/websocket.mjs';

async function start(t) {
  const { relay } = await startWatched(t);
  return relay;
}

test('a page in a browser can neither read nor change anything', async (t) => {
  const relay = await start(t);
  const { adminPort } = relay;
  const status = async (headers, method = 'GET') =>
    (await relay.ask('/metrics', { headers, method })).status;
  for (const host of ['127.0.0.1', `127.0.0.1:${adminPort}`, '[::1]', 'localhost', 'LOCALHOST:1'])
    assert.equal(await status({ host }), 200, host);
  // The name in Host may be the page's own (DNS rebinding).
  for (const host of ['evil.example', `evil.example:${adminPort}`, '127.0.0.1.evil.example'])
    assert.equal(await status({ host }), 403, host);
  assert.equal(await status({ host: 'localhost.evil.example' }), 403);
  for (const origin of ['https://evil.example', 'null', `http://127.0.0.1:${adminPort}`])
    assert.equal(await status({ origin }), 403, origin);
  for (const method of ['OPTIONS', 'PUT', 'PATCH', 'POST', 'DELETE'])
    assert.equal(await status({}, method), 405, method);
  assert.equal(await status({}, 'TRACE'), 403);
});

// A browser sends these before Origin in a cross-origin POST for which it does not ask first.
const browsers = {
  Chromium: [
    'Connection: keep-alive',
    'Content-Length: 0',
    'Pragma: no-cache',
    'Cache-Control: no-cache',
    'sec-ch-ua-platform: "Linux"',
    'User-Agent: Mozilla/5.0',
    'sec-ch-ua: "Chromium";v="140"',
    'Content-Type: text/plain;charset=UTF-8',
    'sec-ch-ua-mobile: ?0',
    'Content-Language: en',
    'Accept: */*',
  ],
  Firefox: [
    'User-Agent: Mozilla/5.0',
    'Accept: */*',
    'Accept-Language: en-US,en;q=0.5',
    'Accept-Encoding: gzip, deflate, br, zstd',
    'Referer: http://evil.example/',
    'Content-Type: text/plain;charset=UTF-8',
    'Content-Language: en',
    'Content-Length: 0',
  ],
};
for (const [name, lines] of Object.entries(browsers))
  test(`no header of ${name} hides its Origin`, async (t) => {
    const { adminPort } = await start(t);
    // Also when any line of it stands just before.
    for (const [i] of lines.entries()) {
      const before = [...lines.slice(i + 1), ...lines.slice(0, i + 1)];
      const head = ['POST /blocks HTTP/1.1', 'Host: 127.0.0.1', ...before];
      const request = (...more) => [...head, ...more, '\r\n'].join('\r\n');
      assert.match(await replyTo(t, adminPort, request()), /^HTTP\/1.1 400 [^]*The body must be/);
      const page = request('Origin: http://evil.example', 'Sec-Fetch-Mode: no-cors');
      assert.match(await replyTo(t, adminPort, page), /^HTTP\/1.1 403 /, lines[i]);
    }
  });

test('malformed requests are refused', async (t) => {
  const { adminPort, ask } = await start(t);
  const host = 'Host: 127.0.0.1\r\n';
  const blocks = `POST /blocks HTTP/1.1\r\n${host}`;
  // Status 0 stands for the end of the connection without a reply.
  const cases = [
    ['GET /healthz HTTP/1.1\r\n\r\n', 403],
    [`GET /healthz HTTP/1.1\r\n${host}${host}\r\n`, 403],
    [`GET /healthz HTTP/1.1\r\nHost: evil.example\r\n${host}\r\n`, 403],
    [`GET /healthz HTTP/2\r\n${host}\r\n`, 400],
    [`GET /healthz\r\n${host}\r\n`, 400],
    [`GET /healthz HTTP/1.1\r\nHost:\r\n\r\n`, 403],
    [`GET\r\n${host}\r\n`, 403],
    [`GET http://127.0.0.1/healthz HTTP/1.1\r\n${host}\r\n`, 403],
    [`GET /%zz HTTP/1.1\r\n${host}\r\n`, 403],
    [`GET /%00 HTTP/1.1\r\n${host}\r\n`, 404],
    [`GET /%2 HTTP/1.1\r\n${host}\r\n`, 403],
    [`GET /healthz%0a${host}X: HTTP/1.1\r\nHost: evil.example\r\n\r\n`, 400],
    [`GET /healthz HTTP/1.1\r\n${host} folded\r\n\r\n`, 0],
    [`GET /healthz HTTP/1.1\r\nHost : 127.0.0.1\r\n\r\n`, 403],
    [`GET /healthz HTTP/1.1\r\n${host}Origin: http://evil\r\nOrigin:\r\n\r\n`, 403],
    [`GET /healthz HTTP/1.1\r\n${host}Content-Length: 1, 2\r\n\r\n`, 400],
    [`GET /healthz HTTP/1.1\r\n${host}Content-Length: -1\r\n\r\n`, 400],
    [`GET /healthz HTTP/1.1\r\n${host}Content-Length: 99999999999999999999\r\n\r\n`, 413],
    [`${blocks}Content-Length: 8192\r\n\r\n`, 413],
    [`${blocks}\r\n`, 411],
    [`${blocks}Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n`, 411],
    [`GET /healthz HTTP/1.1\r\n${host}X: ${'x'.repeat(10000)}\r\n\r\n`, 0],
    [`GET /${'x'.repeat(9000)}`, 0],
    [`GET /healthz HTTP/1.1\r\n${host}Upgrade: websocket\r\nConnection: Upgrade\r\n\r\n`, 400],
    [`GET /nowhere HTTP/1.1\r\n${host}\r\n`, 404],
    [`GET /healthz?x HTTP/1.1\r\n${host}\r\n`, 200],
    [`GET /%68ealthz HTTP/1.0\r\n${host}\r\n`, 200],
  ];
  for (const [bytes, status] of cases)
    assert.match(
      await replyTo(t, adminPort, bytes),
      status === 0 ? /^$/ : new RegExp(`^HTTP/1.[01] ${status} `),
      JSON.stringify(bytes.slice(0, 100)),
    );
  assert.equal((await ask('/healthz')).status, 200);
});

test('a request may come byte by byte, and there is one in a connection', async (t) => {
  const { adminPort } = await start(t);
  const socket = openTcp(t, adminPort);
  await once(socket, 'connect');
  let text = '';
  socket
    .setNoDelay()
    .setEncoding('latin1')
    .on('data', (piece) => (text += piece));
  for (const byte of 'GET /healthz HTTP/1.1\r\nHost: 127.0.0.1\r\n\r') {
    socket.write(byte);
    await new Promise((resolve) => setImmediate(resolve));
  }
  assert.equal(text, '');
  socket.write('\nGET /healthz HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n');
  await patiently(once(socket, 'end'), 'the answer');
  assert.equal(text.match(/HTTP\/1\.1 200/g).length, 1);
});

test('a listener answers only for itself', async (t) => {
  const { port, adminPort } = await start(t);
  const ask = (at, path) => replyTo(t, at, `GET ${path} HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n`);
  assert.match(await ask(adminPort, '/healthz'), /^HTTP\/1.1 200 /);
  assert.match(await ask(port, '/healthz'), /^HTTP\/1.1 404 /);
  assert.match(await ask(adminPort, '/'), /^HTTP\/1.1 404 /);
  assert.match(await replyTo(t, adminPort, handshake), /^HTTP\/1.1 400 /);
});

test('browsers that say nothing keep the operator from nothing', async (t) => {
  const {
    relay: { port, ask },
  } = await startWatched(t, { args: ['--max-sessions', '10', '--max-sessions-per-address', '0'] });
  const silent = Array.from({ length: 1500 }, () => openTcp(t, port));
  await patiently(Promise.all(silent.map((s) => once(s, 'connect'))), 'the crowd');
  for (let i = 0; i < 20; i++) assert.equal((await ask('/readyz')).status, 200);
});

test('clients that say nothing keep nobody out', async (t) => {
  const { adminPort, ask } = await start(t);
  const silent = Array.from({ length: 40 }, () => openTcp(t, adminPort));
  await Promise.all(silent.map((socket) => once(socket, 'connect')));
  for (let i = 0; i < 20; i++) assert.equal((await ask('/readyz')).status, 200);
  // The oldest connections have lost their places, and the others will lose theirs when their time is up.
  await patiently(Promise.all(silent.map((s) => s.closed || once(s.resume(), 'close'))), 'the end');
});
