// The relay tells the game server whose datagrams it forwards.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { connectAs, newKey, openRtcAs } from './links.mjs';
import { pattern } from '../support/pattern.mjs';
import { assertStats, assertAddsUp, run, startRelay, statsUntil } from '../support/relay.mjs';
import { startUdpServer } from '../support/udp_server.mjs';
import { connect } from '../support/websocket.mjs';
import { until } from '../support/patience.mjs';

const PLAYER = '127.0.0.7';
const signature = Buffer.from('0d0a0d0a000d0a515549540a', 'hex');
const port = (number) => Buffer.of(number >> 8, number & 0xff);
const v4 = (address) => Buffer.from(address.split('.').map(Number));
const mapped = (address) => Buffer.concat([Buffer.alloc(10), Buffer.of(0xff, 0xff), v4(address)]);
const loopback6 = Buffer.concat([Buffer.alloc(15), Buffer.of(1)]);
const spp = (client, clientPort, proxyPort) =>
  Buffer.concat([
    Buffer.of(0x56, 0xec),
    client,
    mapped('127.0.0.1'),
    port(clientPort),
    port(proxyPort),
  ]);
const ppv2 = (client, clientPort, proxyPort) =>
  Buffer.concat([
    signature,
    Buffer.of(0x21, 0x12, 0, 12),
    v4(client),
    v4('127.0.0.1'),
    port(clientPort),
    port(proxyPort),
  ]);

/** Starts a relay that names the client of each datagram, and a server that the test plays. */
async function begin(t, format, { args = [], ...options } = {}) {
  const server = await startUdpServer(t, { answer: () => null });
  const relay = await startRelay(t, {
    upstream: `${server.upstream},client-address=${format}`,
    args,
    ...options,
  });
  /** Resolves with the next datagram that comes to the server, and the port that it comes from. */
  const next = async () => until('a datagram', () => server.received.shift() ?? null);
  const answer = (to, data) => void server.send(data, server.addresses.get(to));
  return { server, relay, next, answer };
}

const portOf = (client) => client.socket._socket.localPort;

test('the Simple Proxy Protocol is before every datagram, and before answers', async (t) => {
  const { relay, next, answer } = await begin(t, 'spp');
  const client = await connect(t, relay, { localAddress: PLAYER });
  for (const payload of [Buffer.of(1), pattern(1400)]) {
    client.send(payload);
    const { data, port: from } = await next();
    const header = spp(mapped(PLAYER), portOf(client), from);
    assert.deepEqual(data, Buffer.concat([header, payload]));
    const before = client.messages.length;
    answer(from, Buffer.concat([header, payload]));
    answer(from, payload); // the answer of a server that only reads the header
    await client.received(before + 2);
    for (const message of client.messages.slice(before)) assert.deepEqual(message.data, payload);
    // The server answers with nothing behind the header, and with a payload that is too long without it.
    answer(from, header);
    answer(from, Buffer.concat([header, pattern(1401)]));
  }
  const stats = await statsUntil(relay, (now) => now.upstream_datagrams === 8);
  assertStats(stats, { dropped_empty: 2, dropped_oversize: 2 });
  assertAddsUp(stats);
});

test('version 2 is before the first datagrams and whatever looks like a header', async (t) => {
  const { relay, next, answer } = await begin(t, 'ppv2');
  const client = await connect(t, relay, { localAddress: PLAYER });
  const expect = async (payload, hasHeader) => {
    client.send(payload);
    const { data, port: from } = await next();
    const header = hasHeader ? ppv2(PLAYER, portOf(client), from) : Buffer.alloc(0);
    assert.deepEqual(data, Buffer.concat([header, payload]));
    return from;
  };
  await expect(Buffer.from('one'), true);
  const from = await expect(pattern(1400), true);
  answer(from, Buffer.from('hello'));
  await client.received(1);
  await expect(Buffer.from('two'), false);
  // A player claims to be another one.
  await expect(ppv2('192.0.2.1', 1, 2), true);
  await expect(spp(mapped('192.0.2.1'), 1, 2), true);
  // Another game server may have taken the place of the one that answered.
  const request = Buffer.concat([Buffer.of(0), Buffer.from('NETCODE 1.02\0'), Buffer.alloc(1064)]);
  await expect(request, true);
  await expect(Buffer.from('three'), false);
});

test('a browser that comes over IPv6 keeps its address', async (t) => {
  for (const format of ['spp', 'ppv2']) {
    const { relay, next } = await begin(t, format, { listen: '[::1]:0' });
    const client = await connect(t, relay, { host: '[::1]' });
    client.send(Buffer.of(1));
    const { data, port: from } = await next();
    const ports = [port(portOf(client)), port(from)];
    const start =
      format === 'spp' ? [Buffer.of(0x56, 0xec)] : [signature, Buffer.of(0x21, 0x22, 0, 36)];
    const header = Buffer.concat([...start, loopback6, mapped('127.0.0.1'), ...ports]);
    assert.deepEqual(data, Buffer.concat([header, Buffer.of(1)]));
  }
});

test('the player is the one that a trusted proxy names', async (t) => {
  const { relay, next } = await begin(t, 'spp', { args: ['--trusted-proxy', '127.0.0.9'] });
  const headers = { 'X-Forwarded-For': '203.0.113.5' };
  const client = await connect(t, relay, { localAddress: '127.0.0.9', headers });
  client.send(Buffer.of(1));
  const { data } = await next();
  assert.deepEqual(data.subarray(2, 18), mapped('203.0.113.5'));
});

test('a player stays the same one over other links and another process', async (t) => {
  const { relay, next, answer } = await begin(t, 'spp');
  const key = newKey();
  const first = await connectAs(t, relay, key, { localAddress: PLAYER });
  first.send(Buffer.from('first'));
  const { data, port: from } = await next();
  const header = data.subarray(0, 38);
  answer(from, Buffer.from('hello'));
  await first.received(1);

  const expect = async (client, text) => {
    client.send(Buffer.from(text));
    assert.deepEqual((await next()).data, Buffer.concat([header, Buffer.from(text)]));
    answer(from, Buffer.concat([header, Buffer.from(text)]));
    await client.received(1);
    assert.equal(client.messages[0].data.toString(), text);
  };
  await expect(await connectAs(t, relay, key, { localAddress: '127.0.0.8' }), 'another network');
  await relay.upgrade();
  await expect(await connectAs(t, relay, key, { localAddress: PLAYER }), 'another process');
});

test('over WebRTC the player is where the browser sends from', async (t) => {
  const args = ['--rtc', '127.0.0.1:0', '--log-level', 'debug'];
  const { relay, next } = await begin(t, 'spp', { args });
  const link = await openRtcAs(t, relay, newKey());
  const [, address, clientPort] = await relay.logged(/webrtc from (\S+):(\d+)/);
  link.channel.send(Buffer.from('hello'));
  const { data, port: from } = await next();
  const header = spp(mapped(address), Number(clientPort), from);
  assert.deepEqual(data, Buffer.concat([header, Buffer.from('hello')]));
});

test('each game server is told in its own way', async (t) => {
  const withHeader = await startUdpServer(t, { answer: () => null });
  const other = await startUdpServer(t, { answer: () => null });
  const relay = await startRelay(t, {
    upstream: `${withHeader.upstream},client-address=spp`,
    args: ['--upstream', other.upstream],
  });
  for (const server of [withHeader, other]) {
    const protocols = ['causeway.v1', `causeway.server.127.0.0.1_${server.port}`];
    const client = await connect(t, relay, { protocols });
    client.send(Buffer.from('hello'));
    await until('a datagram', () => server.received[0]);
  }
  assert.equal(withHeader.received[0].data.length, 38 + 5);
  assert.equal(other.received[0].data.length, 5);
});

test('a format that there is not is one clear error', async () => {
  const { code, stderr } = await run(['--listen', ':0', '--upstream', 'h:1,client-address=v1']);
  assert.equal(code, 2);
  assert.match(stderr, /--upstream needs .*,client-address=none, spp or ppv2, not 'h:1,/);
});
