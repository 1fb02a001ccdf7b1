import assert from 'node:assert/strict';
import os from 'node:os';
import test from 'node:test';
import { pattern } from '../support/pattern.mjs';
import { assertStats, oneProcess, startRelay, statsUntil } from '../support/relay.mjs';
import { startPlayed, startServed } from '../support/served.mjs';
import { startUdpServer } from '../support/udp_server.mjs';
import { connect } from '../support/websocket.mjs';

// A burst waits for its turn in the relay, where a busy machine may keep it for longer than datagrams usually live.
const patient = ['--queue-age', '60'];

const hasIPv6 = Object.values(os.networkInterfaces())
  .flat()
  .some((each) => each.family === 'IPv6');

test('datagrams of every kind of size come back unchanged, one per message', async (t) => {
  const { server, client } = await startPlayed(t);
  const sizes = [1, 2, 64, 125, 126, 127, 255, 256, 512, 1099, 1100, 1200, 1399, 1400];
  for (const size of sizes) {
    client.send(pattern(size, size));
    await client.received(client.messages.length + 1);
  }
  assert.deepEqual(
    server.received.map(({ data }) => data.length),
    sizes,
  );
  for (const [i, size] of sizes.entries()) {
    assert.deepEqual(server.received[i].data, pattern(size, size));
    assert.deepEqual(client.messages[i].data, pattern(size, size));
    assert.equal(client.messages[i].binary, true);
  }
});

test(
  'a burst keeps its order and its contents, and goes out in few writes',
  { skip: oneProcess },
  async (t) => {
    const { server, relay, client } = await startPlayed(t, {
      args: patient,
      // The server sends the whole burst at once, so that it is there when the relay reads.
      answer: (data, from) => {
        if (data.toString() !== 'burst') return data;
        for (let i = 0; i < 60; i++) server.send(pattern(64, i), from);
        return null;
      },
    });
    client.send(pattern(100, 0)); // more may come at once when the server has answered
    await client.received(1);
    for (let i = 1; i < 200; i++) client.send(pattern(100, i));
    await client.received(200);
    for (let i = 0; i < 200; i++) assert.deepEqual(client.messages[i].data, pattern(100, i));

    const before = await relay.stats();
    // The relay is stopped while the burst arrives: then it finds all of it in its socket.
    relay.kill('SIGSTOP');
    const [address] = server.addresses.values();
    for (let i = 0; i < 60; i++) server.send(pattern(64, i), address);
    await new Promise((resolve) => setTimeout(resolve, 200));
    relay.kill('SIGCONT');
    await client.received(260);
    for (let i = 0; i < 60; i++) assert.deepEqual(client.messages[200 + i].data, pattern(64, i));
    const after = await relay.stats();
    assert.equal(after.delivered_datagrams - before.delivered_datagrams, 60);
    assert.ok(
      after.delivered_writes - before.delivered_writes <= 2,
      'sixty datagrams that are due together',
    );
  },
);

const COALESCE_MS = 20;

test('--coalesce-us serves together what comes within that time', async (t) => {
  const { server, relay, client } = await startPlayed(t, {
    args: [...patient, '--coalesce-us', String(1000 * COALESCE_MS)],
  });
  await client.echo(pattern(64));
  const [from] = server.addresses.values();
  // Two writes at most are sure to be sent within that time, also on a machine that stalls: the first after a pause
  // goes out at once.
  let [begun, most] = [-Infinity, 1];
  for (let i = 0; i < 40; i++) {
    const before = performance.now();
    await new Promise((resolve) => server.send(pattern(64, i), from, resolve));
    if (performance.now() - begun > COALESCE_MS) [begun, most] = [before, most + 2];
    await new Promise((resolve) => setTimeout(resolve, 2));
  }
  await client.received(41);
  for (let i = 0; i < 40; i++) assert.deepEqual(client.messages[1 + i].data, pattern(64, i));
  const { delivered_writes } = await relay.stats();
  assert.ok(delivered_writes <= most, `${delivered_writes} writes, not at most ${most}`);
});

test('each session has a socket of its own, and nobody sees the datagrams of another', async (t) => {
  const { server, relay } = await startServed(t);
  const clients = await Promise.all(Array.from({ length: 20 }, () => connect(t, relay)));
  await Promise.all(
    clients.map(async (client, i) => {
      for (let n = 0; n < 10; n++) {
        client.send(Buffer.from(`client ${i} message ${n}`));
        await client.received(n + 1);
      }
    }),
  );
  for (const [i, client] of clients.entries()) {
    assert.deepEqual(
      client.messages.map(({ data }) => data.toString()),
      Array.from({ length: 10 }, (_, n) => `client ${i} message ${n}`),
    );
  }
  assert.equal(server.addresses.size, 20);
  // A datagram to one address reaches one client.
  const one = server.received.find(({ data }) => data.toString().startsWith('client 7 ')).port;
  server.send(Buffer.from('only seven'), server.addresses.get(one));
  await clients[7].received(11);
  for (const client of clients) client.send(Buffer.from('end'));
  await Promise.all(clients.map((client, i) => client.received(i === 7 ? 12 : 11)));
  assert.equal(
    clients.filter((client) => client.messages.some(({ data }) => data.toString() === 'only seven'))
      .length,
    1,
  );
});

test('a message in fragments is one datagram', async (t) => {
  const { relay } = await startServed(t);
  const client = await connect(t, relay, { perMessageDeflate: false });
  const whole = pattern(1400, 3);
  client.socket.send(whole.subarray(0, 500), { fin: false });
  client.socket.send(whole.subarray(500, 500), { fin: false });
  client.socket.send(whole.subarray(500, 900), { fin: false });
  client.socket.send(whole.subarray(900), { fin: true });
  client.send(pattern(10, 4));
  await client.received(2);
  assert.deepEqual(client.messages[0].data, whole);
  assert.deepEqual(client.messages[1].data, pattern(10, 4));
});

test('the subprotocol is agreed on, compression is not', async (t) => {
  const { relay } = await startServed(t);
  const client = await connect(t, relay, { protocols: ['other.v9', 'causeway.v1'] });
  assert.equal(client.socket.protocol, 'causeway.v1');
  assert.equal(client.socket.extensions, '');
  for (const protocols of [[], ['causeway.v2'], ['other']]) {
    await assert.rejects(connect(t, relay, { protocols }), { status: 400 });
  }
});

test('a datagram too long for a browser is dropped and counted', async (t) => {
  const { server, relay, client } = await startPlayed(t);
  await client.echo('hello');
  const [address] = server.addresses.values();
  server.send(pattern(1401), address);
  server.send(pattern(1400), address);
  await client.received(2);
  assert.equal(client.messages[1].data.length, 1400);
  assert.equal((await relay.stats()).dropped_oversize, 1);
});

test("Emscripten's port message is not for the game server", async (t) => {
  const { server, relay, client } = await startPlayed(t);
  const port = Buffer.from('\xff\xff\xff\xffport\xc0\x01', 'latin1');
  const almost = [port.subarray(0, 9), Buffer.concat([port, port])];
  for (const data of [port, ...almost, port]) client.send(data);
  await statsUntil(relay, ({ client_datagrams }) => client_datagrams === 4);
  await client.received(2);
  assert.deepEqual(
    server.received.map(({ data }) => data),
    almost,
  );
  assert.equal((await relay.stats()).dropped_protocol, 2);
});

test('the counters add up', async (t) => {
  const { relay, client } = await startPlayed(t, { args: patient });
  await client.echo(pattern(40, 0));
  for (let i = 1; i < 50; i++) client.send(pattern(40, i));
  await client.received(50);
  const open = await relay.stats();
  assertStats(open, {
    sessions_open: 1,
    client_datagrams: 50,
    client_bytes: 2000,
    upstream_datagrams: 50,
    upstream_bytes: 2000,
    delivered_datagrams: 50,
  });
  client.close(1000);
  const { code } = await client.closed();
  assert.equal(code, 1000);
  const closed = await statsUntil(relay, (stats) => stats.sessions_open === 0);
  assertStats(closed, { sessions_opened: 1, sessions_ended_client: 1 });
});

test(
  'IPv6 on both sides, and IPv4 through the same socket',
  { skip: !hasIPv6 && 'no IPv6 here' },
  async (t) => {
    const server = await startUdpServer(t, { host: '::1' });
    const relay = await startRelay(t, { listen: '[::]:0', upstream: server.upstream });
    assert.equal(relay.host, '[::]');
    for (const host of ['[::1]', '127.0.0.1']) {
      const client = await connect(t, relay, { host });
      await client.echo(pattern(77));
      assert.deepEqual(client.messages[0].data, pattern(77));
    }
    assert.equal([...server.addresses.values()][0].family, 'IPv6');
  },
);
