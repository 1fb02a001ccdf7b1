// Players behind a reverse proxy: each of them is one player, with an address of their own.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import test from 'node:test';
import { patiently } from '../support/patience.mjs';
import { assertStats, oneProcess, startRelay, statsUntil } from '../support/relay.mjs';
import { startUdpServer } from '../support/udp_server.mjs';
import { connect, handshake } from '../support/websocket.mjs';
import { openTcp } from '../support/tcp.mjs';
import { ask } from '../support/http.mjs';

const PROXY = '127.0.0.9';
const offer = readFileSync(new URL('../fuzz/corpus/sdp/chromium', import.meta.url), 'latin1');
const v1 = (client) => Buffer.from(`PROXY TCP4 ${client} 127.0.0.1 4711 443\r\n`);
const v2 = (client) =>
  Buffer.concat([
    Buffer.from('\r\n\r\n\0\r\nQUIT\n\x21\x11\0\x0c', 'latin1'),
    Buffer.from(client.split('.').map(Number)),
    Buffer.from([127, 0, 0, 1, 0x12, 0x67, 1, 0xbb]),
  ]);

async function start(t, args = [], options = {}) {
  const server = await startUdpServer(t);
  const trusted = ['--trusted-proxy', PROXY, '--max-sessions-per-address', '1'];
  const relay = await startRelay(t, {
    upstream: server.upstream,
    args: [...trusted, '--log-level', 'debug', ...args],
    ...options,
  });
  return { relay, server };
}

/** Opens a player's WebSocket through the proxy, which adds these headers. */
const through = (t, relay, headers, localAddress = PROXY) =>
  connect(t, relay, { headers, localAddress });

/** Resolves with true when the server's echo comes back, with false when the relay closes it for its address. */
async function plays(client) {
  client.send(Buffer.from('hello'));
  const ended = client.closed().then(({ code }) => {
    assert.equal(code, 1013);
    return false;
  });
  return Promise.race([client.received(1).then(() => true), ended]);
}

/** Makes a connection that begins with the bytes of a proxy, in these pieces; returns the answer. */
async function raw(t, relay, pieces, localAddress = PROXY) {
  const socket = openTcp(t, relay.port, { localAddress });
  let text = '';
  socket.on('data', (data) => (text += data.toString('latin1')));
  socket.on('error', () => {});
  const closed = new Promise((resolve) => socket.once('close', resolve));
  await patiently(new Promise((resolve) => socket.once('connect', resolve)), 'a connection');
  socket.setNoDelay();
  for (const piece of pieces) {
    await new Promise((resolve) => socket.write(piece, resolve));
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  const begun = new Promise((resolve) => {
    const look = () => text.includes('\r\n\r\n') && resolve();
    socket.on('data', look);
    look();
  });
  await patiently(Promise.race([begun, closed]), 'an answer, or the end');
  return { status: Number(/^HTTP\/1\.[01] (\d+)/.exec(text)?.[1] ?? 0), socket };
}

test(
  'X-Forwarded-For: the limit for one address is for one client',
  { skip: oneProcess },
  async (t) => {
    const { relay } = await start(t);
    const of = (value) => through(t, relay, { 'x-forwarded-for': value });
    assert.ok(await plays(await of('203.0.113.1')));
    assert.ok(await plays(await of('203.0.113.2')));
    assert.ok(!(await plays(await of('203.0.113.2'))));
    assert.ok(!(await plays(await of('198.51.100.9, 203.0.113.2'))), 'the first is not believed');
    assert.ok(await plays(await of('2001:db8:1::1')));
    assert.ok(!(await plays(await of(['198.51.100.9', '203.0.113.2']))), 'lines are one list');
    assert.ok(!(await plays(await of('2001:db8:1::2'))), 'a /64 is one');
    assert.ok(await plays(await of('2001:db8:1:1::1')));
    await relay.logged(/ from 203\.0\.113\.2/);
  },
);

test('a stranger cannot say who they are', { skip: oneProcess }, async (t) => {
  const { relay } = await start(t);
  const of = (value) => through(t, relay, { 'x-forwarded-for': value }, '127.0.0.8');
  assert.ok(await plays(await of('203.0.113.1')));
  assert.ok(!(await plays(await of('203.0.113.2'))));
  await raw(t, relay, [v1('203.0.113.3'), handshake], '127.0.0.7');
  assert.doesNotMatch(relay.log(), /203\.0\.113/);
});

test('a head may come in any pieces, up to a size', async (t) => {
  const { relay } = await start(t);
  const request = handshake.replace(
    '\r\n\r\n',
    '\r\nX-FORWarded-For: 203.0.113.1\r\nX-forwarded-for:203.0.113.2\r\n\r\n',
  );
  assert.equal((await raw(t, relay, request.match(/[^]{1,40}/g))).status, 101);
  await relay.logged(/ from 203\.0\.113\.2/);
  const endless = `${handshake.slice(0, -2)}X: ${'a'.repeat(9000)}`;
  const long = handshake.replace('\r\n\r\n', `\r\nX-Forwarded-For: ${'1'.repeat(1100)}\r\n\r\n`);
  assert.equal((await raw(t, relay, [endless])).status, 0);
  assert.equal((await raw(t, relay, [v1(PROXY), long])).status, 0, 'one proxy behind another');
  await relay.logged(/127\.0\.0\.9:\d+ closed: the head of its request is too long/);
  assert.equal((await relay.stats()).proxy_headers_refused, 2);
});

test('a path with a line break in it gives no headers', async (t) => {
  const { relay } = await start(t);
  const proxied = handshake.replace('\r\n\r\n', '\r\nX-Forwarded-For: 203.0.113.7\r\n\r\n');
  for (const end of ['%0a', '%0A', '%0d', '%0d%0a', '?%0a', '?a=b&%0A'])
    for (const header of [
      'X-Forwarded-For:203.0.113.9,',
      'X-Forwarded-Host:evil%0aX-Forwarded-For:203.0.113.9,',
    ]) {
      const request = proxied
        .replace('GET / ', `GET /${end}${header} `)
        .replace('\r\n\r\n', '\r\nOrigin: http://evil\r\n\r\n');
      assert.equal((await raw(t, relay, [request])).status, 400, `${end}${header}`);
    }
  assert.equal((await raw(t, relay, [proxied])).status, 101);
  await relay.logged(/ from 203\.0\.113\.7/);
  assert.doesNotMatch(relay.log(), /203\.0\.113\.9/);
});

for (const [version, header] of Object.entries({ 1: v1, 2: v2 })) {
  test(`a PROXY header of version ${version}, in any pieces`, { skip: oneProcess }, async (t) => {
    const { relay } = await start(t);
    const bytes = header('203.0.113.1');
    const pieces = [...bytes].map((byte) => Buffer.of(byte));
    assert.equal((await raw(t, relay, [bytes, handshake])).status, 101);
    const second = header('203.0.113.2');
    assert.equal(
      (await raw(t, relay, [Buffer.concat([second, Buffer.from(handshake)])])).status,
      101,
    );
    const third = await raw(t, relay, [...pieces, handshake]);
    assert.equal(third.status, 101); // established, and then closed: its address has a session
    const stats = await statsUntil(
      relay,
      ({ sessions_refused_address }) => sessions_refused_address,
    );
    assert.equal(stats.sessions_opened, 2);
  });
}

/** Makes a header of version 2 that names no client of HTTP, with 216 bytes in that place. */
const v2Of = (family) =>
  Buffer.concat([
    Buffer.from('\r\n\r\n\0\r\nQUIT\n\x21', 'latin1'),
    Buffer.of(family, 0, 216),
    Buffer.alloc(216, 0x2f),
  ]);
const saying = (...lines) => handshake.replace('\r\n\r\n', `\r\n${lines.join('\r\n')}\r\n\r\n`);

for (const [name, family] of Object.entries({
  UNSPEC: 0,
  UDP: 0x12,
  'UDP over IPv6': 0x22,
  UNIX: 0x31,
}))
  test(`a PROXY header of ${name} leaves it to the request`, { skip: oneProcess }, async (t) => {
    const { relay } = await start(t);
    const of = (client) => raw(t, relay, [v2Of(family), saying(`X-Forwarded-For: ${client}`)]);
    assert.equal((await of('203.0.113.1')).status, 101);
    assert.equal((await of('203.0.113.2')).status, 101);
    assert.equal((await of('203.0.113.2')).status, 101); // established, and then closed
    const refused = ({ sessions_refused_address }) => sessions_refused_address;
    const stats = await statsUntil(relay, refused);
    assertStats(stats, { sessions_opened: 2, sessions_refused_address: 1 });
    for (const client of ['203.0.113.1', '203.0.113.2'])
      await relay.logged(new RegExp(` from ${client.replaceAll('.', '\\.')}`));
    // Without a header of the request, the request is the proxy's own, as without a PROXY header.
    assert.equal((await raw(t, relay, [v2Of(family), handshake])).status, 101);
    await relay.logged(/ from 127\.0\.0\.9/);
  });

// Libwebsockets takes these for a part of the line before; each is behind a value that a client may have sent.
test('no line hides X-Forwarded-For behind it', { skip: oneProcess }, async (t) => {
  const { relay } = await start(t);
  const of = (client) => `X-Forwarded-For: ${client}`;
  const malformed = ['garbage', 'X-Forwarded', ' folded: 1', 'Name : 1', ': 1', 'X\rY: 1'];
  for (const line of malformed)
    assert.equal((await raw(t, relay, [saying(line, of('203.0.113.1'))])).status, 400, line);
  assert.equal((await relay.stats()).proxy_headers_refused, malformed.length);
  await relay.logged(/127\.0\.0\.9:\d+ closed: its request is malformed\n/);
  assert.doesNotMatch(relay.log(), /session \d+ from/);
  // These lines are well-formed: the names of others begin with theirs.
  for (const [i, line] of ['H: 1', 'X-A: 1', 'Content-: 1', 'Ho:'].entries()) {
    const request = saying(of('198.51.100.9'), line, of(`203.0.113.${1 + i}`));
    assert.equal((await raw(t, relay, [request])).status, 101, line);
    await relay.logged(new RegExp(` from 203\\.0\\.113\\.${1 + i}`));
  }
  assert.doesNotMatch(relay.log(), /198\.51\.100\.9/);
});

test('what is malformed or does not come is closed and counted', async (t) => {
  const { relay } = await start(t, [], { shell: 'ulimit -n 300' });
  assert.equal((await raw(t, relay, ['PROXY TCP4 nobody\r\n', handshake])).status, 0);
  const silent = [];
  for (let i = 0; i < 65; i++) {
    const socket = openTcp(t, relay.port, { localAddress: PROXY });
    silent.push(new Promise((resolve) => socket.once('close', resolve)));
  }
  await patiently(Promise.race(silent), 'the end of the oldest');
  assert.ok(await plays(await through(t, relay, { 'x-forwarded-for': '203.0.113.1' })));
  const stats = await relay.stats();
  assert.ok(stats.proxy_headers_refused >= 2);
  await relay.logged(/connection of the proxy 127\.0\.0\.9:\d+ closed: its PROXY header/);
});

test('a proxy that ends in the middle of its header is not waited for', async (t) => {
  const { relay } = await start(t);
  const socket = openTcp(t, relay.port, { localAddress: PROXY, allowHalfOpen: true });
  const closed = new Promise((resolve) => socket.once('close', resolve));
  socket.resume();
  socket.end('PROX');
  await patiently(closed, 'the end of the connection');
  const { proxy_headers_refused } = await relay.stats();
  assert.equal(proxy_headers_refused, 0, 'its time was not up');
});

test('pages: the host that the proxy was asked for, or any when it does not say', async (t) => {
  const { relay } = await start(t);
  let number = 0;
  const from = (headers, localAddress) =>
    through(t, relay, { 'x-forwarded-for': `203.0.113.${++number}`, ...headers }, localAddress);
  const page = { origin: 'https://game.example' };
  assert.ok(await plays(await from({ ...page, 'x-forwarded-host': 'game.example' })));
  assert.ok(await plays(await from(page)), "as with nginx's default Host");
  const foreign = await from({ ...page, 'x-forwarded-host': 'other.example' });
  assert.equal((await foreign.closed()).code, 4004);
  const direct = await from({ ...page, 'x-forwarded-host': 'game.example' }, '127.0.0.8');
  assert.equal((await direct.closed()).code, 4004);
});

test('offers count for the client, too', async (t) => {
  const { relay } = await start(t, ['--rtc', '127.0.0.1:0']);
  const post = async (client) => {
    const headers = { 'content-type': 'text/plain', 'x-forwarded-for': client };
    const request = { method: 'POST', localAddress: PROXY, headers, body: offer };
    return (await ask(relay.port, '/rtc', request)).status;
  };
  assert.equal(await post('203.0.113.1'), 201);
  assert.equal(await post('203.0.113.1'), 503);
  assert.equal(await post('203.0.113.2'), 201);
});
