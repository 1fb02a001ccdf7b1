// The codes that tell programs why a relay does not carry a player, and whether to try again.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { test } from 'node:test';
import {
  ConnectError,
  WebRtcTransport,
  WebSocketTransport,
  openSecureTransport,
  openTransport,
  require,
} from '../support/causeway.mjs';
import { doctor } from '../../web/dist/doctor/index.js';
import { startSecureServer } from '../support/secure.mjs';
import { RTCPeerConnection } from '../support/wrtc.mjs';
import { startRelay } from '../support/relay.mjs';
import { startUdpServer } from '../support/udp_server.mjs';
import { freePort } from '../support/free_port.mjs';
import { own } from '../support/fixture.mjs';
import { failure } from '../support/failure.mjs';

const { WebSocket, WebSocketServer } = require('ws');
const options = { RTCPeerConnection, WebSocket };

/** Starts a server that answers each offer by `answer`, and closes each WebSocket with a code. */
async function start(t, answer, closeCode) {
  const server = createServer((request, response) => {
    request.resume();
    answer(response);
  });
  const sockets = new WebSocketServer({ server });
  sockets.on('connection', (socket) => socket.close(closeCode));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  own(t, () => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${server.address().port}/`;
}

test('the status of an answer to an offer is told as a code', async (t) => {
  let status;
  const url = await start(t, (response) => response.writeHead(status).end('as it is'));
  for (const [number, code, retryable] of [
    [403, 'ORIGIN', false],
    [404, 'NO_RTC', false],
    [405, 'NO_RTC', false],
    [422, 'SERVER_NOT_ALLOWED', false],
    [429, 'RELAY_FULL', true],
    [503, 'RELAY_FULL', true],
    [500, 'TRANSPORT', true],
  ]) {
    status = number;
    const error = await failure(WebRtcTransport.connect(url, options));
    assert.ok(error instanceof ConnectError);
    assert.deepEqual(
      { code: error.code, retryable: error.retryable, after: error.retryAfterSeconds },
      { code, retryable, after: undefined },
    );
    assert.match(error.message, new RegExp(`: ${number} as it is$`));
  }
});

test('an empty answer says that there is no WebRTC, without an error in the console', async (t) => {
  const url = await start(t, (response) => response.writeHead(204).end());
  const { code, retryable } = await failure(WebRtcTransport.connect(url, options));
  assert.deepEqual([code, retryable], ['NO_RTC', false]);
});

/** Returns the error of an attempt in a page with these properties, to a relay on this machine that is not there. */
async function refusedIn(t, page, relay = 'http://127.0.0.1:9/') {
  const names = Object.keys(page);
  const whole = names.map((name) => [name, Object.getOwnPropertyDescriptor(globalThis, name)]);
  for (const name of names)
    Object.defineProperty(globalThis, name, { value: page[name], configurable: true });
  t.after(() => {
    for (const [name, own] of whole)
      if (own) Object.defineProperty(globalThis, name, own);
      else delete globalThis[name];
  });
  return failure(openTransport(relay, { ...options, transports: ['webrtc'] }));
}

const location = { protocol: 'https:', hostname: 'game.example', href: 'https://game.example/' };

test('a page in a sandboxed frame is told what it lacks', async (t) => {
  const error = await refusedIn(t, { location, origin: 'null' });
  assert.deepEqual([error.name, error.code, error.retryable], ['ConnectError', 'SANDBOX', false]);
  assert.match(error.message, /add allow-same-origin to the frame, as in <iframe sandbox=/);
  assert.ok(error.cause instanceof ConnectError);
});

for (const [state, code] of [
  ['prompt', 'LOCAL_NETWORK'],
  ['denied', 'LOCAL_NETWORK'],
  ['granted', 'CONNECT'],
  [undefined, 'CONNECT'],
])
  test(`a public page and a local relay, with a permission that is ${state}`, async (t) => {
    const query = async () => {
      if (!state) throw new TypeError('there is no such permission');
      return { state };
    };
    const page = { location, navigator: { permissions: { query } } };
    const error = await refusedIn(t, page);
    assert.equal(error.code, code);
    if (code === 'LOCAL_NETWORK') assert.match(error.message, /Local Network Access/);
    const found = await doctor('http://127.0.0.1:9/', { WebSocket, transports: ['websocket'] });
    assert.equal(found.code, code === 'CONNECT' ? 'UNREACHABLE' : code);
  });

test('the time after which to try again is told', async (t) => {
  const url = await start(t, (response) =>
    response.writeHead(429, { 'retry-after': '7' }).end('too many'),
  );
  const error = await failure(openTransport(url, { ...options, transports: ['webrtc'] }));
  assert.ok(error instanceof ConnectError);
  assert.equal(error.retryable, true);
  assert.equal(error.retryAfterSeconds, 7);
});

test('what fails again, whenever it is tried, is told', async (t) => {
  const url = await start(t, (response) => response.writeHead(403).end());
  const options_ = { ...options, transports: ['webrtc'] };
  assert.equal((await failure(openTransport(url, options_))).retryable, false);
  const setup = await failure(WebSocketTransport.connect('http://127.0.0.1:9/', { WebSocket: no }));
  assert.deepEqual([setup.stage, setup.retryable], ['setup', false]);
  const nobody = await failure(WebSocketTransport.connect('http://127.0.0.1:9/', options));
  assert.deepEqual([nobody.code, nobody.retryable], ['TRANSPORT', true]);
});

class no {
  constructor() {
    throw new Error('not here');
  }
}

test('connecting fails with what the relay says about the game server', async (t) => {
  const place = await startSecureServer(t);
  const silent = await startUdpServer(t, { answer: () => null });
  const start = (upstream, ...args) => startRelay(t, { upstream, gated: true, args });
  const relays = [
    await start(silent.upstream, '--answer-timeout', '1'),
    await start(`127.0.0.1:${await freePort('udp')}`),
    await start(silent.upstream, '--protocol-id', '1'),
  ];
  const codes = ['NOT_ANSWERED', 'SERVER_DOWN', 'TRANSPORT_CLOSED'];
  const errors = await Promise.all(
    relays.map(async ({ url }) =>
      failure(
        openSecureTransport(url, {
          ...options,
          transports: ['websocket'],
          token: await place.server.token({ schema: undefined, timeoutSeconds: 30 }),
        }),
      ),
    ),
  );
  errors.forEach((error, i) => {
    assert.ok(error instanceof ConnectError, String(error));
    assert.deepEqual(
      { code: error.code, stage: error.stage, retryable: error.retryable },
      { code: codes[i], stage: 'request', retryable: true },
    );
  });
  assert.match(errors[0].message, /another key, protocol id or address/);
});
