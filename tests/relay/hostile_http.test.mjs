// HTTP as no browser sends it. The relay goes on serving others, and a client that sent more than it should still gets
// its reply.
import assert from 'node:assert/strict';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import test from 'node:test';
import { idle } from './hostile_rig.mjs';
import { patiently, sleep } from '../support/patience.mjs';
import { pattern } from '../support/pattern.mjs';
import { startRelay } from '../support/relay.mjs';
import { startUdpServer } from '../support/udp_server.mjs';
import { repeat, temporaryFolder } from '../support/fixture.mjs';
import { openTcp } from '../support/tcp.mjs';
import { processorTime, startClock } from '../support/programs.mjs';

const large = pattern(3_000_000);

async function start(t) {
  const root = temporaryFolder(t);
  mkdirSync(`${root}/sub`);
  writeFileSync(`${root}/index.html`, 'the index');
  writeFileSync(`${root}/large.bin`, large);
  const { upstream } = await startUdpServer(t);
  return startRelay(t, { upstream, args: ['--rtc', '127.0.0.1:0', '--root', root] });
}

const request = (method, path, headers = {}, body = '') =>
  `${method} ${path} HTTP/1.1\r\nHost: x\r\n` +
  Object.entries(headers)
    .map(([name, value]) => `${name}: ${value}\r\n`)
    .join('') +
  `\r\n${body}`;

const post = (body, headers = {}) =>
  request('POST', '/rtc', { 'Content-Length': Buffer.byteLength(body), ...headers }, body);

/**
 * Writes to a new connection, the parts one after the other, and reads until the relay ends it. Reading begins when all
 * is written if `late`. Returns all that came; rejects when the connection is reset.
 */
async function converse(t, relay, parts, { late = false, pause = 0 } = {}) {
  const socket = openTcp(t, relay.port, { allowHalfOpen: true });
  const chunks = [];
  const ended = new Promise((resolve, reject) => {
    socket.once('end', resolve);
    socket.once('error', reject);
  });
  ended.catch(() => {});
  await patiently(new Promise((resolve) => socket.once('connect', resolve)), 'a connection');
  socket.setNoDelay(true);
  if (!late) socket.on('data', (data) => chunks.push(data));
  for (const part of parts) {
    socket.write(part);
    if (pause > 0) await sleep(pause);
  }
  if (late) socket.on('data', (data) => chunks.push(data));
  await patiently(ended, 'the end of the connection');
  socket.end();
  return Buffer.concat(chunks);
}

const status = (reply) => Number(/^HTTP\/1\.[01] (\d{3}) /.exec(reply.toString('latin1'))?.[1]);

/** Returns the statuses of all replies of a connection. */
const statuses = (reply) =>
  [...reply.toString('latin1').matchAll(/HTTP\/1\.[01] (\d{3}) /g)].map(([, code]) => Number(code));

async function assertServing(t, relay) {
  const reply = await converse(t, relay, [request('GET', '/')]);
  assert.match(reply.toString(), /^HTTP\/1\.1 200 [^]*the index$/);
  await idle(relay);
}

const offer = readFileSync(new URL('../fuzz/corpus/sdp/chromium', import.meta.url), 'utf8');
const validOffer = post(offer, { 'Content-Type': 'application/sdp' });
const firsts = {
  'a POST': [post('a'), 415],
  'an empty POST': [post(''), 415],
  'an OPTIONS': [request('OPTIONS', '/rtc'), 204],
  'a DELETE': [request('DELETE', '/rtc/1'), 404],
  'a valid offer': [validOffer, 201],
  'a GET of a route': [request('GET', '/rtc'), 405],
  'a POST for WebTransport': [request('POST', '/webtransport', { 'Content-Length': 0 }), 204],
  'a GET of a file': [request('GET', '/'), 200],
  'a GET of a large file': [request('GET', '/large.bin'), 200],
  'a HEAD': [request('HEAD', '/'), 200],
  'a GET of nothing': [request('GET', '/none'), 404],
  'a GET of a directory': [request('GET', '/sub'), 301],
  'a POST to a file': [request('POST', '/', { 'Content-Length': 1 }, 'a'), 405],
  'an upgrade to nothing known': [
    request('GET', '/', { Upgrade: 'websocket', Connection: 'Upgrade' }),
    400,
  ],
};
const seconds = {
  'a POST': post('a'),
  'half a POST': post('ab').slice(0, -1),
  'a valid offer': validOffer,
  'a GET': request('GET', '/large.bin'),
  'what is no request': '\0\r\n\r\nab\r\n\r\n',
};

test('a request in the same write as another gets no reply, and holds nobody up', async (t) => {
  const relay = await start(t);
  for (const [first, [text, code]] of Object.entries(firsts)) {
    for (const [second, more] of Object.entries(seconds)) {
      const what = `${first}, ${second}`;
      const reply = await converse(t, relay, [text + more]).catch((error) => {
        throw new Error(`${what}: ${error.message}`, { cause: error });
      });
      assert.deepEqual(statuses(reply), [code], what);
      assert.match(reply.toString('latin1'), /\r\nconnection: close\r\n/, what);
    }
    await assertServing(t, relay);
  }
});

test('a request that follows while a file is sent holds nobody up', async (t) => {
  const relay = await start(t);
  const parts = [request('GET', '/large.bin'), ...Array(20).fill(post('a')), pattern(1 << 16)];
  const reply = await converse(t, relay, parts, { late: true, pause: 5 });
  assert.equal(status(reply), 200);
  assert.deepEqual(reply.subarray(-large.length), large);
  await assertServing(t, relay);
});

test('a file that is not read costs no work, whatever else its client sends', async (t) => {
  const relay = await start(t);
  const socket = openTcp(t, relay.port);
  socket.pause();
  socket.write(request('GET', '/large.bin'));
  await sleep(100);
  socket.write(pattern(100_000));
  await sleep(100);
  // The relay does next to nothing from now on, not only once it has given the client up.
  const before = processorTime(relay.pid);
  await sleep(2000);
  assert.ok(processorTime(relay.pid) - before < 200);
});

test('who sends more than the relay reads still gets the reply', async (t) => {
  const relay = await start(t);
  const body = pattern(400_000);
  for (const [head, code] of [
    [request('POST', '/rtc', { 'Content-Length': body.length }), 413],
    [request('POST', '/rtc', { 'Transfer-Encoding': 'chunked' }), 411],
    [request('POST', '/none', { 'Content-Length': body.length }), 405],
    [request('GET', '/', { 'Content-Length': body.length }), 413],
    [post('a'), 415],
    [request('GET', '/'), 200],
    [request('GET', '/none'), 404],
    [request('GET', '/', { Upgrade: 'websocket', Connection: 'Upgrade' }), 400],
  ]) {
    const parts = [head];
    for (let at = 0; at < body.length; at += 20_000) parts.push(body.subarray(at, at + 20_000));
    for (const options of [{ late: true, pause: 5 }, { late: true }, {}]) {
      const reply = await converse(t, relay, parts, options);
      assert.deepEqual(statuses(reply), [code], head);
    }
  }
  await assertServing(t, relay);
});

test('a client that never ends its side is let go', async (t) => {
  const relay = await start(t);
  const socket = openTcp(t, relay.port, { allowHalfOpen: true });
  socket.resume();
  const closed = new Promise((resolve) => socket.once('error', resolve));
  socket.write(request('GET', '/none'));
  repeat(t, () => socket.write('more'), 50);
  assert.match((await patiently(closed, 'a reset')).code, /ECONNRESET|EPIPE/);
});

// Headers that describe the body, and the relay's answers to them.
const framings = {
  'Transfer-Encoding': [{ 'Transfer-Encoding': 'chunked' }, 411],
  'another Transfer-Encoding': [{ 'Transfer-Encoding': 'gzip, chunked' }, 411],
  'Content-Length and Transfer-Encoding': [
    { 'Content-Length': 5, 'Transfer-Encoding': 'chunked' },
    400,
  ],
  'two Content-Lengths': [{ 'Content-Length': 5, 'content-length': 6 }, 400],
  'the same Content-Length twice': [{ 'Content-Length': 5, 'content-length': 5 }, 400],
  'a list': [{ 'Content-Length': '5, 5' }, 400],
  'less than nothing': [{ 'Content-Length': -1 }, 400],
  'a sign': [{ 'Content-Length': '+5' }, 400],
  'no number': [{ 'Content-Length': 'five' }, 400],
  'a number and more': [{ 'Content-Length': '5x' }, 400],
  'another base': [{ 'Content-Length': '0x5' }, 400],
  'many digits': [{ 'Content-Length': '0'.repeat(200) }, 400],
};
const targets = [
  ['POST', '/rtc'],
  ['DELETE', '/rtc/1'],
  ['OPTIONS', '/rtc'],
  ['GET', '/'],
  ['HEAD', '/'],
  ['POST', '/'],
];

for (const [name, [headers, code]] of Object.entries(framings)) {
  test(`${name} is refused with ${code} at once`, async (t) => {
    const relay = await start(t);
    const upgrade = { Upgrade: 'websocket', Connection: 'Upgrade', ...headers };
    for (const [method, path, all = headers] of [...targets, ['GET', '/', upgrade]]) {
      const clock = startClock(process.pid, relay.pid);
      const reply = await converse(t, relay, [request(method, path, all)]);
      assert.deepEqual(statuses(reply), [code], `${method} ${path}`);
      // this is far below the time after which the relay abandons a body
      assert.ok(clock() < 8000);
    }
    await assertServing(t, relay);
  });
}

test('a path with a line break in it, or a line without a version, is refused', async (t) => {
  const relay = await start(t);
  const upgrade = { Upgrade: 'websocket', Connection: 'Upgrade' };
  for (const [method, path, headers = {}] of [...targets, ['GET', '/', upgrade]]) {
    for (const end of ['%0aX:y', '%0A', '%0d%0aX:y', '?%0aOrigin:http://x', '?a=%0D&%0a']) {
      const reply = await converse(t, relay, [request(method, path + end, headers)]);
      assert.deepEqual(statuses(reply), [400], `${method} ${path}${end}`);
    }
    const bare = request(method, path, headers).replace(' HTTP/1.1', '');
    assert.ok([400, undefined].includes(status(await converse(t, relay, [bare]))), bare);
  }
  await assertServing(t, relay);
});

test('a body that is too long is refused before it comes, one without a length too', async (t) => {
  const relay = await start(t);
  for (const [headers, code] of [
    [{ 'Content-Length': '5000000' }, 413],
    [{ 'Content-Length': '9'.repeat(30) }, 413],
    [{}, 411],
    [{ 'Content-Length': '' }, 411],
  ]) {
    const clock = startClock(process.pid, relay.pid);
    const reply = await converse(t, relay, [request('POST', '/rtc', headers)]);
    assert.equal(status(reply), code);
    assert.ok(clock() < 8000);
  }
  // Space around a number is not part of it.
  const spaced = request('POST', '/rtc', { 'Content-Length': '  1 \t' }, 'a');
  assert.equal(status(await converse(t, relay, [spaced])), 415);
});
