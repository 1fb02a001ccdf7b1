// One relay before several game servers: the client goes to the one that its connect token names first.
import assert from 'node:assert/strict';
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { test } from 'node:test';
import {
  ConnectError,
  HandshakeError,
  connect,
  openSecureTransport,
  require,
} from '../support/causeway.mjs';
import { messages, startGameServer, startSecureServer } from '../support/secure.mjs';
import { RTCPeerConnection } from '../support/wrtc.mjs';

const { WebSocket } = require('ws');
const options = { RTCPeerConnection, WebSocket };

/** Two game servers with keys of their own, and one that only listens, on IPv6. */
async function start(t) {
  const second = await startGameServer();
  const silent = createSocket('udp6');
  silent.bind(0, '::1');
  await once(silent, 'listening');
  const { port } = silent.address();
  const relayOptions = ['--upstream', `127.0.0.1:${second.port}`, '--upstream', `[::1]:${port}`];
  const first = await startSecureServer({ relayOptions });
  t.after(async () => {
    silent.close();
    await first.stop();
    await second.stop();
  });
  return { url: first.url, first: first.server, second, silent, silentPort: port };
}

test('each player reaches the server of the token', async (t) => {
  const { url, first, second } = await start(t);
  for (const server of [first, second])
    for (const transport of ['websocket', 'webrtc']) {
      const wishes = { ...options, transports: [transport] };
      // No other server has its key.
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
  const { url, first, silent, silentPort } = await start(t);
  const heard = once(silent, 'message');
  const attempt = new AbortController();
  const token = await first.token({ servers: [`[::1]:${silentPort}`] });
  const wishes = { ...options, token, schema: messages, signal: attempt.signal };
  const connecting = connect(url, { ...wishes, transports: ['websocket'] });
  await heard;
  attempt.abort(new Error('enough'));
  await assert.rejects(connecting, /enough/);
});

test('a server that the relay does not list is refused, and that is told', async (t) => {
  const { url, first } = await start(t);
  const wishes = {
    ...options,
    schema: messages,
    token: () => first.token({ servers: ['169.254.169.254:80'] }),
  };
  const refused = { code: 'SERVER_NOT_ALLOWED', retryable: false };
  await assert.rejects(connect(url, { ...wishes, transports: ['websocket'] }), (error) => {
    assert.ok(error instanceof HandshakeError);
    assert.deepEqual({ code: error.code, retryable: error.retryable }, refused);
    return true;
  });
  await assert.rejects(connect(url, { ...wishes, transports: ['webrtc'] }), (error) => {
    assert.ok(error instanceof ConnectError);
    assert.equal(error.errors[0].code, refused.code);
    assert.equal(error.retryable, false);
    return true;
  });
});
