// Every connection ends, whatever a stranger makes of it. Each row of the tables is a state in which one may be left,
// at a listener of a real relay: the test waits for the relay to give up the socket, however long that takes, and needs
// no end that the stranger sees.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { open } from 'node:fs/promises';
import net from 'node:net';
import { test } from 'node:test';
import tls from 'node:tls';
import { idle } from './hostile_rig.mjs';
import { until } from '../support/patience.mjs';
import { assertAddsUp } from '../support/relay.mjs';
import { startServed } from '../support/served.mjs';
import { handshake } from '../support/websocket.mjs';
import { own, repeat, temporaryFolder } from '../support/fixture.mjs';
import { certify } from '../support/certificate.mjs';

const DRIP_MS = 200;
const LARGE_BYTES = 50_000_000;
const PROXY = '127.0.0.9';

const request = (method, path, ...headers) =>
  [`${method} ${path} HTTP/1.1`, 'Host: 127.0.0.1', ...headers, '\r\n'].join('\r\n');

const send = (text) => (socket) => socket.write(text);
const sendAll = (all) => (socket) => all.forEach((part) => part(socket));
/** Writes again and again, whatever the relay says to it. */
const drip = (bytes) => (socket) => {
  const timer = setInterval(() => socket.write(bytes), DRIP_MS);
  socket.once('close', () => clearInterval(timer));
};
/** Reads nothing, so that what comes fills the buffers. */
const deaf = (socket) => socket.pause();
/** Reads a little, again and again. */
const sip = (socket) => {
  socket.pause();
  const timer = setInterval(() => socket.read(100), DRIP_MS);
  socket.once('close', () => clearInterval(timer));
};

const frame = (opcode, data = '') =>
  Buffer.concat([Buffer.of(0x80 | opcode, 0x80 | data.length, 0, 0, 0, 0), Buffer.from(data)]);
const datagram = frame(2, 'hello');
const text = frame(1, 'hello');
const close = frame(8, '\x03\xe8');
const ping = frame(9);
const pong = frame(10);
/** The server answers this with a stream that does not end. */
const stay = frame(2, 'stay');
const foreign = handshake.replace('\r\n\r\n', '\r\nOrigin: https://foreign.example\r\n\r\n');

// The states of HTTP, over TLS or without.
const requests = {
  'nothing sent': () => {},
  'half a line': send('GET / HT'),
  'half a head': send(request('GET', '/').slice(0, -2)),
  'a head that drips': sendAll([send(request('GET', '/').slice(0, -4)), drip('\r\nX-More: 1')]),
  'lines that are empty': drip('\r\n'),
  'a reply, and the connection kept': send(request('GET', '/none', 'Connection: keep-alive')),
  'a reply, and more that drips': sendAll([send(request('GET', '/none')), drip('more')]),
  'a reply that is not read': sendAll([deaf, send(request('GET', '/none'))]),
  'CONNECT, and nothing else': send(request('CONNECT', 'game.example:443')),
  'CONNECT, and more that drips': sendAll([
    send(request('CONNECT', 'game.example:443')),
    drip('more'),
  ]),
  'an upgrade to HTTP/2': sendAll([
    send(request('GET', '/', 'Upgrade: h2c', 'Connection: Upgrade', 'HTTP2-Settings: AAMAAABk')),
    drip('\0'),
  ]),
  'HTTP/2 from the beginning': send('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\x04\0\0\0\0\0'),
  'an upgrade to what nobody knows': send(
    request('GET', '/', 'Upgrade: nothing', 'Connection: Upgrade'),
  ),
};

// The states of a route, a file and a WebSocket, over TLS or without.
const exchanges = {
  'a body outstanding': send(request('POST', '/rtc', 'Content-Length: 5000') + 'v'),
  'a body that drips': sendAll([send(request('POST', '/rtc', 'Content-Length: 5000')), drip('v')]),
  'a file that is not read': sendAll([deaf, send(request('GET', '/large.bin'))]),
  'a file that is read by the byte': sendAll([sip, send(request('GET', '/large.bin'))]),
  'a WebSocket that is silent': send(handshake),
  'a WebSocket with half a frame': send(handshake + '\x82'),
  'a WebSocket whose message drips': sendAll([
    send(Buffer.concat([Buffer.from(handshake), Buffer.of(2, 0x81, 0, 0, 0, 0, 1)])),
    drip(Buffer.of(0, 0x81, 0, 0, 0, 0, 1)),
  ]),
  'a WebSocket that only pings': sendAll([send(handshake), drip(ping)]),
  'a session that is silent': sendAll([send(handshake), send(datagram)]),
  'a session that only answers pings': sendAll([send(handshake), send(datagram), drip(pong)]),
  'a session that hears the server, and answers no ping': sendAll([send(handshake), send(stay)]),
  'a session that reads nothing': sendAll([deaf, send(handshake), send(stay)]),
  'closed by the relay, and not answered': sendAll([send(handshake), send(text)]),
  'closed by the relay, and datagrams that drip': sendAll([
    send(handshake),
    send(text),
    drip(datagram),
  ]),
  'closed by the relay, and pings that drip': sendAll([send(handshake), send(text), drip(ping)]),
  'of a foreign page, and closes not': send(foreign),
  'of a foreign page, and drips': sendAll([send(foreign), drip(datagram)]),
  'closed by the browser, and not ended': sendAll([send(handshake), send(close)]),
  'closed by the browser, and drips': sendAll([send(handshake), send(close), drip(ping)]),
};

// A ClientHello; the states below are those before TLS has been agreed on.
const hello = Buffer.concat([
  Buffer.of(22, 3, 1, 2, 0, 1, 0, 1, 252, 3, 3),
  Buffer.alloc(32, 'random'),
]);
const hellos = {
  'nothing sent': () => {},
  'half a record': send(hello.subarray(0, 3)),
  'half a hello': send(hello),
  'a hello that drips': sendAll([send(hello), drip('\0')]),
  'no TLS at all': send(request('GET', '/')),
};

// A PROXY header; the states below are those before a proxy has named its client, and behind that.
const v1 = 'PROXY TCP4 203.0.113.7 127.0.0.1 4711 443\r\n';
const v2 = '\r\n\r\n\0\r\nQUIT\n';
const proxied = {
  'nothing sent': () => {},
  'half a PROXY header': send('PROXY TCP4'),
  'half a signature of version 2': send(v2.slice(0, 7)),
  'half a PROXY header of version 2': send(`${v2}\x21\x11\0\x0c`),
  'a PROXY header that drips': sendAll([send('PROXY UNKNOWN'), drip(' ')]),
  'a PROXY header and nothing more': send(v1),
  'a PROXY header, and half a head': send(v1 + request('GET', '/').slice(0, -2)),
  'a PROXY header, and CONNECT': sendAll([
    send(v1 + request('CONNECT', 'game.example:443')),
    drip('more'),
  ]),
  'a PROXY header, and a silent WebSocket': send(v1 + handshake),
  'half a head': send(request('GET', '/').slice(0, -2)),
  'a head that drips': sendAll([send(request('GET', '/').slice(0, -4)), drip('\r\nX-More: 1')]),
  'a silent WebSocket': send(handshake),
};

const redirected = {
  ...requests,
  'a body outstanding': send(request('POST', '/', 'Content-Length: 5000')),
  'an upgrade to a WebSocket': sendAll([send(handshake), drip(datagram)]),
};

const administered = {
  'nothing sent': () => {},
  'half a head': send(request('GET', '/metrics').slice(0, -2)),
  'a head that drips': sendAll([send('GET /metrics HTTP/1.1'), drip('\r\nX-More: 1')]),
  'a body outstanding': send(request('POST', '/blocks', 'Content-Length: 500') + 'a'),
  'a body that drips': sendAll([
    send(request('POST', '/blocks', 'Content-Length: 500')),
    drip('a'),
  ]),
  'a reply, and the connection kept': send(request('GET', '/metrics', 'Connection: keep-alive')),
  'a reply, and more that drips': sendAll([send(request('GET', '/metrics')), drip('more')]),
  'a reply that is not read': sendAll([deaf, send(request('GET', '/metrics'))]),
  'CONNECT, and more that drips': sendAll([
    send(request('CONNECT', 'game.example:443')),
    drip('more'),
  ]),
};

/** Names a connection from a port of the client to one of the relay, as /proc/net/tcp has it on the relay's side. */
const name = (from, to) =>
  [to, from].map((port) => `:${port.toString(16).padStart(4, '0').toUpperCase()}`).join();

/** Returns the connections whose socket a process holds; one that only the kernel still closes has no inode. */
function heldSockets() {
  const lines = readFileSync('/proc/net/tcp', 'ascii').trim().split('\n').slice(1);
  return new Set(
    lines
      .map((line) => line.trim().split(/\s+/))
      .filter((words) => words[9] !== '0')
      .map((words) => [words[1], words[2]].map((address) => address.slice(8)).join()),
  );
}

/** Opens a connection for each state, and returns the relay's side of them. */
async function openStates(t, port, states, { secure = false, localAddress } = {}) {
  const rows = await Promise.all(
    Object.entries(states).map(async ([state, begin]) => {
      const to = { port, host: '127.0.0.1', localAddress, allowHalfOpen: true };
      const plain = net.connect(to);
      const socket = secure ? tls.connect({ socket: plain, rejectUnauthorized: false }) : plain;
      for (const each of new Set([plain, socket])) each.on('error', () => {});
      own(t, () => plain.destroy());
      await new Promise((resolve) => socket.once(secure ? 'secureConnect' : 'connect', resolve));
      socket.setNoDelay();
      socket.resume();
      return { state, socket, begin, name: name(plain.localPort, port) };
    }),
  );
  const left = () => {
    const before = heldSockets();
    return rows.filter((row) => before.has(row.name)).map((row) => row.state);
  };
  // Nothing has been sent on any of them yet, so that those are seen too that the relay ends at once.
  await until('the relay to take all connections', () => left().length === rows.length, 100);
  for (const { begin, socket } of rows) begin(socket);
  return left;
}

async function assertAllEnd(t, port, states, options) {
  const left = await openStates(t, port, states, options);
  await until(
    () => `the end of ${left().join('; ')}`,
    () => left().length === 0,
    100,
  );
}

/** Starts a relay whose limits are short where an option sets them. */
async function start(t, args = []) {
  const folder = temporaryFolder(t);
  const file = await open(`${folder}/large.bin`, 'w');
  await file.truncate(LARGE_BYTES);
  await file.close();
  const { server, relay } = await startServed(t, {
    answer(data, from) {
      if (data.toString() === 'stay') {
        repeat(t, () => server.send(Buffer.alloc(1000), from), DRIP_MS);
      }
      return data;
    },
    args: [
      ...['--root', folder, '--rtc', '127.0.0.1:0', '--resume-seconds', '0'],
      ...['--request-timeout', '1', '--idle-timeout', '2', '--ping-interval', '1', ...args],
    ],
  });
  return relay;
}

/** Checks that nothing is left of the connections but counters that add up. */
async function assertNothingLeft(relay) {
  await idle(relay);
  const stats = await relay.stats();
  assert.equal(stats.sessions_open, 0);
  assertAddsUp(stats);
}

test('plain HTTP, and the admin listener', async (t) => {
  const relay = await start(t, ['--admin', '127.0.0.1:0']);
  const [, admin] = await relay.logged(/admin listener on 127\.0\.0\.1:(\d+)\n/);
  await Promise.all([
    assertAllEnd(t, relay.port, { ...requests, ...exchanges }),
    // There are fewer than the listener's places, or the oldest would make room.
    assertAllEnd(t, Number(admin), administered),
  ]);
  await assertNothingLeft(relay);
});

test('TLS, and the port that sends requests there', async (t) => {
  const folder = temporaryFolder(t);
  const relay = await start(t, [...certify(folder).options, '--http-redirect', '127.0.0.1:0']);
  const [, redirect] = await relay.logged(/redirecting from 127\.0\.0\.1:(\d+)\n/);
  await Promise.all([
    assertAllEnd(t, relay.port, hellos),
    assertAllEnd(t, relay.port, { ...requests, ...exchanges }, { secure: true }),
    assertAllEnd(t, Number(redirect), redirected),
  ]);
  await assertNothingLeft(relay);
});

test('behind a proxy', async (t) => {
  const relay = await start(t, ['--trusted-proxy', PROXY]);
  await assertAllEnd(t, relay.port, proxied, { localAddress: PROXY });
  await assertNothingLeft(relay);
});
