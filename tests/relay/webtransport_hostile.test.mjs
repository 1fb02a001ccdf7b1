// Clients of WebTransport that are none: the relay goes on, and a session that was open does too.
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { createSocket } from 'node:dgram';
import { afterEach, describe, test } from 'node:test';
import { own, share } from '../support/fixture.mjs';
import { until } from '../support/patience.mjs';
import { startRelay, statsUntil } from '../support/relay.mjs';
import { startUdpServer } from '../support/udp_server.mjs';
import { askRelay, open, startClient, whole } from '../support/webtransport.mjs';

const shared = share(async (t) => {
  const udp = await startUdpServer(t);
  const relay = await startRelay(t, {
    upstream: udp.upstream,
    args: ['--rtc', '127.0.0.1:0', '--webtransport', '--max-sessions-per-address', '0'],
  });
  return { relay, player: await open(t, relay), upstream: udp.upstream };
});

/** Checks that the player's session still works. */
async function play() {
  const { player } = shared();
  const sent = randomBytes(40);
  player.datagram(whole(sent));
  assert.deepEqual(await player.receive(), sent);
}
afterEach(play);

/** A socket of a stranger, who counts the bytes that come back. */
async function stranger(t) {
  const socket = createSocket('udp4');
  own(t, () => socket.close());
  await new Promise((resolve) => socket.bind(0, '127.0.0.1', resolve));
  const got = { datagrams: [], bytes: 0 };
  socket.on('message', (data) => {
    got.datagrams.push(data);
    got.bytes += data.length;
  });
  const { rtcPort } = shared().relay;
  const send = (data) =>
    new Promise((resolve) => socket.send(data, rtcPort, '127.0.0.1', () => resolve()));
  return { got, send };
}

/** The first packet of a handshake. */
const initial = async (t) => {
  const client = startClient(t, shared().relay.rtcPort, 'initial');
  return Buffer.from(await client.expect('datagram'), 'hex');
};

describe('packets of strangers', () => {
  test('20,000 of junk, with the first bytes of QUIC', async (t) => {
    const { relay } = shared();
    const before = (await relay.stats()).webtransport_packets_ignored;
    const { send } = await stranger(t);
    for (let i = 0; i < 20_000; i++) {
      const junk = randomBytes(1 + (i % 1300));
      junk[0] |= 64;
      await send(junk);
      if (i % 100 === 0) await play();
    }
    await statsUntil(relay, (stats) => stats.webtransport_packets_ignored > before + 10_000);
  });

  test('packets that look like the first, and are none, draw nothing', async (t) => {
    const { send, got } = await stranger(t);
    const packet = await initial(t);
    for (let i = 0; i < 300; i++) {
      const spoilt = Buffer.from(packet);
      spoilt[1 + ((i * 37) % (packet.length - 1))] ^= 1 + (i % 255);
      await send(spoilt);
      await send(spoilt.subarray(0, 1 + ((i * 101) % 1199)));
    }
    await play();
    assert.ok(got.bytes <= 3 * 300 * 1200);
  });

  test('a first packet draws at most three times its bytes, until it is forgotten', async (t) => {
    const { relay } = shared();
    const { send, got } = await stranger(t);
    const before = (await relay.stats()).webtransport_handshakes_ended;
    const packet = await initial(t);
    await send(packet);
    await statsUntil(relay, (stats) => stats.webtransport_handshakes_ended > before);
    assert.ok(got.bytes > 0);
    assert.ok(got.bytes <= 3 * packet.length, `${got.bytes} bytes for ${packet.length}`);
  });

  test('many first packets: strangers must prove their addresses, and a player gets in', async (t) => {
    const { relay } = shared();
    const { send, got } = await stranger(t);
    // They are made before, which may take longer than the relay remembers one; the player is not to be idle so long.
    const packets = [];
    while (packets.length < 150) {
      packets.push(await initial(t));
      if (packets.length % 10 === 0) await play();
    }
    for (const packet of packets) await send(packet);
    const isRetry = ([first]) => (first & 0xf0) === 0xf0;
    await statsUntil(relay, () => got.datagrams.some(isRetry));
    const client = await open(t, relay);
    client.datagram(whole('in'));
    assert.equal((await client.receive()).toString(), 'in');
  });

  test('a packet of an unknown connection is answered by a shorter one', async (t) => {
    const { send, got } = await stranger(t);
    const packet = randomBytes(60);
    packet[0] = 0x40;
    await send(packet);
    await statsUntil(shared().relay, () => got.bytes > 0);
    assert.ok(got.bytes < packet.length);
  });
});

test('a session that floods is policed, and the player loses nothing', async (t) => {
  const limited = await startRelay(t, {
    upstream: shared().upstream,
    args: ['--rtc', '127.0.0.1:0', '--webtransport', '--upstream-packets', '60'],
  });
  const [flooder, player] = [await open(t, limited), await open(t, limited)];
  await until('a policed packet', async () => {
    for (let i = 0; i < 500; i++) flooder.datagram(whole([1]));
    player.datagram(whole('hello'));
    assert.equal((await player.receive()).toString(), 'hello');
    return (await limited.stats()).webtransport_packets_policed > 0;
  });
});

/** A frame that gives another connection id with this number. */
const newId = (number, retire) =>
  Buffer.concat([Buffer.of(0x18, number, retire, 8), Buffer.alloc(8 + 16, number)]);

// Frames in a packet of an open session, and the error of QUIC with which the relay ends it; without one, the session
// goes on, or nothing more is heard of it.
const frames = [
  [
    'the same connection id twice, retired before',
    Buffer.concat([newId(5, 5), newId(3, 0), newId(3, 0)]),
    'gone',
  ],
  ['an unknown frame', Buffer.of(0x40, 0x99), 'closed 7'],
  [
    'an acknowledgement of what was never sent',
    Buffer.of(0x02, 0x80, 0xff, 0xff, 0xff, 0, 0, 0),
    'closed a',
  ],
  ['a stream of ours', Buffer.of(0x08, 0x03, 0x01), 'closed 5'],
  ['more streams than are allowed', Buffer.of(0x08, 0x44, 0x00, 0x01), 'closed 4'],
  ['a connection id retired that is none', Buffer.of(0x19, 0x3f), 'closed a'],
  [
    'a stream that goes on behind its end',
    Buffer.of(0x0f, 0x04, 0x10, 0x01, 1, 0x0f, 0x04, 0, 0x01, 1),
    'closed 6',
  ],
  ['an empty datagram', Buffer.of(0x31, 0x00), 'datagram'],
  ['a datagram of another session', Buffer.of(0x31, 0x03, 0x05, 0x00, 0x01), 'datagram'],
  ['the close of the connection', Buffer.of(0x1d, 0x41, 0x00, 0x00), 'gone'],
];

describe('frames of a client', () => {
  for (const [name, bytes, outcome] of frames)
    test(name, async (t) => {
      const client = await open(t, shared().relay);
      client.say(`frames ${bytes.toString('hex')}`);
      client.say(`frames ${bytes.toString('hex')}`);
      client.datagram(whole('x'));
      if (outcome === 'gone') return;
      const line = await client.next();
      assert.ok(`${line.name} ${line.value}`.startsWith(outcome), `${line.name} ${line.value}`);
    });
});

// Bytes that come on the stream of a session that is open.
const streams = {
  'an unknown frame, then another head': '2105aabbccddee 0102 0000',
  'a frame without an end': '00ffffffffffffffff 6843',
  'a capsule without an end': '0009 6843ffffffffffffff',
  'a close of less than a code': '0005 684302 0001',
  'a close, and more': '00076843040000 03e8 0007684304000003e8',
  'random bytes': randomBytes(600).toString('hex'),
};

describe('bytes on the stream of a session', () => {
  for (const [name, hex] of Object.entries(streams))
    for (const how of ['end', 'reset'])
      test(`${name}, and ${how}`, async (t) => {
        const client = await open(t, shared().relay);
        client.say(`stream ${hex.replaceAll(' ', '')}`);
        client.say(how);
        // The relay ends the connection, and holds nothing of it until it would be idle.
        let line;
        do line = await client.next();
        while (line.name !== 'closed' && line.name !== 'gone');
      });
});

test('a path with all that a query can have', async (t) => {
  const { path } = await askRelay(shared().relay);
  for (const query of [
    '&session=%',
    '&server=%00',
    `&x=${'a'.repeat(300)}`,
    `&x=${'a'.repeat(2000)}`,
  ]) {
    const client = startClient(t, shared().relay.rtcPort, path + query);
    await client.expect('settings');
    await client.expect('stream');
  }
});
