// A server on Node over real UDP, as a game uses it.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { freePort } from '../support/free_port.mjs';
import {
  connectTokenId,
  connectUdp,
  generateConnectToken,
  generateInsecureToken,
  generateKey,
  listen,
  messages,
  nextEvent,
  received,
  startBot,
  startServer,
  PROTOCOL_ID,
} from '../support/node_server.mjs';
import { until } from '../support/patience.mjs';

const said = (text) => [0, 'said', { player: 0, text }];

test('a client connects, and messages go both ways', async (t) => {
  const server = await startServer(t);
  const userData = new Uint8Array([1, 2, 3]);
  const token = await server.generateConnectToken({ clientId: 77n, userData });
  const { bot, client } = await startBot(t, server, { token });
  assert.deepEqual([client.slot, client.id, client.state], [0, 77n, 'connected']);
  assert.deepEqual(bot.slot, { index: 0, count: 64 });
  assert.match(client.address, /^127\.0\.0\.1:\d+$/);
  assert.deepEqual(client.userData.subarray(0, 4), new Uint8Array([1, 2, 3, 0]));
  assert.deepEqual([...server.clients], [client]);
  assert.equal(client.tokenId, connectTokenId(token));

  client.send(...said('welcome'));
  const { message } = await nextEvent(bot, 'message');
  assert.deepEqual(message, { type: 'said', value: { player: 0, text: 'welcome' }, channel: 0 });
  bot.send(0, 'say', { text: 'hello' });
  const { message: answer } = await nextEvent(client, 'message');
  assert.deepEqual(answer, { type: 'say', value: { text: 'hello' }, channel: 0 });
  assert.equal(await client.track(...said('')), 'acked');
  assert.ok(client.stats().packetsReceived > 0);
  assert.equal(client.channelStats(0).sent, 2);
  const { clients, connections, socket } = server.stats();
  assert.deepEqual([clients, connections, socket], [1, 1, { sendErrors: 0, droppedBacklog: 0 }]);
});

test('a client that comes while its server starts asks for one more token', async (t) => {
  const privateKey = generateKey();
  const port = await freePort('udp');
  const first = await startServer(t, { privateKey, port });
  await first.close();
  let tokens = 0;
  const token = () => {
    tokens++;
    return generateConnectToken({
      protocolId: PROTOCOL_ID,
      privateKey,
      clientId: 5,
      servers: [first.address],
      schema: messages,
    });
  };
  const states = [];
  const connecting = connectUdp({
    token,
    schema: messages,
    onstate: (state) => states.push(state),
  });
  await until('the client asks', () => states.includes('requesting'));
  const second = await startServer(t, { privateKey, port });
  const bot = await connecting;
  assert.equal(tokens, 2);
  assert.equal(second.clients.size, 1);
  assert.deepEqual(states, [
    'opening',
    'requesting',
    'opening',
    'requesting',
    'responding',
    'connected',
  ]);
  bot.disconnect();
  // One that only has this token is told.
  const third = await startServer(t, { privateKey, port: 0 });
  await assert.rejects(
    connectUdp({
      schema: messages,
      token: await third.generateConnectToken({ clientId: 6n }),
    }),
    { name: 'ConnectError', code: 'NOT_YET', stage: 'request', retryable: false },
  );
  // One that is given up while it waits asks for no more.
  const abort = new AbortController();
  let asked = 0;
  const given = connectUdp({
    schema: messages,
    signal: abort.signal,
    token: () => {
      if (asked++ > 0) abort.abort(new Error('given up'));
      return generateConnectToken({
        protocolId: PROTOCOL_ID,
        privateKey,
        clientId: 7,
        servers: [third.address],
      });
    },
  });
  await assert.rejects(given, { message: 'given up' });
  assert.equal(asked, 2);
});

test('a server tells which tokens it refuses, once a second', async (t) => {
  const server = await startServer(t);
  const events = [];
  server.addEventListener('refusedtokens', ({ code, count, message }) => {
    events.push({ code, count });
    assert.match(message, /sealed with another key/);
  });
  const abort = new AbortController();
  const refused = connectUdp({
    schema: messages,
    signal: abort.signal,
    token: await generateConnectToken({
      protocolId: PROTOCOL_ID,
      privateKey: generateKey(),
      clientId: 5,
      servers: [server.address],
    }),
  });
  await until('two events', () => events.length === 2);
  abort.abort(new Error('enough'));
  await assert.rejects(refused, { message: 'enough' });
  assert.deepEqual([...new Set(events.map(({ code }) => code))], ['NOT_AUTHENTIC']);
  assert.ok(events[1].count > 1, `${events[1].count} in a second`);
});

test('a client that is to reconnect comes back until it is kicked or replaced', async (t) => {
  const privateKey = generateKey();
  const port = await freePort('udp');
  let server = await startServer(t, { privateKey, port });
  const { address } = server;
  let tokens = 0;
  const token = () => {
    tokens++;
    return generateConnectToken({
      protocolId: PROTOCOL_ID,
      privateKey,
      clientId: 5,
      servers: [address],
      schema: messages,
      timeoutSeconds: 1,
    });
  };
  const options = { token, schema: messages, reconnect: true };
  const follow = (client) => {
    const events = [];
    client.addEventListener('state', ({ state }) => events.push(state));
    client.addEventListener('disconnect', ({ reason }) => events.push(`disconnect: ${reason}`));
    return events;
  };
  const bot = await connectUdp(options);
  const events = follow(bot);
  await server.close();
  // It tries in vain at first.
  await until('it has failed', () => tokens > 2);
  assert.ok(events.includes('requesting') && !events.includes('connected'), String(events));
  server = await startServer(t, { privateKey, port });
  const [{ client }] = await Promise.all([
    nextEvent(server, 'connect'),
    until('it is back', () => bot.state === 'connected'),
  ]);
  assert.ok(
    events.every((each) => !each.startsWith('disconnect')),
    String(events),
  );
  bot.send(0, 'say', { text: 'here again' });
  assert.equal((await nextEvent(client, 'message')).message.value.text, 'here again');

  const asked = tokens;
  client.kick('enough');
  assert.equal((await bot.closed).reason, 'kicked');
  await bot.reconnect();
  const other = await connectUdp(options);
  assert.equal((await bot.closed).reason, 'replaced');
  other.disconnect();
  assert.deepEqual(events.slice(-2), ['disconnected', 'disconnect: replaced']);
  assert.equal(tokens, asked + 2);
  await assert.rejects(connectUdp({ ...options, token: await token() }), {
    code: 'INVALID_ARGUMENT',
    message: /^reconnect: /,
  });
});

test('a loop over the messages of a client ends with it', async (t) => {
  const server = await startServer(t);
  const { bot, client } = await startBot(t, server);
  for (const text of ['a', 'b', 'c']) bot.send(0, 'say', { text });
  const texts = [];
  for await (const { value } of client) {
    texts.push(value.text);
    if (value.text === 'c') bot.disconnect();
  }
  assert.deepEqual(texts, ['a', 'b', 'c']);
  assert.equal(await client.closed, 'client');
  assert.equal(client.state, 'disconnected');
  assert.equal(server.clients.size, 0);
  assert.match(client.address, /^127\.0\.0\.1:\d+$/);
  assert.throws(() => client.send(...said('')), { name: 'ConnectionError', code: 'CLOSED' });
  assert.throws(() => client.stats(), { name: 'ConnectionError', code: 'CLOSED' });
  client.kick('it does nothing');
});

test('what a client has sent before it left can still be taken', async (t) => {
  const server = await startServer(t);
  const { bot, client } = await startBot(t, server);
  for (const text of ['a', 'b', 'c']) assert.equal(await bot.track(0, 'say', { text }), 'acked');
  const tracked = client.track(...said('too late'));
  bot.disconnect();
  await client.closed;
  assert.equal(await tracked, 'lost');
  const texts = [];
  for await (const { value } of client) texts.push(value.text);
  assert.deepEqual(texts, ['a', 'b', 'c']);
});

test('a client is kicked with a code and a text, after the last words', async (t) => {
  const server = await startServer(t);
  const { bot, client } = await startBot(t, server);
  const words = received(bot);
  const ended = nextEvent(client, 'disconnect');
  for (const code of [-1, 0.5, 2 ** 32, '7'])
    assert.throws(() => client.kick('', { code }), { name: 'RangeError', message: /^code: / });
  assert.throws(() => client.kick('', { flushSeconds: NaN }), { name: 'RangeError' });
  assert.equal(client.state, 'connected');
  client.send(...said('the last words'));
  client.kick('no cheating', { code: 7, flushSeconds: 20 });
  assert.throws(() => client.send(...said('')), { name: 'ConnectionError', code: 'CLOSED' });
  const { reason, code, text } = await bot.closed;
  assert.deepEqual([reason, code, text], ['kicked', 7, 'no cheating']);
  assert.deepEqual(words, [{ player: 0, text: 'the last words' }]);
  assert.equal((await ended).reason, 'kicked');
});

test('a client may be kicked when it connects', async (t) => {
  const server = await startServer(t);
  server.addEventListener('connect', ({ client }) => client.kick('not you', { code: 3 }));
  const { bot } = await startBot(t, server);
  const { reason, code, text } = await bot.closed;
  assert.deepEqual([reason, code, text], ['kicked', 3, 'not you']);
  assert.equal(server.clients.size, 0);
});

test('broadcasts go to all, to some, or to all others', async (t) => {
  const server = await startServer(t);
  const words = [];
  for (const clientId of [1n, 2n, 3n])
    words.push(received((await startBot(t, server, { clientId })).bot));
  const [first, second] = server.clients;
  assert.deepEqual(server.broadcast(...said('to all')), []);
  assert.deepEqual(first.broadcast(...said('to the others')), []);
  assert.deepEqual(server.broadcastTo([second], ...said('to one')), []);
  server.broadcast(...said('the end'));
  const texts = () => words.map((values) => values.map(({ text }) => text));
  await until('the last texts', () => texts().every((of) => of.includes('the end')));
  assert.deepEqual(texts(), [
    ['to all', 'the end'],
    ['to all', 'to the others', 'to one', 'the end'],
    ['to all', 'to the others', 'the end'],
  ]);
});

test('clients are told that the server stops, and nothing works afterwards', async (t) => {
  const server = await startServer(t, { port: await freePort('udp') });
  const { bot, client } = await startBot(t, server);
  await Promise.all([server.close(), server.close()]);
  assert.equal(await client.closed, 'stopping');
  assert.equal((await bot.closed).reason, 'stopping');
  assert.throws(() => server.stats(), { name: 'ConnectionError', code: 'CLOSED' });
  assert.throws(() => server.broadcast(...said('')), { name: 'ConnectionError', code: 'CLOSED' });
  // The port is free again, so another server can have it.
  await startServer(t, { port: server.port });
});

test('a server may be closed by what it tells', async (t) => {
  const server = await startServer(t);
  const { bot, client } = await startBot(t, server);
  client.addEventListener('message', () => void server.close());
  bot.send(0, 'say', { text: 'stop' });
  bot.send(0, 'say', { text: 'please' });
  assert.equal((await bot.closed).reason, 'stopping');
  const other = await startServer(t);
  other.addEventListener('tick', () => void other.close());
  await until('the event', () => {
    try {
      return !other.stats();
    } catch {
      return true;
    }
  });
});

test('whoever hears of an end may send to all that are left', async (t) => {
  const server = await startServer(t);
  const bots = [];
  for (const clientId of [1n, 2n, 3n]) {
    const { bot, client } = await startBot(t, server, { clientId });
    bots.push(bot);
    client.addEventListener('disconnect', ({ reason }) => {
      server.broadcast(...said(reason));
      for (const other of server.clients) other.send(...said(reason));
      if (reason === 'stopping') void server.close();
    });
  }
  const words = received(bots[2]);
  const [first] = server.clients;
  first.kick('', { flushSeconds: 5 });
  assert.equal(server.clients.size, 2);
  await until('two words', () => words.length === 2);
  assert.deepEqual(words[1], { player: 0, text: 'kicked' });
  await server.close();
  for (const bot of bots) assert.match((await bot.closed).reason, /^(kicked|stopping)$/);
});

test('it runs at its rate, and the game in its ticks', async (t) => {
  const server = await startServer(t, { ticksPerSecond: 200 });
  const ticks = [];
  server.addEventListener('tick', ({ tick }) => ticks.push(tick));
  const start = performance.now();
  await until('40 ticks', () => ticks.length >= 40);
  assert.ok(performance.now() - start > 180, 'the ticks come too fast');
  assert.deepEqual(
    ticks,
    ticks.map((_, i) => i),
  );
});

test('clients come over IPv6', async (t) => {
  const server = await startServer(t, { host: '::1' });
  assert.equal(server.address, `[::1]:${server.port}`);
  const { bot, client } = await startBot(t, server);
  assert.match(client.address, /^\[::1\]:\d+$/);
  assert.equal(await bot.track(0, 'say', { text: 'hello' }), 'acked');
});

test('a server at every address takes IPv4 and IPv6', async (t) => {
  for (const address of ['127.0.0.1', '::1']) {
    const server = await startServer(t, { host: '::', addresses: [address] });
    const { bot, client } = await startBot(t, server);
    assert.ok(client.address.startsWith(address === '::1' ? '[::1]:' : '127.0.0.1:'));
    assert.equal(await bot.track(0, 'say', { text: 'hello' }), 'acked');
  }
});

test('a bot goes to the next server of its token when one is full', async (t) => {
  const privateKey = generateKey();
  const both = { privateKey, maxTokenLifeSeconds: 0, maxClients: 1 };
  const [full, other] = [await startServer(t, both), await startServer(t, both)];
  await startBot(t, full, { clientId: 1n });
  const token = await generateConnectToken({
    protocolId: PROTOCOL_ID,
    privateKey,
    clientId: 2n,
    servers: [full.address, other.address],
  });
  assert.equal((await startBot(t, other, { token })).client.id, 2n);
  assert.equal(full.stats().deniedSent, 1);
});

test('an insecure server takes whom it is told of', async (t) => {
  const server = await startServer(t, { insecure: true });
  const servers = [server.address];
  const token = () => generateInsecureToken({ protocolId: PROTOCOL_ID, clientId: 5n, servers });
  assert.equal((await startBot(t, server, { token })).client.id, 5n);
  assert.equal((await startBot(t, server, { clientId: 6n })).client.id, 6n);
});

const refusals = {
  'no schema': [{ schema: undefined }, { code: 'INVALID_ARGUMENT', message: /need a schema/ }],
  'a schema that is none': [{ schema: {} }, { name: 'TypeError', message: /^schema: / }],
  'a host that is a name': [{ host: 'localhost' }, { message: /host: 'localhost' is no IP/ }],
  'a port that is none': [{ port: 65536 }, { name: 'RangeError', message: /^port: 65536/ }],
  'every address': [
    { host: '0.0.0.0' },
    { code: 'CONFIG', field: 'addresses', message: /^addresses: / },
  ],
  'an address that is a name': [
    { addresses: ['127.0.0.1:1', 'localhost:2'] },
    { code: 'ADDRESS', message: /addresses\[1\]: 'localhost:2'/ },
  ],
  'no protocol id': [{ protocolId: undefined }, { name: 'TypeError', message: /^protocolId: / }],
  'a short key': [{ privateKey: 'ab' }, { name: 'RangeError', message: /^privateKey: / }],
  'a key of zeros': [{ privateKey: new Uint8Array(32) }, { code: 'KEY' }],
  'no slots': [
    { maxClients: 0 },
    { code: 'CONFIG', field: 'maxClients', message: 'maxClients must be from 1 to 1024' },
  ],
  'too many slots': [{ maxClients: 1025 }, { code: 'CONFIG', field: 'maxClients' }],
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
  const { port } = await startServer(t);
  await assert.rejects(startServer(t, { port }), { code: 'EADDRINUSE' });
});
