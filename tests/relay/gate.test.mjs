// Without --raw the relay lets secure connections pass and nothing else.
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import test from 'node:test';
import {
  DISCONNECT,
  EXPIRES_AT,
  KEEP_ALIVE,
  PAYLOAD,
  PROTOCOL,
  REQUEST_SIZE,
  RESPONSE,
  packet,
  request,
} from './packets.mjs';
import { assertStats, statsUntil } from '../support/relay.mjs';
import { startServed } from '../support/served.mjs';
import { connect } from '../support/websocket.mjs';

const OFFENCES_MAX = 8;

async function begin(t, ...args) {
  const { server, relay } = await startServed(t, { answer: () => null, gated: true, args });
  return { server, relay, client: await connect(t, relay) };
}

test('a connection request of the protocol and what follows it reach the server', async (t) => {
  const { server, relay, client } = await begin(t, '--protocol-id', String(PROTOCOL));
  const sent = [
    request(),
    packet(RESPONSE, 308),
    packet(KEEP_ALIVE, 8),
    packet(PAYLOAD, 1),
    packet(PAYLOAD, 1200, { sequenceBytes: 8 }),
    packet(DISCONNECT, 0),
    request(),
  ];
  for (const datagram of sent) client.send(datagram);
  await statsUntil(relay, (stats) => stats.client_datagrams === sent.length);
  assert.equal((await relay.stats()).dropped_protocol, 0);
  await statsUntil(relay, () => server.received.length === sent.length);
  assert.deepEqual(
    server.received.map(({ data }) => data),
    sent,
  );
});

test('several protocols can be allowed, and without any all are', async (t) => {
  for (const args of [['--protocol-id', '1', '--protocol-id', '0x2'], []]) {
    const { server, relay, client } = await begin(t, ...args);
    client.send(request({ protocol: 2n }));
    await statsUntil(relay, () => server.received.length === 1);
  }
});

const wrongVersion = request();
wrongVersion.write('NETCODE 1.03', 1);
const openers = {
  'a payload packet': packet(PAYLOAD, 100),
  'random bytes': randomBytes(500),
  'one byte': Buffer.of(0),
  'a request of another protocol': request({ protocol: 7n }),
  'a request of another version': wrongVersion,
  'a short request': request().subarray(0, REQUEST_SIZE - 1),
  'a long request': Buffer.concat([request(), Buffer.of(0)]),
};
for (const [name, opener] of Object.entries(openers)) {
  test(`${name} does not begin a session`, async (t) => {
    const { server, relay, client } = await begin(t, '--protocol-id', String(PROTOCOL));
    client.send(opener);
    await statsUntil(relay, (stats) => stats.dropped_protocol === 1);
    // a good request still does
    client.send(request());
    await statsUntil(relay, () => server.received.length === 1);
    assert.equal(server.received[0].data.length, REQUEST_SIZE);
  });
}

test('only the game server judges an expired token', async (t) => {
  const { server, relay, client } = await begin(t);
  const opener = request();
  opener.writeBigUInt64LE(BigInt(Math.floor(Date.now() / 1000) - 7200), EXPIRES_AT);
  client.send(opener);
  await statsUntil(relay, () => server.received.length === 1);
  assert.deepEqual(server.received[0].data, opener);
});

test('the log tells why a session did not come to be', async (t) => {
  const reasons = [
    [randomBytes(500), /did not begin with the request of a secure connection/],
    [request({ protocol: 7n }), /a protocol that --protocol-id does not name/],
  ];
  const options = ['--protocol-id', String(PROTOCOL), '--log-level', 'debug'];
  const { relay } = await begin(t, ...options);
  for (const [opener, reason] of reasons) {
    const client = await connect(t, relay);
    for (let i = 0; i < OFFENCES_MAX; i++) client.send(opener);
    await client.closed();
    await relay.logged(reason);
  }
});

const followers = {
  'a packet that only a server sends': packet(2, 308),
  'an unknown type': packet(9, 100),
  'no sequence': packet(PAYLOAD, 100, { sequenceBytes: 0 }),
  'a sequence of nine bytes': packet(PAYLOAD, 100, { sequenceBytes: 9 }),
  'a packet that is too short': packet(PAYLOAD, 100).subarray(0, 17),
  'a response of another size': packet(RESPONSE, 307),
  'a payload that is too long': packet(PAYLOAD, 1201),
};
for (const [name, follower] of Object.entries(followers)) {
  test(`${name} is dropped and counted`, async (t) => {
    const { server, relay, client } = await begin(t);
    client.send(request());
    client.send(follower);
    client.send(packet(PAYLOAD, 20));
    await statsUntil(relay, () => server.received.length === 2);
    assert.equal((await relay.stats()).dropped_protocol, 1);
    assert.equal(server.received[1].data.length, 1 + 1 + 20 + 16);
  });
}

test('who goes on with it is sent away with 1008, and nothing of it has passed', async (t) => {
  const { server, relay, client } = await begin(t);
  for (let i = 0; i < OFFENCES_MAX; i++) client.send(randomBytes(64).fill(0xff, 0, 1));
  const { code, reason } = await client.closed();
  assert.equal(code, 1008);
  assert.equal(reason, 'not a secure connection');
  assertStats(await relay.stats(), { sessions_ended_protocol: 1, dropped_protocol: OFFENCES_MAX });
  assert.equal(server.received.length, 0);
});
