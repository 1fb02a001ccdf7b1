import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { test } from 'node:test';
import { ConnectError, WebSocketTransport, require } from '../support/causeway.mjs';
import { FakePlatform } from '../support/fake_links.mjs';
import { startRelay } from '../support/relay.mjs';
import { startUdpServer } from '../support/udp_server.mjs';

const { WebSocket, WebSocketServer } = require('ws');
const options = { WebSocket };
const bytes = (...values) => new Uint8Array(values);
const udp = await startUdpServer(test);
const relay = await startRelay(test, { upstream: udp.upstream });

/** Resolves with the next datagram that arrives. */
const arrival = (transport) =>
  new Promise((resolve) => {
    transport.ondatagram = resolve;
  });

const rejectsAt = (stage, promise, timedOut = false) =>
  assert.rejects(promise, (error) => {
    assert.ok(error instanceof ConnectError, String(error));
    assert.equal(error.stage, stage);
    assert.equal(error.timedOut, timedOut);
    return true;
  });

test('datagrams travel through the relay to a UDP server and back', async () => {
  const transport = await WebSocketTransport.connect(relay.url, options);
  assert.equal(transport.kind, 'websocket');
  assert.equal(transport.state, 'open');
  for (const size of [1, 64, 1100]) {
    const datagram = Uint8Array.from({ length: size }, (_, i) => i * 3);
    assert.equal(transport.send(datagram), true);
    assert.deepEqual(await arrival(transport), datagram);
  }
  assert.deepEqual(transport.stats(), {
    datagramsSent: 3,
    bytesSent: 1165,
    datagramsReceived: 3,
    bytesReceived: 1165,
    datagramsWaiting: 0,
    droppedBacklog: 0,
    droppedClosed: 0,
    droppedForeign: 0,
    droppedUnread: 0,
  });
  transport.close();
  assert.equal(transport.state, 'closing');
  assert.equal((await transport.closed).code, 1000);
  assert.equal(transport.state, 'closed');
  assert.equal(transport.send(bytes(1)), false);
  assert.equal(transport.stats().droppedClosed, 1);
});

test('two transports are two addresses for the server', async () => {
  const transports = await Promise.all(
    [1, 2].map(() => WebSocketTransport.connect(relay.url, options)),
  );
  const from = udp.received.length;
  transports.forEach((transport) => transport.send(bytes(7)));
  await Promise.all(transports.map(arrival));
  const ports = new Set(udp.received.slice(from).map((entry) => entry.port));
  assert.equal(ports.size, 2);
  transports.forEach((transport) => transport.close());
});

test('a datagram that is empty or too long is refused', async () => {
  const transport = await WebSocketTransport.connect(relay.url, options);
  assert.throws(() => transport.send(bytes()), RangeError);
  assert.throws(() => transport.send(new Uint8Array(1101)), RangeError);
  assert.equal(transport.state, 'open');
  transport.close();
  const longer = await WebSocketTransport.connect(relay.url, { ...options, maxDatagramSize: 1400 });
  longer.send(new Uint8Array(1400).fill(5));
  assert.equal((await arrival(longer)).length, 1400);
  longer.close();
});

test('the end of the relay is told with its close code', async (t) => {
  const short = await startRelay(t, { upstream: udp.upstream });
  const transport = await WebSocketTransport.connect(short.url, options);
  assert.equal(await short.stop(), 0);
  assert.equal((await transport.closed).code, 1001);
  assert.equal(transport.state, 'closed');
});

test('nobody listening fails in the handshake', async (t) => {
  const short = await startRelay(t, { upstream: udp.upstream });
  await short.stop();
  const attempt = WebSocketTransport.connect(short.url, options);
  await rejectsAt('handshake', attempt);
  await assert.rejects(attempt, { message: /^the relay at ws:\S+ refused .* or is not there/ });
});

test('an address that is none fails in the setup', async () => {
  await rejectsAt('setup', WebSocketTransport.connect('gopher://127.0.0.1/', options));
  await rejectsAt('setup', WebSocketTransport.connect('nonsense', options));
});

test('without a WebSocket it says so', { skip: 'WebSocket' in globalThis }, () =>
  rejectsAt('setup', WebSocketTransport.connect(relay.url)),
);

/** Runs `body` with a server of our own, which behaves in ways that the relay does not. */
const withServer = async (handle, body) => {
  const http = createServer();
  const sockets = new Set();
  http.on('connection', (socket) => sockets.add(socket));
  handle(http);
  http.listen(0, '127.0.0.1');
  await once(http, 'listening');
  try {
    await body(`ws://127.0.0.1:${http.address().port}/`);
  } finally {
    sockets.forEach((socket) => socket.destroy());
    http.close();
  }
};

test('a server with another protocol fails in the handshake', () =>
  withServer(
    (http) => new WebSocketServer({ server: http, handleProtocols: () => false }),
    (url) => rejectsAt('handshake', WebSocketTransport.connect(url, options)),
  ));

test('a server that does not answer fails in time', () =>
  withServer(
    (http) => http.on('upgrade', () => {}),
    (url) =>
      rejectsAt(
        'handshake',
        WebSocketTransport.connect(url, { ...options, timeoutSeconds: 0.05 }),
        true,
      ),
  ));

test('a server that takes its time has as long as the page says', () =>
  withServer(
    (server) =>
      new WebSocketServer({
        server,
        handleProtocols: () => 'causeway.v1',
        verifyClient: (_, accept) => setTimeout(accept, 50, true),
      }),
    async (url) => {
      for (const timeoutSeconds of [1e7, Infinity])
        (await WebSocketTransport.connect(url, { ...options, timeoutSeconds })).close();
    },
  ));

test('an aborted signal ends the attempt with its reason', () =>
  withServer(
    (http) => http.on('upgrade', () => {}),
    async (url) => {
      const reason = new Error('changed my mind');
      const early = AbortSignal.abort(reason);
      await assert.rejects(WebSocketTransport.connect(url, { ...options, signal: early }), reason);
      const controller = new AbortController();
      const attempt = WebSocketTransport.connect(url, { ...options, signal: controller.signal });
      controller.abort(reason);
      await assert.rejects(attempt, reason);
    },
  ));

test('messages that are no datagrams are counted, not delivered', () =>
  withServer(
    (http) =>
      new WebSocketServer({ server: http }).on('connection', (socket) => {
        socket.send('text');
        socket.send(new Uint8Array(0));
        socket.send(new Uint8Array(1401));
        socket.send(bytes(9));
      }),
    async (url) => {
      const transport = await WebSocketTransport.connect(url, options);
      assert.deepEqual(await arrival(transport), bytes(9));
      assert.equal(transport.stats().droppedForeign, 3);
      transport.close();
    },
  ));

test('what arrives before anybody listens is kept, up to a bound', () =>
  withServer(
    (http) =>
      new WebSocketServer({ server: http }).on('connection', (socket) => {
        for (let i = 0; i < 100; i++) socket.send(bytes(i));
        socket.close();
      }),
    async (url) => {
      const transport = await WebSocketTransport.connect(url, options);
      await transport.closed;
      const values = [];
      transport.ondatagram = ([value]) => values.push(value);
      assert.deepEqual(
        values,
        Array.from({ length: 64 }, (_, i) => 36 + i),
      );
      assert.equal(transport.stats().droppedUnread, 36);
    },
  ));

test('datagrams are dropped while the close of the relay is answered', async () => {
  const platform = new FakePlatform();
  const connecting = WebSocketTransport.connect('ws://relay.test/', platform);
  platform.socket.open();
  const transport = await connecting;
  assert.equal(transport.send(bytes(1)), true);
  platform.socket.readyState = WebSocket.CLOSING;
  assert.equal(transport.send(bytes(2)), false);
  assert.equal(transport.stats().droppedBacklog, 1);
  assert.deepEqual(platform.socket.sent, [[1]]);
});

test('datagrams are dropped while too many bytes wait', () =>
  withServer(
    (http) => new WebSocketServer({ server: http }).on('connection', (socket) => socket.pause()),
    async (url) => {
      const transport = await WebSocketTransport.connect(url, {
        ...options,
        maxBufferedAmount: 3000,
        maxWaitSeconds: 0,
      });
      const datagram = new Uint8Array(1000);
      while (transport.send(datagram))
        if (transport.stats().datagramsSent % 100 === 0) await new Promise(setImmediate);
      assert.equal(transport.stats().droppedBacklog, 1);
      assert.equal(transport.state, 'open');
      transport.close();
    },
  ));
