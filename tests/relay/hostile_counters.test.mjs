// Every datagram that came to the relay is in exactly one counter, whatever became of it.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import dgram from 'node:dgram';
import { test } from 'node:test';
import { packet, PAYLOAD, request } from './packets.mjs';
import { sleep, until } from '../support/patience.mjs';
import { pattern } from '../support/pattern.mjs';
import { assertStats, assertAddsUp, statsUntil } from '../support/relay.mjs';
import { startPlayed, startServed } from '../support/served.mjs';
import { connect } from '../support/websocket.mjs';
import { own } from '../support/fixture.mjs';
import { openRawWebSocket } from '../support/tcp.mjs';

const SIZE = 100;
const FRAME_TO_BROWSER = 2 + SIZE;

/** Stops the relay during the work: datagrams that arrive meanwhile wait in its sockets. */
async function whileStopped(relay, work) {
  relay.kill('SIGSTOP');
  try {
    await work();
    await sleep(200);
  } finally {
    relay.kill('SIGCONT');
  }
}

test('a thousand sessions at 20 Hz, half of which vanish', async (t) => {
  const { server, relay } = await startServed(t, {
    // The first sessions say nothing until the last has come, and a ping would count as bytes of a datagram.
    args: [
      ...['--queue-age', '60', '--queue-bytes', '1000000'],
      ...['--request-timeout', '600', '--ping-interval', '0'],
    ],
  });
  const clients = [];
  while (clients.length < 1000) {
    const open = Array.from({ length: 50 }, (_, i) =>
      openRawWebSocket(t, relay, { localAddress: `127.3.0.${1 + (i % 25)}` }),
    );
    clients.push(...(await Promise.all(open)));
  }
  let sent = 0;
  const round = () => {
    for (const client of clients) client.send(pattern(SIZE, sent++));
  };
  for (let i = 0; i < 60; i++) {
    round();
    await sleep(50);
  }
  // All datagrams that came to one side have left on the other, and nothing was lost inside.
  const calm = await statsUntil(relay, (stats) => stats.client_datagrams === sent);
  const arrived = () => clients.reduce((sum, { bytes }) => sum + bytes, 0) / FRAME_TO_BROWSER;
  const { delivered_datagrams } = await statsUntil(
    relay,
    (stats) => stats.delivered_datagrams === arrived() && stats.sessions_open === 1000,
  );
  assertAddsUp(await relay.stats());
  assert.equal(calm.forwarded_datagrams, sent);
  assert.ok(delivered_datagrams > 0);
  t.diagnostic(
    `${sent} sent, ${server.received.length} at the server, ${delivered_datagrams} back`,
  );

  // These clients vanish while datagrams are on their way to them.
  for (const client of clients.splice(0, 500)) {
    client.send(pattern(SIZE));
    client.socket.destroy();
  }
  round();
  assertAddsUp(await statsUntil(relay, ({ sessions_open }) => sessions_open === 500));
  await sleep(500);
  for (const client of clients) client.socket.destroy();
  assertAddsUp(await statsUntil(relay, ({ sessions_open }) => sessions_open === 0));
});

test('datagrams that wait for a session which ends', async (t) => {
  const { server, relay } = await startServed(t);
  const clients = [];
  for (let i = 0; i < 20; i++) {
    clients.push(await connect(t, relay));
    await clients[i].echo(pattern(SIZE));
  }
  await whileStopped(relay, () => {
    clients.forEach(({ socket }) => socket.terminate());
    for (const address of server.addresses.values())
      for (let i = 0; i < 50; i++) server.send(pattern(SIZE), address);
  });
  const stats = await statsUntil(relay, ({ sessions_open }) => sessions_open === 0);
  assert.equal(stats.upstream_datagrams, 20 * (1 + 50));
  assertAddsUp(stats);
});

test('what finds the socket towards the game server full is counted', async (t) => {
  const { server, relay, client } = await startPlayed(t);
  await client.echo(pattern(SIZE));
  const [address] = server.addresses.values();
  for (const most of [5000, 10000]) {
    await whileStopped(relay, async () => {
      for (let i = 0; i < 5000; i++) server.send(pattern(SIZE), address);
      await sleep(500);
    });
    const stats = await statsUntil(
      relay,
      (stats) => stats.upstream_datagrams + stats.upstream_overflow === 1 + most,
    );
    assert.ok(stats.upstream_overflow > 0);
    assertAddsUp(stats);
  }
  // A datagram is counted also when the socket goes before anybody asks.
  await whileStopped(relay, async () => {
    client.socket.terminate();
    for (let i = 0; i < 5000; i++) server.send(pattern(SIZE), address);
    await sleep(500);
  });
  await sleep(200);
  const stats = await statsUntil(relay, ({ sessions_open }) => sessions_open === 0);
  assert.equal(stats.upstream_datagrams + stats.upstream_overflow, 1 + 15000);
  assertAddsUp(stats);
});

test('what finds the WebRTC port full, or is too long for it, is counted', async (t) => {
  const { relay } = await startServed(t, { args: ['--rtc', '127.0.0.1:0'] });
  const port = Number(/webrtc on udp \S+:(\d+)/.exec(relay.log())[1]);
  const socket = dgram.createSocket('udp4');
  own(t, () => socket.close());
  let sent = 0;
  const send = (data) => (sent++, socket.send(data, port, '127.0.0.1'));
  send(pattern(3000));
  send(Buffer.alloc(0));
  await statsUntil(relay, ({ rtc_packets_ignored }) => rtc_packets_ignored === 2);
  await whileStopped(relay, async () => {
    for (let i = 0; i < 20000; i++) {
      send(pattern(1000));
      if (i % 500 === 0) await sleep(1);
    }
  });
  const stats = await statsUntil(
    relay,
    (stats) => stats.rtc_packets_ignored + stats.rtc_packets_overflow === sent,
  );
  assert.ok(stats.rtc_packets_overflow > 0);
});

test('empty and overlong datagrams of the game server', async (t) => {
  const { server, relay, client } = await startPlayed(t);
  await client.echo(pattern(SIZE));
  const [address] = server.addresses.values();
  for (const size of [0, 1401, 1400]) server.send(pattern(size), address);
  await client.received(2);
  const stats = await relay.stats();
  assertStats(stats, { dropped_empty: 1, dropped_oversize: 1 });
  assertAddsUp(stats);
});

test('datagrams of a browser whose session has ended, or never was', async (t) => {
  const { relay } = await startServed(t, { args: ['--max-sessions', '1'] });
  const client = await openRawWebSocket(t, relay);
  client.send(pattern(SIZE));
  await statsUntil(relay, ({ delivered_datagrams }) => delivered_datagrams === 1);
  const refused = await openRawWebSocket(t, relay);
  client.socket.write(Buffer.from([0x81, 0x81, 0, 0, 0, 0, 0x61])); // a frame of text ends it
  for (const { send, socket } of [client, refused]) {
    send(pattern(SIZE));
    // a datagram in two fragments
    socket.write(Buffer.concat([Buffer.of(0x02, 0x81, 0, 0, 0, 0, 1)]));
    socket.write(Buffer.concat([Buffer.of(0x80, 0x81, 0, 0, 0, 0, 1)]));
    // a datagram that would not be forwarded
    send(pattern(1401));
    send(Buffer.alloc(0));
    send(pattern(SIZE));
  }
  const stats = await statsUntil(relay, ({ dropped_ended }) => dropped_ended === 10);
  assertStats(stats, { client_datagrams: 11, client_bytes: SIZE + 2 * (2 * SIZE + 2 + 1401) });
  assertAddsUp(stats);
});

test('what does not pass the gate, comes too fast, or finds no server', async (t) => {
  const { server, relay, client } = await startPlayed(t, { gated: true });
  client.send(packet(PAYLOAD, 20));
  client.send(request());
  await client.received(1);
  // They come faster than the rate also on a slow machine, since the relay finds all of them at once.
  await whileStopped(relay, () => {
    for (let i = 0; i < 1000; i++) client.send(packet(PAYLOAD, 20));
  });
  await server.close();
  for (let i = 0; i < 100; i++) {
    client.send(packet(PAYLOAD, 20));
    await sleep(5);
  }
  const stats = await statsUntil(relay, ({ client_datagrams }) => client_datagrams === 1102);
  assert.equal(stats.dropped_protocol, 1);
  assert.ok(stats.dropped_upstream_rate > 0);
  assert.ok(stats.upstream_refused > 0);
  // Answers may be on their way.
  await until('counters that add up', async () => {
    const last = await relay.stats();
    try {
      assertAddsUp(last);
      return true;
    } catch {
      return false;
    }
  });
});

test('a session for which there is no socket', async (t) => {
  const { relay, client } = await startPlayed(t);
  execFileSync('prlimit', ['--pid', String(relay.pid), '--nofile=3:']);
  client.send(pattern(SIZE));
  assert.equal((await client.closed()).code, 1013);
  const stats = await relay.stats();
  assertStats(stats, { sessions_ended_resources: 1, dropped_upstream: 1 });
  assertAddsUp(stats);
});
