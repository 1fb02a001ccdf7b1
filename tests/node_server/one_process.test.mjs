// One process: the server on Node takes browsers itself, on the application's own HTTP server.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { connect as connectTcp } from 'node:net';
import { test } from 'node:test';
import { listen, messages, nextEvent, startBot } from '../support/node_server.mjs';
import { connectAs, join, newKey, play, startOneProcess } from '../support/one_process.mjs';
import { next, until } from '../support/patience.mjs';
import { replyTo } from '../support/tcp.mjs';
import { WebSocket, connect, handshake } from '../support/websocket.mjs';

const say = async (player, text) => assert.equal(await player.track(0, 'say', { text }), 'acked');

test('a page plays, and messages go both ways', async (t) => {
  const place = await startOneProcess(t);
  const { player, client } = await join(t, place, { clientId: 7n });
  assert.deepEqual([client.id, player.transport], [7n, 'websocket']);
  assert.match(client.address, /^127\.0\.0\.1:\d+$/);
  client.send(0, 'said', { player: 0, text: 'welcome' });
  const { message } = await nextEvent(player, 'message');
  assert.equal(message.value.text, 'welcome');
  await say(player, 'hello');
  assert.equal(place.server.stats().browsers.sessions, 1);
  player.disconnect();
  assert.equal(await client.closed, 'client');
  await until('the end of the session', () => place.server.stats().browsers.sessions === 0);
});

test('a bot over UDP plays with pages', async (t) => {
  const place = await startOneProcess(t);
  const { player } = await join(t, place, { clientId: 1n });
  const { bot } = await startBot(t, place.server, { clientId: 2n });
  place.server.broadcast(0, 'said', { player: 0, text: 'to all' });
  for (const each of [player, bot])
    assert.equal((await nextEvent(each, 'message')).message.value.text, 'to all');
});

test('a page that asks for WebRTC plays over WebSocket', async (t) => {
  const place = await startOneProcess(t);
  const player = await play(t, place, { transports: ['webrtc', 'websocket'] });
  assert.equal(player.transport, 'websocket');
});

test('a WebSocket breaks, and the player goes on over another', async (t) => {
  const sockets = [];
  class Kept extends WebSocket {
    constructor(...of) {
      super(...of);
      sockets.push(this);
    }
  }
  const place = await startOneProcess(t);
  const { player, client } = await join(t, place, { WebSocket: Kept });
  for (let i = 0; i < 3; i++) {
    await say(player, `before ${i}`);
    sockets.at(-1).terminate();
    await until('another WebSocket', () => sockets.length === i + 2);
    await say(player, `after ${i}`);
  }
  assert.equal(client.state, 'connected');
  assert.equal(place.server.stats().browsers.sessions, 1);
  assert.equal(place.server.stats().moves, 0, 'the server sees the same address');
});

test('a newer link takes the place of an older one', async (t) => {
  const place = await startOneProcess(t);
  const key = newKey();
  const first = await connectAs(t, place, key);
  await connectAs(t, place, key);
  assert.deepEqual(await first.closed(), { code: 4003, reason: 'another link took its place' });
  assert.equal(place.server.stats().browsers.sessions, 1);
});

test('the server says that it stops, and the HTTP server goes on', async (t) => {
  const place = await startOneProcess(t);
  const { player, client } = await join(t, place);
  const stranger = await connectAs(t, place, newKey());
  await place.server.close();
  assert.equal(await client.closed, 'stopping');
  assert.equal((await player.closed).reason, 'stopping');
  assert.equal((await stranger.closed()).code, 1001);
  assert.equal((await fetch(place.url)).status, 404);
  assert.equal(place.http.listenerCount('upgrade'), 0);
});

test('WebSockets of other parts of the application are left to them', async (t) => {
  const place = await startOneProcess(t);
  const other = handshake.replace('causeway.v1', 'chat');
  assert.match(await replyTo(t, place.port, other), /^HTTP\/1\.1 400 /);
  place.http.on('upgrade', (request, socket) => {
    if (request.headers['sec-websocket-protocol'] === 'chat') socket.end('hello from the chat');
  });
  assert.equal(await replyTo(t, place.port, other), 'hello from the chat');
  await join(t, place);
});

test('a WebSocket that no part of the application takes ends, and its reset does no harm', async (t) => {
  const place = await startOneProcess(t);
  const other = handshake.replace('causeway.v1', 'chat');
  place.http.on('upgrade', () => {});
  const socket = connectTcp(place.port, '127.0.0.1');
  socket.write(other);
  await once(place.http, 'upgrade');
  socket.resetAndDestroy();
  assert.equal(await replyTo(t, place.port, other), '');
  await join(t, place);
});

for (const [what, names] of Object.entries({
  'without a key': ['causeway.session.'],
  'with a short key': [`causeway.session.${newKey().slice(1)}`],
  'with a long key': [`causeway.session.${newKey()}A`],
  'with another letter': [`causeway.session.${newKey().slice(1)}~`],
  'with two keys': [`causeway.session.${newKey()}`, `causeway.session.${newKey()}`],
}))
  test(`a WebSocket that names a session ${what} is refused`, async (t) => {
    const place = await startOneProcess(t);
    const protocols = ['causeway.v1', ...names];
    await assert.rejects(connect(t, place, { protocols }), { status: 400 });
  });

test('pages of the same host may play, others are told why not', async (t) => {
  const place = await startOneProcess(t);
  for (const origin of [place.url, place.url.replace('http', 'https')])
    assert.equal((await connect(t, place, { origin })).socket.readyState, WebSocket.OPEN);
  const foreign = ['http://evil.example', 'http://127.0.0.1', `${place.url}0`, 'null'];
  for (const origin of [...foreign, `${place.url}.evil.example`]) {
    const { code, reason } = await (await connect(t, place, { origin })).closed();
    assert.deepEqual([code, reason], [4004, 'this origin is not allowed (origins)']);
  }
  assert.equal(place.server.stats().browsers.refusedOrigin, 5);
});

test('origins replaces the default by a list', async (t) => {
  const place = await startOneProcess(t, { origins: ['https://game.example'] });
  const ours = await connect(t, place, { origin: 'https://GAME.example:443' });
  const theirs = await connect(t, place, { origin: place.url });
  assert.equal((await theirs.closed()).code, 4004);
  assert.equal(ours.socket.readyState, WebSocket.OPEN);
  const open = await startOneProcess(t, { origins: ['*'] });
  const page = await connect(t, open, { origin: 'null' });
  assert.equal(page.socket.readyState, WebSocket.OPEN);
});

test('another origin with the same key has another session', async (t) => {
  const place = await startOneProcess(t, { origins: ['*'] });
  const key = newKey();
  const ours = await connectAs(t, place, key, { origin: 'https://game.example' });
  await connectAs(t, place, key, { origin: 'https://evil.example' });
  await connectAs(t, place, key);
  assert.equal(place.server.stats().browsers.sessions, 3);
  assert.equal(ours.socket.readyState, WebSocket.OPEN);
});

/** Asks for a token as a page of this origin does. */
const ask = ({ url }, { method = 'POST', ...headers } = {}) => fetch(url, { method, headers });

test('tokens are served by a handler of two lines', async (t) => {
  const place = await startOneProcess(t);
  const players = { anna: 5n, otto: { clientId: 6n, userData: new Uint8Array([9]) } };
  const serve = place.server.tokens(({ headers }) => players[headers['x-player']]);
  place.http.removeAllListeners('request').on('request', serve);
  for (const [name, id] of [
    ['anna', 5n],
    ['otto', 6n],
  ]) {
    const token = async () => (await ask(place, { 'x-player': name })).arrayBuffer();
    const { client } = await join(t, place, { token });
    assert.equal(client.id, id);
    assert.equal(client.userData[0], name === 'otto' ? 9 : 0);
  }
  const response = await ask(place, { 'x-player': 'anna', origin: place.url });
  assert.equal(response.headers.get('cache-control'), 'no-store');
  assert.equal((await ask(place, { 'x-player': 'eve' })).status, 403);
  assert.equal(
    (await ask(place, { 'x-player': 'anna', origin: 'http://evil.example' })).status,
    403,
  );
  assert.equal((await ask(place, { method: 'GET' })).status, 405);
});

test('without a function each request for a token is that of a new player', async (t) => {
  const place = await startOneProcess(t);
  place.http.removeAllListeners('request').on('request', place.server.tokens());
  const ids = new Set();
  for (let i = 0; i < 3; i++) {
    const token = async () => (await ask(place)).arrayBuffer();
    ids.add((await join(t, place, { token })).client.id);
  }
  assert.equal(ids.size, 3);
});

test('an address gets only so many tokens at once', async (t) => {
  const place = await startOneProcess(t, { trustedProxies: ['127.0.0.1'] });
  place.http.removeAllListeners('request').on('request', place.server.tokens());
  const askFrom = async (address) => (await ask(place, { 'x-forwarded-for': address })).status;
  const statuses = await Promise.all(Array.from({ length: 100 }, () => askFrom('203.0.113.1')));
  const given = statuses.filter((status) => status === 200).length;
  assert.ok(given >= 30 && given < 100, `${given} tokens`);
  assert.equal(statuses.filter((status) => status === 429).length, 100 - given);
  assert.equal(await askFrom('203.0.113.2'), 200);
});

test('a function for tokens that fails is told to the application, and not to the page', async (t) => {
  const place = await startOneProcess(t);
  const fails = () => Promise.reject(new Error('the database is down'));
  place.http.removeAllListeners('request').on('request', place.server.tokens(fails));
  const failing = next(place.server, 'error');
  const response = await ask(place);
  assert.equal(response.status, 500);
  assert.doesNotMatch(await response.text(), /database/);
  assert.match((await failing)[0].error.message, /database/);
});

const refusals = {
  'a server that is none': [{ server: {} }, { name: 'TypeError', message: /^server: / }],
  'no session at all': [{ maxSessionsPerAddress: 0 }, { message: /^maxSessionsPerAddress: 0 / }],
  'a proxy that is a name': [
    { trustedProxies: ['proxy'] },
    { message: /^trustedProxies: 'proxy'/ },
  ],
  'a network that is none': [{ trustedProxies: ['10.0.0.0/33'] }, { name: 'RangeError' }],
  'an origin that is none': [
    { origins: ['game.example'] },
    { message: /^origins: 'game.example'/ },
  ],
};
for (const [what, [options, error]] of Object.entries(refusals))
  test(`it refuses ${what}`, async () => {
    const given = { protocolId: 1n, schema: messages, server: createServer(), ...options };
    await assert.rejects(listen(given), error);
  });
