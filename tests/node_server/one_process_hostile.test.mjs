// Strangers at the WebSockets of a server on Node, with a player beside them who must not notice. The relay's tests of
// the same attacks are relay.limits, relay.gate, hostile.frames, hostile.links and hostile.deadlines.
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { test } from 'node:test';
import { generateKey } from '../support/node_server.mjs';
import { connectAs, join, newKey, startOneProcess } from '../support/one_process.mjs';
import { patiently, sleep, until } from '../support/patience.mjs';
import { pattern } from '../support/pattern.mjs';
import { repeat } from '../support/fixture.mjs';
import { openTcp } from '../support/tcp.mjs';
import { WebSocket, binaryFrame, connect, handshake } from '../support/websocket.mjs';

const say = async (player, text) => assert.equal(await player.track(0, 'say', { text }), 'acked');
const figures = ({ server }) => server.stats().browsers;

/** A request for a connection that no server believes. */
const forgery = () => {
  const request = randomBytes(1078);
  request[0] = 0;
  request.write('NETCODE 1.02\0', 1);
  return request;
};

/** Opens a WebSocket that has a client of the server; returns both. */
async function joinRaw(t, place, options) {
  let socket;
  class Kept extends WebSocket {
    constructor(...of) {
      super(...of);
      socket = this;
    }
  }
  const joined = await join(t, place, { ...options, WebSocket: Kept });
  const closed = patiently(
    new Promise((resolve) => socket.once('close', (code) => resolve(code))),
    'the close of the WebSocket',
  );
  return { ...joined, socket, closed };
}

const offences = {
  text: [1003, (socket) => socket.send('text')],
  '65,536 bytes': [1009, (socket) => socket.send(pattern(65536))],
  'a megabyte': [1009, (socket) => socket.send(pattern(1 << 20))],
  'too much in fragments': [
    1009,
    (socket) => [0, 1, 2].forEach((i) => socket.send(pattern(30_000), { fin: i === 2 })),
  ],
  'a message in many fragments': [
    1008,
    (socket) => Array.from({ length: 64 }, () => socket.send(pattern(1), { fin: false })),
  ],
};
for (const [what, [code, offend]] of Object.entries(offences))
  test(`${what} closes the link with ${code}`, async (t) => {
    const place = await startOneProcess(t);
    const { player } = await join(t, place, { clientId: 1n });
    const stranger = await connectAs(t, place, newKey());
    offend(stranger.socket);
    assert.equal((await stranger.closed()).code, code);
    await until('the end of the session', () => figures(place).sessions === 1);
    await say(player, 'still here');
  });

const misfits = {
  'an empty message': (socket) => socket.send(Buffer.alloc(0)),
  'an empty message in fragments': (socket) =>
    [0, 1, 2].forEach((i) => socket.send(Buffer.alloc(0), { fin: i === 2 })),
  '1401 bytes': (socket) => socket.send(pattern(1401)),
  '65,535 bytes': (socket) => socket.send(pattern(65535)),
  'too much in fragments': (socket) =>
    [0, 1, 2].forEach((i) => socket.send(pattern(500), { fin: i === 2 })),
};
for (const [what, send] of Object.entries(misfits))
  test(`${what}: dropped and counted, and the session goes on`, async (t) => {
    const place = await startOneProcess(t);
    const { player, socket } = await joinRaw(t, place);
    const { datagramsDropped } = place.server.stats();
    send(socket);
    await until('the count', () => figures(place).droppedReceived === 1);
    assert.equal(place.server.stats().datagramsDropped, datagramsDropped);
    await say(player, 'still here');
  });

test('who says nothing is sent away', async (t) => {
  const place = await startOneProcess(t);
  const stranger = await connectAs(t, place, newKey());
  assert.deepEqual(await stranger.closed(), { code: 4001, reason: 'no request in time' });
  assert.equal(figures(place).sessions, 0);
});

for (const [what, datagram] of Object.entries({
  noise: () => randomBytes(500),
  forgeries: forgery,
}))
  test(`who goes on with ${what} is sent away, and only a few were read`, async (t) => {
    const place = await startOneProcess(t);
    const began = performance.now();
    const stranger = await connectAs(t, place, newKey());
    repeat(t, () => stranger.socket.readyState === WebSocket.OPEN && stranger.send(datagram()), 5);
    assert.equal((await stranger.closed()).code, 4002);
    const { datagramsReceived, clients } = place.server.stats();
    assert.equal(clients, 0);
    const seconds = (performance.now() - began) / 1000;
    assert.ok(datagramsReceived <= 20 + 2 * seconds, `${datagramsReceived} in ${seconds} s`);
    assert.equal(figures(place).sessions, 0);
  });

test('a token of another key lets nobody in', async (t) => {
  const place = await startOneProcess(t, { privateKey: generateKey(), maxTokenLifeSeconds: 0 });
  const other = await startOneProcess(t, { privateKey: generateKey(), port: 0 });
  const token = await other.server.generateConnectToken({ clientId: 1n, timeoutSeconds: 1 });
  await assert.rejects(join(t, place, { token }));
  assert.equal(place.server.clients.size, 0);
});

test('a session whose only link is lost ends at once, unless there is a client', async (t) => {
  const place = await startOneProcess(t);
  const stranger = await connectAs(t, place, newKey());
  stranger.send(forgery());
  stranger.socket.terminate();
  await until('the end of the session', () => figures(place).sessions === 0);
});

test('an address may have only so many sessions, and open only so many', async (t) => {
  // Five seconds bring one more opening.
  const place = await startOneProcess(t, { maxSessionsPerAddress: 2 });
  const enter = (localAddress) => connectAs(t, place, newKey(), { localAddress });
  const two = [await enter('127.3.0.1'), await enter('127.3.0.1')];
  assert.equal((await (await enter('127.3.0.1')).closed()).code, 1013);
  // Room alone does not help an address that opens one session after another.
  two[0].close(1000);
  await until('room', () => figures(place).sessions === 1);
  assert.equal((await (await enter('127.3.0.1')).closed()).code, 1013);
  const other = await enter('127.3.0.2');
  assert.equal(other.socket.readyState, WebSocket.OPEN);
  assert.equal(figures(place).refusedFull, 2);
  await until('patience', () => figures(place).sessions === 0);
  await until('another opening', async () => {
    await enter('127.3.0.1');
    return figures(place).sessions === 1;
  });
});

test('strangers do not keep players out, nor end their sessions', async (t) => {
  const place = await startOneProcess(t, { maxClients: 4, maxSessionsPerAddress: 100 });
  const { player, client } = await join(t, place, { clientId: 1n });
  let comers = 0;
  const enter = async () => {
    const localAddress = `127.3.0.${1 + (comers++ % 20)}`;
    const stranger = await connectAs(t, place, newKey(), { localAddress });
    stranger.send(forgery());
  };
  for (let i = 0; i < 16; i++) await Promise.all(Array.from({ length: 25 }, enter));
  const { sessions, refusedFull } = figures(place);
  assert.equal(sessions, 2 * 4 + 256);
  assert.ok(refusedFull >= 400 + 1 - sessions);
  for (let i = 2n; i <= 4n; i++) await join(t, place, { clientId: i });
  await say(player, 'still here');
  assert.equal(client.state, 'connected');
});

test('a guessed key finds nothing', async (t) => {
  const place = await startOneProcess(t);
  const key = newKey();
  const player = await connectAs(t, place, key);
  for (let at = 0; at < key.length; at++) {
    const guess = `${key.slice(0, at)}${key[at] === 'A' ? 'B' : 'A'}${key.slice(at + 1)}`;
    (await connectAs(t, place, guess)).close(1000);
  }
  assert.equal(player.socket.readyState, WebSocket.OPEN);
});

test('who takes a session over and over gets no more than once', async (t) => {
  const place = await startOneProcess(t);
  const key = newKey();
  const began = performance.now();
  for (let i = 0; i < 20; i++) {
    const link = await connectAs(t, place, key);
    for (let j = 0; j < 20; j++) link.send(randomBytes(100));
    await sleep(10);
  }
  const seconds = (performance.now() - began) / 1000;
  assert.ok(place.server.stats().datagramsReceived <= 20 + 2 * seconds);
  assert.equal(figures(place).sessions, 1);
});

const PING = 0x89;
const PONG = 0x8a;
const frame = (first, size) =>
  Buffer.concat([Buffer.of(first, 0x80 | size), Buffer.alloc(4 + size, 0x55)]);
const run = (bytes) => Buffer.concat(Array(Math.ceil(65536 / bytes.length)).fill(bytes));

const floods = {
  'empty pings': { bytes: run(frame(PING, 0)), reads: true },
  'pings whose answers are not read': { bytes: run(frame(PING, 125)), reads: false },
  'pongs that nobody asked for': { bytes: run(frame(PONG, 10)), reads: true },
  'a message in fragments without end': {
    bytes: run(frame(0, 0)),
    reads: true,
    begin: frame(2, 0),
  },
  'empty messages': { bytes: run(frame(0x82, 0)), reads: true },
  datagrams: { bytes: run(binaryFrame(randomBytes(100))), reads: true },
};
for (const [what, { bytes, reads, begin = '' }] of Object.entries(floods))
  test(`a flood of ${what} is not read, and a player does not notice`, async (t) => {
    const place = await startOneProcess(t);
    const { player, client } = await join(t, place, { clientId: 1n });
    client.addEventListener('message', () => {}); // or the player would have to wait
    const ends = [];
    place.http.on('connection', (socket) => {
      if (socket.remoteAddress.startsWith('127.3.')) ends.push(socket);
    });
    const before = process.memoryUsage().rss;
    const flood = async (localAddress) => {
      const socket = openTcp(t, place.port, { localAddress });
      socket.write(handshake);
      await patiently(new Promise((begun) => socket.once('data', begun)), 'a WebSocket');
      if (reads) socket.resume();
      else socket.pause();
      const next = (error) => error || socket.destroyed || socket.write(bytes, next);
      socket.write(begin, next);
    };
    for (let i = 0; i < 6; i++) await flood(`127.3.0.${1 + i}`);
    while (ends.some(({ destroyed }) => !destroyed)) {
      await say(player, 'still here');
      await sleep(50);
    }
    const read = ends.reduce((sum, { bytesRead }) => sum + bytesRead, 0);
    t.diagnostic(`${read} bytes were read`);
    assert.ok(read < 6 << 20, `${read} bytes were read`);
    assert.ok(process.memoryUsage().rss - before < 128 << 20);
    assert.equal(figures(place).sessions, 1);
    assert.equal(player.state, 'connected');
  });

const half = [0x82, 0xfe, 5, 0x78, 1, 2, 3, 4, 0xff];
for (const [what, bytes] of Object.entries({
  'half a frame': Buffer.from(half),
  'half a header': Buffer.from(half.slice(0, 3)),
  'a frame of more bytes than there are': Buffer.of(0x82, 0xff, 0x7f, 0, 0, 0, 0, 0, 0, 0, 1, 2, 3),
}))
  test(`${what} is not waited for`, async (t) => {
    const place = await startOneProcess(t);
    const socket = openTcp(t, place.port);
    const closed = new Promise((resolve) => socket.once('close', resolve));
    socket.write(handshake);
    socket.write(bytes);
    socket.resume();
    await patiently(closed, 'the end of the connection');
    assert.equal(figures(place).sessions, 0);
  });

const PROXY = '127.0.0.9';

test('X-Forwarded-For: the limit for one address is for one player', async (t) => {
  const options = { trustedProxies: ['127.0.0.8/31'], maxSessionsPerAddress: 1 };
  const place = await startOneProcess(t, options);
  const enters = async (value, localAddress = PROXY) => {
    const headers = { 'x-forwarded-for': value };
    const { socket } = await connect(t, place, { headers, localAddress });
    await sleep(20);
    return socket.readyState === WebSocket.OPEN;
  };
  assert.ok(await enters('203.0.113.1'));
  assert.ok(await enters('203.0.113.2'));
  assert.ok(!(await enters('203.0.113.2')));
  assert.ok(!(await enters('198.51.100.9, 203.0.113.2:4711')), 'the first is not believed');
  assert.ok(!(await enters('203.0.113.2, 127.0.0.8')), 'one proxy behind another');
  assert.ok(await enters('2001:db8:1::1'));
  assert.ok(!(await enters(['198.51.100.9', '203.0.113.2'])), 'lines are one list');
  assert.ok(!(await enters('[2001:DB8:1:0::2]:4711')), 'a /64 is one');
  assert.ok(await enters('2001:db8:1:1::1'));
  assert.ok(await enters('203.0.113.9, nobody'), 'then it is the proxy itself');
  assert.ok(!(await enters('')));
  assert.ok(await enters('203.0.113.1', '127.0.0.7'), 'a stranger cannot say who they are');
  assert.ok(!(await enters('203.0.113.3', '127.0.0.7')));
});

test('the address of a player behind a proxy is the own one', async (t) => {
  const place = await startOneProcess(t, { trustedProxies: ['127.0.0.1'] });
  class Proxied extends WebSocket {
    constructor(url, protocols) {
      super(url, protocols, { headers: { 'x-forwarded-for': '203.0.113.7' } });
    }
  }
  const { client } = await join(t, place, { WebSocket: Proxied });
  assert.equal(client.address, '203.0.113.7');
});

test('pages: the host that the proxy was asked for', async (t) => {
  const place = await startOneProcess(t, { trustedProxies: [PROXY] });
  const page = { origin: 'https://game.example', 'x-forwarded-host': 'game.example' };
  const proxied = await connect(t, place, { headers: page, localAddress: PROXY });
  assert.equal((await (await connect(t, place, { headers: page })).closed()).code, 4004);
  assert.equal(proxied.socket.readyState, WebSocket.OPEN);
});
