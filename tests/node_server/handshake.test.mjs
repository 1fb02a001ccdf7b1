// The clients of a server: who becomes one, and how that ends. The tests core.server_* say the same of the server in C,
// here it is seen from outside, in virtual time.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { message, schema, string } from '../support/causeway.mjs';
import { Rig } from '../support/node_server_rig.mjs';
import { randomFrom } from '../support/random.mjs';

const types = (rig) => rig.events.map(({ type, client, reason }) => [type, client, reason]);

test('a client connects, and disconnects', async () => {
  const rig = new Rig({ maxClients: 4 });
  const { client, slot } = await rig.joined({ clientId: 77n, userData: new Uint8Array([9]) });
  assert.equal(client.state, 'CONNECTED');
  assert.deepEqual(client.client.slot(), { index: 0, count: 4 });
  const { id, address, userData } = rig.server.client(slot);
  assert.deepEqual([id, address, userData[0]], [77n, '10.0.0.1:50000', 9]);
  assert.equal(rig.server.client(1), undefined);
  assert.throws(() => rig.server.connection(1), { code: 'NOT_CONNECTED' });
  client.client.disconnect();
  rig.run(0.1);
  assert.deepEqual(types(rig), [
    ['connect', 0, undefined],
    ['disconnect', 0, 'client'],
  ]);
  assert.equal(rig.server.stats().clients, 0);
});

test('a full server says so', async () => {
  const rig = new Rig({ maxClients: 2 });
  await rig.joined();
  await rig.joined();
  const late = await rig.join();
  rig.run(1);
  assert.equal(late.state, 'DENIED');
  const { clients, deniedSent, dropped } = rig.server.stats();
  assert.deepEqual([clients, deniedSent > 0, dropped.SERVER_FULL > 0], [2, true, true]);
});

const tokens = {
  'that has expired': [{ expireSeconds: 1 }, undefined, (rig) => (rig.now += 2)],
  'of another key': [{ privateKey: new Uint8Array(32).fill(7) }, 'NOT_AUTHENTIC'],
  'of another game': [{ protocolId: 5n }, 'PROTOCOL_ID'],
  'for another server': [{ servers: ['127.0.0.1:40001'] }, 'TOKEN_SERVER'],
};
for (const [what, [options, code, before = () => {}]] of Object.entries(tokens))
  test(`a token ${what} gets no answer`, async () => {
    const rig = new Rig();
    const client = await rig.join(options);
    before(rig);
    rig.run(0.3);
    assert.equal(client.received.length, 0);
    const { clients, pending, challengesSent, dropped } = rig.server.stats();
    assert.deepEqual([clients, pending, challengesSent], [0, 0, 0]);
    // A client does not ask with an expired token, but says so.
    if (code) assert.deepEqual(Object.keys(dropped), [code]);
    else assert.equal(client.state, 'TOKEN_EXPIRED');
  });

test('a token that lives too long gets no answer', async () => {
  const rig = new Rig({ maxTokenLifeSeconds: 30 });
  await rig.join({ expireSeconds: 45 });
  rig.run(0.3);
  assert.deepEqual(Object.keys(rig.server.stats().dropped), ['TOKEN_LIFE']);
});

test('a fresh server wants a token that was made since its start', async (t) => {
  const rig = new Rig({ maxTokenLifeSeconds: 50 });
  t.mock.method(Date, 'now', () => Math.round((rig.now + rig.offset) * 1000));
  const early = await rig.join();
  rig.run(0.3);
  assert.deepEqual(Object.keys(rig.server.stats().dropped), ['TOKEN_LIFE']);
  assert.equal(early.state, 'NOT_YET');
  const { client } = await rig.joined();
  assert.equal(client.state, 'CONNECTED');
  // Without the schema's fingerprint a token does not say when it was made.
  const plain = await rig.join({ schema: undefined });
  rig.run(0.3);
  assert.equal(plain.state, 'NOT_YET');
});

test('a token is good for one client', async () => {
  const rig = new Rig();
  const token = await rig.token();
  const first = await rig.join({}, { token });
  rig.run(0.5);
  const thief = await rig.join({}, { token });
  rig.run(0.5);
  assert.equal(first.state, 'CONNECTED');
  assert.notEqual(thief.state, 'CONNECTED');
  first.client.disconnect();
  rig.run(0.5);
  const heir = await rig.join({}, { token });
  rig.run(0.5);
  assert.equal(heir.state, 'SENDING_REQUEST');
  assert.ok(rig.server.stats().dropped.TOKEN_USED > 0);
  assert.equal(rig.server.stats().connections, 1);
});

test('what was sent before changes nothing when it comes again', async () => {
  const rig = new Rig();
  const { client, slot } = await rig.joined();
  client.send(0, 'say', { text: 'once' });
  rig.run(0.5);
  const { datagramsDropped } = rig.server.stats();
  const old = rig.wire.splice(0);
  for (const datagram of old) rig.deliver(datagram, client.host, client.port);
  const stats = rig.server.stats();
  assert.equal(stats.datagramsDropped - datagramsDropped, old.length);
  assert.ok(stats.dropped.DUPLICATE > 0);
  // Datagrams from elsewhere are not taken either.
  for (const datagram of old) rig.deliver(datagram, '10.9.9.9', 1);
  assert.deepEqual(rig.texts(slot), ['once']);
  assert.equal(rig.server.client(slot).address, '10.0.0.1:50000');
  assert.equal(client.state, 'CONNECTED');
});

test('a client that is silent times out, and its slot is free', async () => {
  const rig = new Rig({ maxClients: 1 });
  const { client } = await rig.joined({ timeoutSeconds: 2 });
  const began = rig.now;
  rig.clients.splice(0);
  rig.run(3);
  const [, end] = rig.events;
  assert.deepEqual([end.type, end.reason], ['disconnect', 'timeout']);
  assert.ok(end.now - began > 1.9 && end.now - began < 2.1, `${end.now - began}`);
  client.client.destroy();
  assert.equal((await rig.joined({ clientId: 9n })).slot, 0);
});

test('a client goes on from another address', async () => {
  const rig = new Rig();
  const { client, slot } = await rig.joined();
  [client.host, client.port] = ['10.7.7.7', 77];
  client.client.move(rig.now);
  rig.run(0.5);
  client.send(0, 'say', { text: 'from here' });
  rig.run(0.5);
  assert.deepEqual(rig.texts(slot), ['from here']);
  assert.equal(rig.server.client(slot).address, '10.7.7.7:77');
  assert.deepEqual([rig.server.stats().moves, rig.events.length], [1, 1]);
});

test('a player who connects anew takes over the slot', async () => {
  const rig = new Rig({ maxClients: 1 });
  const { client } = await rig.joined({ clientId: 5n });
  const again = await rig.join({ clientId: 5n });
  rig.run(1);
  assert.deepEqual([client.state, again.state], ['REPLACED', 'CONNECTED']);
  assert.deepEqual(types(rig), [
    ['connect', 0, undefined],
    ['disconnect', 0, 'replaced'],
    ['connect', 0, undefined],
  ]);
  assert.equal(rig.server.stats().takeovers, 1);
});

test('without takeover, a player who connects anew is denied', async () => {
  const rig = new Rig({ takeover: false });
  const { client } = await rig.joined({ clientId: 5n });
  const again = await rig.join({ clientId: 5n });
  rig.run(1);
  assert.deepEqual([client.state, again.state], ['CONNECTED', 'ID_CONNECTED']);
});

test('a client with other messages is refused', async () => {
  const rig = new Rig();
  const other = schema(message('shout', { text: string(5) }));
  const client = await rig.join({ schema: other }, { schema: other });
  rig.run(1);
  assert.equal(client.state, 'SCHEMA');
  assert.ok(rig.server.stats().dropped.SCHEMA > 0);
});

test('half of the datagrams may be lost', async () => {
  const rig = new Rig();
  const random = randomFrom(5);
  rig.lose = () => random() < 0.5;
  const client = await rig.join();
  rig.run(4, () => client.state === 'CONNECTED');
  const { index: slot } = client.client.slot();
  for (let i = 0; i < 50; i++) client.send(0, 'say', { text: `${i}` });
  rig.run(5);
  assert.deepEqual(
    rig.texts(slot),
    Array.from({ length: 50 }, (_, i) => `${i}`),
  );
});

test('bytes that are no packets change nothing and take no memory', async () => {
  const rig = new Rig();
  const { client, slot } = await rig.joined();
  const { memory } = rig.server.core;
  const size = memory.bytes.length;
  const seeded = randomFrom(9);
  const random = () => Math.floor(seeded() * 2 ** 24);
  for (let i = 0; i < 20000; i++) {
    const junk = new Uint8Array(random() % 2000).map(() => random());
    const isKnown = i % 3 === 0;
    if (junk.length > 0 && i % 2 === 0) junk[0] = random() % 8;
    const known = [client.host, client.port];
    const [host, port] = isKnown ? known : [`10.${i % 256}.0.${i % 200}`, i % 65536];
    rig.server.receive(junk, i % 7 === 0 ? `2001:db8::${(i % 9999) + 1}` : host, port, rig.now);
    for (let out = rig.server.transmit(rig.now); out; out = rig.server.transmit(rig.now));
  }
  for (const host of ['', 'x', 'fe80::1%eth0', '1.2.3.4.5', 'a'.repeat(999), '\0'])
    assert.equal(rig.server.receive(new Uint8Array(40), host, 1, rig.now), undefined);
  assert.equal(memory.bytes.length, size);
  client.send(0, 'say', { text: 'still here' });
  rig.run(0.5);
  assert.deepEqual(rig.texts(slot), ['still here']);
  assert.deepEqual(rig.events.length, 1);
});
