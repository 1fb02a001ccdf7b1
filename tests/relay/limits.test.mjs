import assert from 'node:assert/strict';
import net from 'node:net';
import test from 'node:test';
import { patiently } from '../support/patience.mjs';
import { pattern } from '../support/pattern.mjs';
import { assertAddsUp, oneProcess, statsUntil } from '../support/relay.mjs';
import { startServed } from '../support/served.mjs';
import { connect } from '../support/websocket.mjs';
import { own, repeat } from '../support/fixture.mjs';

/** Makes a connection that has sent so much, and counts as open until the relay closes it. */
async function visit(t, relay, localAddress, text = '') {
  const socket = net.connect({ port: relay.port, host: '127.0.0.1', localAddress });
  const connection = { socket, open: true, reply: '' };
  connection.closed = new Promise((resolve) => socket.once('close', resolve));
  void connection.closed.then(() => (connection.open = false));
  socket.on('error', () => {});
  socket.on('data', (data) => (connection.reply += data));
  own(t, () => socket.destroy());
  await patiently(new Promise((resolve) => socket.once('connect', resolve)), 'a connection');
  socket.write(text);
  return connection;
}

const offences = {
  text: { send: (client) => client.send('text'), code: 1003, counter: 'sessions_ended_text' },
  '65,536 bytes': {
    send: (client) => client.send(pattern(65536)),
    code: 1009,
    counter: 'sessions_ended_oversize',
  },
  'a megabyte': {
    send: (client) => client.send(pattern(1 << 20)),
    code: 1009,
    counter: 'sessions_ended_oversize',
  },
  'too much in fragments': {
    send: (client) => {
      for (let i = 0; i < 3; i++) client.socket.send(pattern(30_000), { fin: i === 2 });
    },
    code: 1009,
    counter: 'sessions_ended_oversize',
  },
};
for (const [name, { send, code, counter }] of Object.entries(offences)) {
  test(`${name} closes the session with ${code}, is counted and not forwarded`, async (t) => {
    const { server, relay } = await startServed(t);
    const client = await connect(t, relay, { perMessageDeflate: false });
    const other = await connect(t, relay);
    await client.echo('before');
    send(client);
    assert.equal((await client.closed()).code, code);
    const stats = await statsUntil(relay, ({ sessions_open }) => sessions_open === 1);
    assert.equal(stats[counter], 1);
    await other.echo('after');
    assert.deepEqual(
      server.received.map(({ data }) => data.toString()),
      ['before', 'after'],
    );
  });
}

const misfits = {
  'an empty message': { send: (client) => client.send(Buffer.alloc(0)), size: 0, kind: 'empty' },
  'an empty message in fragments': {
    send: (client) => {
      for (let i = 0; i < 3; i++) client.socket.send(Buffer.alloc(0), { fin: i === 2 });
    },
    size: 0,
    kind: 'empty',
  },
  '1401 bytes': { send: (client) => client.send(pattern(1401)), size: 1401 },
  '65,535 bytes': { send: (client) => client.send(pattern(65535)), size: 65535 },
  'too much in fragments': {
    send: (client) => {
      for (let i = 0; i < 3; i++) client.socket.send(pattern(500), { fin: i === 2 });
    },
    size: 1500,
  },
};
for (const [name, { send, size, kind = 'oversize' }] of Object.entries(misfits)) {
  test(`${name}: dropped and counted, and the session goes on`, async (t) => {
    const { server, relay } = await startServed(t);
    const client = await connect(t, relay, { perMessageDeflate: false });
    await client.echo('before');
    send(client);
    await client.echo(pattern(1400));
    const stats = await relay.stats();
    assert.equal(stats[`dropped_from_browser_${kind}`], 1);
    assert.equal(stats.client_bytes, 'before'.length + size + 1400);
    assertAddsUp(stats);
    assert.deepEqual(
      server.received.map(({ data }) => data),
      [Buffer.from('before'), pattern(1400)],
    );
  });
}

test(
  '--max-sessions: one more is told to try later, and is let in when there is room',
  { skip: oneProcess },
  async (t) => {
    const { server, relay } = await startServed(t, { args: ['--max-sessions', '2'] });
    const first = await connect(t, relay);
    // Only sessions that the game server has answered keep their places.
    for (const client of [first, await connect(t, relay)]) await client.echo('hello');
    const third = await connect(t, relay);
    third.send(Buffer.from('let me in'));
    assert.equal((await third.closed()).code, 1013);
    first.close(1000);
    await first.closed();
    await statsUntil(relay, ({ sessions_open }) => sessions_open === 1);
    const fourth = await connect(t, relay);
    await fourth.echo('hello');
    const stats = await relay.stats();
    assert.equal(stats.sessions_refused_full, 1);
    assert.deepEqual(
      server.received.map(({ data }) => data.toString()),
      ['hello', 'hello', 'hello'],
    );
  },
);

test(
  '--max-sessions-per-address counts each address on its own',
  { skip: oneProcess },
  async (t) => {
    const { relay } = await startServed(t, { args: ['--max-sessions-per-address', '2'] });
    const first = await connect(t, relay, { localAddress: '127.0.0.2' });
    await connect(t, relay, { localAddress: '127.0.0.2' });
    const third = await connect(t, relay, { localAddress: '127.0.0.2' });
    assert.equal((await third.closed()).code, 1013);
    const other = await connect(t, relay, { localAddress: '127.0.0.3' });
    await other.echo('hello');
    first.close(1000);
    await statsUntil(relay, ({ sessions_open }) => sessions_open === 2);
    const again = await connect(t, relay, { localAddress: '127.0.0.2' });
    await again.echo('hello');
    assert.equal((await relay.stats()).sessions_refused_address, 1);
  },
);

test(
  'connections that are no sessions are limited by address too',
  { skip: oneProcess },
  async (t) => {
    const { relay } = await startServed(t, { args: ['--max-sessions-per-address', '2'] });
    // Connections that have become sessions do not count.
    for (let i = 0; i < 2; i++) await connect(t, relay, { localAddress: '127.0.0.2' });
    const silent = [];
    for (let i = 0; i < 12; i++) silent.push(await visit(t, relay, '127.0.0.2'));
    const refused = await visit(t, relay, '127.0.0.2');
    await patiently(refused.closed, 'the close of one too many');
    assert.equal((await relay.stats()).connections_refused, 1);
    const other = await connect(t, relay, { localAddress: '127.0.0.3' });
    await other.echo('hello');
    assert.ok(silent.every(({ open }) => open));
    // A connection that goes makes room.
    silent[0].socket.destroy();
    const request = 'GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n';
    const take = async () => {
      const connection = await visit(t, relay, '127.0.0.2', request);
      await connection.closed;
      return connection.reply.startsWith('HTTP/1.1 404') || take();
    };
    await patiently(take(), 'room for another');
  },
);

test('many who send half a request keep nobody waiting', async (t) => {
  const { relay } = await startServed(t);
  const half = [];
  for (let i = 0; i < 400; i++) half.push(await visit(t, relay, '127.0.0.2', 'GET / HTTP/1.1\r\n'));
  const client = await connect(t, relay);
  await client.echo('hello');
  assert.ok(half.every(({ open }) => open));
});

test('a body that comes drop by drop is not waited for', async (t) => {
  const { relay } = await startServed(t, { args: ['--rtc', '127.0.0.1:0'] });
  const head = 'POST /rtc HTTP/1.1\r\nHost: a\r\nContent-Length: 5000\r\n\r\n';
  const slow = await visit(t, relay, '127.0.0.2', head);
  repeat(t, () => slow.socket.write('v'), 500);
  await patiently(slow.closed, 'the end of patience');
});

test('by default only pages of the same host may connect', async (t) => {
  const { relay } = await startServed(t);
  for (const origin of [`http://127.0.0.1:${relay.port}`, `https://127.0.0.1:${relay.port}`]) {
    const client = await connect(t, relay, { origin });
    client.close(1000);
    await client.closed();
  }
  const refused = [
    'http://evil.example',
    'http://127.0.0.1',
    `http://127.0.0.1:${relay.port}0`,
    'null',
    `http://127.0.0.1:${relay.port}.evil.example`,
  ];
  for (const origin of refused) await assertForeign(t, relay, origin);
  await relay.logged(/a page of http:\/\/evil\.example refused: --origin/);
  const client = await connect(t, relay);
  client.close(1000);
  assert.equal((await relay.stats()).sessions_refused_origin, refused.length);
});

/** Checks that the page is told why, which it could not be if the upgrade were refused, and gets nothing else. */
async function assertForeign(t, relay, origin) {
  const before = await relay.stats();
  const client = await connect(t, relay, { origin });
  client.send(Buffer.from('hello'));
  assert.deepEqual(await client.closed(), {
    code: 4004,
    reason: 'this origin is not allowed (--origin)',
  });
  const { sessions_opened, forwarded_datagrams } = await relay.stats();
  assert.equal(sessions_opened, before.sessions_opened);
  assert.equal(forwarded_datagrams, before.forwarded_datagrams);
}

test('--origin replaces the default by a list', async (t) => {
  const { relay } = await startServed(t, {
    args: ['--origin', 'https://game.example', '--origin', 'http://localhost:5173'],
  });
  for (const origin of ['https://game.example', 'https://GAME.example', 'http://localhost:5173'])
    (await connect(t, relay, { origin })).close(1000);
  for (const origin of [
    `http://127.0.0.1:${relay.port}`,
    'http://game.example',
    'https://game.example.evil.example',
    'null',
  ])
    await assertForeign(t, relay, origin);
});

test("--origin '*' allows every page", async (t) => {
  const { relay } = await startServed(t, { args: ['--origin', '*'] });
  const client = await connect(t, relay, { origin: 'https://anywhere.example' });
  await client.echo('hello');
});
