// A server on Node over real UDP, as a game uses it.
import assert from 'node:assert/strict';
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { test } from 'node:test';
import {
  listen,
  messages,
  next,
  startClient,
  startServer,
  until,
} from '../support/node_server.mjs';

test('a client connects, and messages go both ways', async (t) => {
  const server = await startServer(t);
  const connecting = next(server, 'connect');
  const userData = new Uint8Array([1, 2, 3]);
  const token = await server.generateConnectToken({ clientId: 77n, userData });
  const player = await startClient(t, server, { token });
  const { client } = await connecting;
  assert.deepEqual([client.slot, client.id, client.state], [0, 77n, 'connected']);
  assert.match(client.address, /^127\.0\.0\.1:\d+$/);
  assert.deepEqual(client.userData.subarray(0, 4), new Uint8Array([1, 2, 3, 0]));
  assert.deepEqual([...server.clients], [client]);

  client.send(0, 'said', { player: 5, text: 'welcome' });
  await until(() => player.received.length > 0);
  assert.deepEqual(player.received, [{ player: 5, text: 'welcome' }]);
  player.send(0, 'say', { text: 'hello' });
  const { message } = await next(client, 'message');
  assert.deepEqual(message, { type: 'say', value: { text: 'hello' }, channel: 0 });
  assert.equal(await client.track(0, 'said', { player: 0, text: '' }), 'acked');
  assert.ok(client.stats().packetsReceived > 0);
  assert.equal(client.channelStats(0).sent, 2);
  assert.equal(server.stats().clients, 1);
});

test('a loop over the messages of a client ends with it', async (t) => {
  const server = await startServer(t);
  const connecting = next(server, 'connect');
  const player = await startClient(t, server);
  const { client } = await connecting;
  await player.becomes('CONNECTED');
  for (const text of ['a', 'b', 'c']) player.send(0, 'say', { text });
  const texts = [];
  for await (const { value } of client) {
    texts.push(value.text);
    if (value.text === 'c') player.leave();
  }
  assert.deepEqual(texts, ['a', 'b', 'c']);
  assert.equal(await client.closed, 'client');
  assert.equal(client.state, 'disconnected');
  assert.equal(server.clients.size, 0);
  assert.throws(() => client.send(0, 'say', { text: '' }), { name: 'ClosedError' });
  assert.throws(() => client.stats(), { name: 'ClosedError' });
  client.kick('it does nothing');
});

test('a client is kicked with a code and a text', async (t) => {
  const server = await startServer(t);
  const connecting = next(server, 'connect');
  const player = await startClient(t, server);
  const { client } = await connecting;
  const ended = next(client, 'disconnect');
  assert.throws(() => client.kick('', { code: -1 }), { name: 'RangeError', message: /^code: -1/ });
  client.send(0, 'said', { player: 0, text: 'the last words' });
  client.kick('no cheating', { code: 7, flushSeconds: 20 });
  assert.throws(() => client.send(0, 'say', { text: '' }), { name: 'ClosedError' });
  await player.becomes('KICKED');
  assert.deepEqual(player.client.farewell(), { code: 7, text: 'no cheating' });
  assert.deepEqual(player.received, [{ player: 0, text: 'the last words' }]);
  assert.equal((await ended).reason, 'kicked');
});

test('broadcasts go to all, to some, or to all others', async (t) => {
  const server = await startServer(t);
  const players = [];
  for (const clientId of [1n, 2n, 3n]) {
    const token = await server.generateConnectToken({ clientId });
    players.push(await startClient(t, server, { token }));
    await until(() => server.clients.size === players.length);
  }
  const [first, second] = server.clients;
  const say = (text) => [0, 'said', { player: 0, text }];
  assert.deepEqual(server.broadcast(...say('to all')), []);
  assert.deepEqual(first.broadcast(...say('to the others')), []);
  assert.deepEqual(server.broadcastTo([second], ...say('to one')), []);
  server.broadcast(...say('the end'));
  const texts = () => players.map(({ received }) => received.map(({ text }) => text));
  await until(() => texts().every((of) => of.includes('the end')));
  assert.deepEqual(texts(), [
    ['to all', 'the end'],
    ['to all', 'to the others', 'to one', 'the end'],
    ['to all', 'to the others', 'the end'],
  ]);
});

test('clients are told that the server stops, and nothing works afterwards', async (t) => {
  const server = await startServer(t);
  const connecting = next(server, 'connect');
  const player = await startClient(t, server);
  const { client } = await connecting;
  await player.becomes('CONNECTED');
  await Promise.all([server.close(), server.close()]);
  assert.equal(await client.closed, 'stopping');
  await player.becomes('STOPPING');
  assert.throws(() => server.stats(), { name: 'ClosedError' });
  assert.throws(() => server.broadcast(0, 'say', { text: '' }), { name: 'ClosedError' });
  // The port is free again.
  await startServer(t, { port: server.port });
});

test('ticks come at their rate, and the game runs in them', async (t) => {
  const server = await startServer(t, { ticksPerSecond: 200 });
  const ticks = [];
  server.addEventListener('tick', ({ tick }) => ticks.push(tick));
  const start = performance.now();
  await until(() => ticks.length === 40);
  assert.ok(performance.now() - start > 180, 'they come too fast');
  assert.deepEqual(
    ticks,
    ticks.map((_, i) => ticks[0] + i),
  );
});

test('it listens on IPv6 too, and says under which addresses', async (t) => {
  const server = await startServer(t, { host: '::1' });
  assert.equal(server.address, `[::1]:${server.port}`);
  const every = await startServer(t, { host: '::', addresses: ['203.0.113.7:40000'] });
  assert.equal(every.address, `[::]:${every.port}`);
});

const refusals = {
  'no schema': [{ schema: undefined }, { code: 'INVALID_ARGUMENT', message: /need a schema/ }],
  'a host that is a name': [
    { host: 'localhost' },
    { message: /host: 'localhost' is no IP address/ },
  ],
  'a port that is none': [{ port: 65536 }, { name: 'RangeError', message: /^port: 65536/ }],
  'every address': [{ host: '0.0.0.0' }, { code: 'CONFIG_ADDRESSES', message: /^addresses: / }],
  'an address without a port': [
    { addresses: ['::1'] },
    { code: 'ADDRESS', message: /addresses\[0\]/ },
  ],
  'no protocol id': [{ protocolId: undefined }, { name: 'TypeError', message: /^protocolId: / }],
  'a short key': [{ privateKey: 'ab' }, { name: 'RangeError', message: /^privateKey: / }],
  'a key of zeros': [{ privateKey: new Uint8Array(32) }, { code: 'KEY' }],
  'no slots': [{ maxClients: 0 }, { code: 'CONFIG_CLIENTS' }],
  'too many slots': [{ maxClients: 1025 }, { code: 'CONFIG_CLIENTS' }],
  'no rate': [{ ticksPerSecond: 0 }, { name: 'RangeError', message: /^ticksPerSecond: 0/ }],
  'an option that is null': [
    { takeover: null },
    { code: 'INVALID_ARGUMENT', message: /^takeover/ },
  ],
};
for (const [what, [options, error]] of Object.entries(refusals))
  test(`it refuses ${what}`, async () => {
    await assert.rejects(listen({ protocolId: 1n, schema: messages, ...options }), error);
  });

test('it refuses a port that is in use', async (t) => {
  const socket = createSocket('udp4');
  t.after(() => socket.close());
  socket.bind(0, '127.0.0.1');
  await once(socket, 'listening');
  const { port } = socket.address();
  await assert.rejects(startServer(t, { port }), { code: 'EADDRINUSE' });
});
