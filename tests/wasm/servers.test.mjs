// One relay in front of several game servers: the client tries the servers that its connect token names, in order.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ConnectError, connect, openSecureTransport, require } from '../support/causeway.mjs';
import { PROTOCOL_ID, messages, startGameServer, startSecureServer } from '../support/secure.mjs';
import { RTCPeerConnection } from '../support/wrtc.mjs';
import { startRelay } from '../support/relay.mjs';
import { startUdpServer } from '../support/udp_server.mjs';
import { freePort } from '../support/free_port.mjs';
import { until } from '../support/patience.mjs';

const { WebSocket } = require('ws');
const options = { RTCPeerConnection, WebSocket };

/** Starts two game servers with keys of their own, one that only listens, on IPv6, and names one that is not there. */
async function start(t) {
  const second = await startGameServer(t);
  const closedPort = await freePort('udp');
  const silent = await startUdpServer(t, { host: '::1', answer: () => null });
  const upstreams = [second.upstream, `127.0.0.1:${closedPort}`, silent.upstream];
  const relayOptions = upstreams.flatMap((upstream) => ['--upstream', upstream]);
  const first = await startSecureServer(t, { relayOptions });
  return { url: first.url, first: first.server, second, silent, closedPort };
}

test('each player reaches the server of the token', async (t) => {
  const { url, first, second } = await start(t);
  for (const server of [first, second])
    for (const transport of ['websocket', 'webrtc']) {
      const wishes = { ...options, transports: [transport] };
      // No other server has this key.
      const client = await connect(url, {
        ...wishes,
        token: await server.token(),
        schema: messages,
      });
      assert.equal(client.transport, transport);
      client.disconnect();
      const secure = await openSecureTransport(url, { ...wishes, token: await server.token() });
      secure.close();
    }
});

test('IPv6 too', async (t) => {
  const { url, first, silent } = await start(t);
  const attempt = new AbortController();
  const token = await first.token({ servers: [silent.upstream] });
  const wishes = { ...options, token, schema: messages, signal: attempt.signal };
  const connecting = connect(url, { ...wishes, transports: ['websocket'] });
  await until('a datagram', () => silent.received.length > 0);
  attempt.abort(new Error('enough'));
  await assert.rejects(connecting, /enough/);
});

const REFUSED = '169.254.169.254:80';

test('a server that the relay does not list is refused, and that is told', async (t) => {
  const { url, first } = await start(t);
  for (const servers of [[REFUSED], ['10.0.0.1:80', REFUSED]]) {
    const wishes = { ...options, schema: messages, token: () => first.token({ servers }) };
    const refused = { code: 'SERVER_NOT_ALLOWED', retryable: false };
    await assert.rejects(connect(url, { ...wishes, transports: ['websocket'] }), (error) => {
      assert.ok(error instanceof ConnectError);
      assert.deepEqual({ code: error.code, retryable: error.retryable }, refused);
      return true;
    });
    await assert.rejects(connect(url, { ...wishes, transports: ['webrtc'] }), (error) => {
      assert.ok(error instanceof ConnectError);
      assert.equal(error.errors[0].code, refused.code);
      assert.equal(error.retryable, false);
      return true;
    });
  }
});

/**
 * Opens secure transports and connects, over each kind of transport, all at once, with such tokens; returns the states
 * on the way of each that connects.
 */
const connectAll = (url, server, tokenOptions) =>
  Promise.all(
    ['websocket', 'webrtc'].map(async (transport) => {
      const token = () => server.token(tokenOptions);
      const sockets = [];
      class Kept extends WebSocket {
        constructor(...wanted) {
          super(...wanted);
          sockets.push(this);
        }
      }
      const wishes = { ...options, WebSocket: Kept, transports: [transport], token };
      const states = [];
      const onstate = (state) => states.push(state);
      const [client, secure] = await Promise.all([
        connect(url, { ...wishes, schema: messages, onstate }),
        openSecureTransport(url, wishes),
      ]);
      assert.deepEqual([client.state, client.transport], ['connected', transport]);
      assert.deepEqual([secure.state, secure.kind], ['open', transport]);
      const open = sockets.filter(({ readyState }) => readyState === WebSocket.OPEN);
      assert.equal(open.length, transport === 'websocket' ? 2 : 0, 'one way for each');
      client.disconnect();
      secure.close();
      return states.join(' ');
    }),
  );

const CONNECTS = 'opening requesting responding connected';

test('a server that does not take the player is followed by the next', async (t) => {
  const { url, second, silent, closedPort } = await start(t);
  const own = second.upstream;
  const ways = await Promise.all([
    // The client gives up first, or the relay finds out first.
    connectAll(url, second, { servers: [silent.upstream, own], timeoutSeconds: 2 }),
    connectAll(url, second, { servers: [`127.0.0.1:${closedPort}`, own], timeoutSeconds: 20 }),
  ]);
  for (const states of ways.flat()) assert.equal(states, `opening requesting ${CONNECTS}`);
  const [overWebSocket, overWebRtc] = await connectAll(url, second, { servers: [REFUSED, own] });
  assert.equal(overWebSocket, `opening requesting ${CONNECTS}`);
  assert.equal(overWebRtc, CONNECTS);
});

test('a server that is full is followed by the next', async (t) => {
  const full = await startGameServer(t, { players: 1 });
  const place = await startSecureServer(t, {
    key: full.key,
    relayOptions: ['--upstream', full.upstream],
  });
  const { server, url } = place;
  const wishes = { ...options, transports: ['websocket'], schema: messages };
  const player = await connect(url, { ...wishes, token: await full.token({ clientId: 99 }) });
  const servers = [full, server].map(({ port }) => `127.0.0.1:${port}`);
  for (const states of await connectAll(url, server, { servers }))
    assert.equal(states, `opening requesting ${CONNECTS}`);
  player.disconnect();
});

test('an attempt can be given up between two servers', async (t) => {
  const { url, second } = await start(t);
  const servers = [REFUSED, `127.0.0.1:${second.port}`];
  const states = [];
  const attempt = connect(url, {
    ...options,
    transports: ['websocket'],
    token: await second.token({ servers }),
    schema: messages,
    onstate: (state) => {
      states.push(state);
      if (states.join(' ') === 'opening requesting opening') throw new Error('enough');
    },
  });
  await assert.rejects(attempt, /enough/);
  assert.equal(states.join(' '), 'opening requesting opening disconnected');
});

test('a relay of one server has a session for each address, and the last one tells', async (t) => {
  const silent = await startUdpServer(t, { answer: () => null });
  const args = ['--answer-timeout', '1', '--protocol-id', String(PROTOCOL_ID)];
  const relay = await startRelay(t, { upstream: silent.upstream, gated: true, args });
  const server = await startGameServer(t);
  const wishes = { ...options, transports: ['websocket'], schema: messages };
  const token = await server.token({ servers: ['10.0.0.1:1', '[2001:db8::1]:1'] });
  await assert.rejects(connect(relay.url, { ...wishes, token }), { code: 'NOT_ANSWERED' });
  assert.equal(new Set(silent.received.map(({ port }) => port)).size, 2);
});
