// The native client and server talk with a second implementation that was written from the standard.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { EventEmitter } from 'node:events';
import { networkInterfaces } from 'node:os';
import test from 'node:test';
import {
  PROTOCOL,
  becomes,
  foreignToken,
  privateKey,
  startForeignClient,
  startForeignServer,
  startNativeClient,
  startNativeServer,
} from '../support/netcode_rig.mjs';
import {
  Replay,
  Type,
  openPacket,
  readToken,
  requestPacket,
  sealPacket,
} from '../support/netcode_standard.mjs';
import { udp } from '../support/netcode_standard_client.mjs';
import { pattern } from '../support/pattern.mjs';
import { startRelay, statsUntil } from '../support/relay.mjs';
import { connect } from '../support/websocket.mjs';
import { own } from '../support/fixture.mjs';
import { next } from '../support/patience.mjs';

const payloads = [pattern(1, 1), pattern(1200, 2)];
const hasIpv6 = Object.values(networkInterfaces()).some((list) =>
  list.some(({ address }) => address === '::1'),
);

/** Makes a token by our tool. */
const ownToken = ({ addresses, clientId = 1n, timeout = 10, userData = Buffer.alloc(0) }) =>
  execFileSync(
    process.env.CAUSEWAY_TOKEN,
    [
      ...['--protocol-id', String(PROTOCOL), '--client-id', String(clientId), '--binary'],
      ...['--timeout', String(timeout), '--user-data', userData.toString('hex')],
      ...addresses.flatMap((address) => ['--server', address]),
    ],
    { env: { CAUSEWAY_KEY: privateKey.toString('hex') } },
  );

const tokens = { 'a token of ours': ownToken, 'a foreign token': foreignToken };
const addressesOf = { IPv4: '127.0.0.1:0', IPv6: '[::1]:0' };

// The reason that the other end gives on a slow machine, after a handshake whose packets were repeated.
const isRepetition = (reason) => reason === 'an address that is connected';
const isOutOfPlace = (line) => /^dropped .* does not belong in this state /.test(line);

for (const [family, address] of Object.entries(addressesOf)) {
  const skip = family === 'IPv6' && !hasIpv6;
  for (const [name, make] of Object.entries(tokens)) {
    test(`a foreign client, ${name}, over ${family}`, { skip }, async (t) => {
      const server = await startNativeServer(t, { address });
      const userData = pattern(240, 3);
      const token = make({ addresses: [server.address], clientId: 2n ** 64n - 2n, userData });
      const client = startForeignClient(t, token);
      const [, slot, id, data] = await server.said(/^connected (\d+) (\d+) (\w+)$/);
      assert.deepEqual([slot, id], ['0', String(2n ** 64n - 2n)]);
      assert.equal(data, `${userData.toString('hex')}${'00'.repeat(16)}`);
      await becomes(client, 'connected');
      assert.deepEqual([client.index, client.maxClients], [0, 4]);
      for (const payload of payloads) {
        client.send(payload);
        assert.equal((await server.said(/^payload 0 (\w+)$/))[1], payload.toString('hex'));
        const came = next(client, 'payload');
        server.tell(`send 0 ${payload.toString('hex')}`);
        assert.deepEqual(await came, [payload]);
      }
      client.disconnect();
      await server.said(/^disconnected 0 1$/);
      assert.deepEqual(client.ignored, []);
      assert.equal(await server.end(), 0);
    });

    test(`a foreign server, ${name}, over ${family}`, { skip }, async (t) => {
      const server = await startForeignServer(t, { host: family === 'IPv6' ? '::1' : undefined });
      const client = await startNativeClient(t, address);
      const userData = pattern(240, 4);
      const token = make({ addresses: [server.address], clientId: 2n ** 64n - 3n, userData });
      const connected = next(server, 'connected');
      client.tell(`connect ${token.toString('hex')}`);
      const [slot] = await connected;
      assert.equal(slot.clientId, 2n ** 64n - 3n);
      assert.deepEqual(slot.userData, Buffer.concat([userData, Buffer.alloc(16)]));
      await client.said(/^connected 0 4$/);
      for (const payload of payloads) {
        const came = next(server, 'payload');
        client.tell(`send ${payload.toString('hex')}`);
        assert.deepEqual((await came)[1], payload);
        server.send(slot, payload);
        assert.equal((await client.said(/^payload (\w+)$/))[1], payload.toString('hex'));
      }
      assert.ok(server.ignored.every(isRepetition), String(server.ignored));
      assert.ok(client.lines.every(isOutOfPlace), String(client.lines));
      const disconnected = next(server, 'disconnected');
      client.tell('disconnect');
      assert.deepEqual(await disconnected, [slot, 'client']);
      await client.said(/^disconnected 0$/);
      assert.equal(await client.end(), 0);
    });
  }
}

test('our server ends the connection of a foreign client', async (t) => {
  const server = await startNativeServer(t);
  const client = startForeignClient(t, foreignToken({ addresses: [server.address] }));
  await becomes(client, 'connected');
  server.tell('disconnect 0');
  await server.said(/^disconnected 0 2$/);
  await becomes(client, 'disconnected');
});

test('a foreign server ends the connection of our client', async (t) => {
  const server = await startForeignServer(t);
  const client = await startNativeClient(t);
  client.tell(`connect ${foreignToken({ addresses: [server.address] }).toString('hex')}`);
  const [slot] = await next(server, 'connected');
  await client.said(/^connected/);
  server.disconnect(slot);
  await client.said(/^disconnected 0$/);
});

test('our server denies foreign clients when it is full, until one leaves', async (t) => {
  const server = await startNativeServer(t, { slots: 1 });
  const addresses = [server.address];
  const first = startForeignClient(t, foreignToken({ addresses, clientId: 1n }));
  await becomes(first, 'connected');
  const second = startForeignClient(t, foreignToken({ addresses, clientId: 2n }));
  await becomes(second, 'connection denied');
  first.disconnect();
  await server.said(/^disconnected 0 1$/);
  const third = startForeignClient(t, foreignToken({ addresses, clientId: 3n }));
  await becomes(third, 'connected');
});

test('a foreign server that is full denies our client', async (t) => {
  const server = await startForeignServer(t, { slots: 1 });
  const addresses = [server.address];
  const [first, second] = [await startNativeClient(t), await startNativeClient(t)];
  first.tell(`connect ${foreignToken({ addresses, clientId: 1n }).toString('hex')}`);
  await first.said(/^connected 0 1$/);
  second.tell(`connect ${foreignToken({ addresses, clientId: 2n }).toString('hex')}`);
  await second.said(/^disconnected -1$/);
});

test('our client goes on to the next server', async (t) => {
  const full = await startForeignServer(t, { slots: 0 });
  const server = await startForeignServer(t);
  const client = await startNativeClient(t);
  const addresses = [full.address, server.address];
  client.tell(`connect ${foreignToken({ addresses }).toString('hex')}`);
  await client.said(/^connected 0 4$/);
  assert.equal(server.clients.length, 1);
});

test('our server tells its slot before a payload while the client may not know', async (t) => {
  const server = await startNativeServer(t);
  const token = foreignToken({ addresses: [server.address] });
  const { serverToClient: key } = readToken(token);
  const events = [];
  const watch = new EventEmitter();
  /** The client hears only the challenge. */
  const deaf = (address, receive) =>
    udp(address, (packet) => {
      const replay = new Replay();
      const opened = openPacket(packet, { protocolId: PROTOCOL, key, ignored: [], replay });
      if (opened.type === Type.challenge) receive(packet);
      else events.push(opened);
      if (opened.type === Type.payload) watch.emit('payload');
    });
  startForeignClient(t, token, deaf);
  await server.said(/^connected 0/);
  for (const payload of ['01', '02', '03']) {
    const came = next(watch, 'payload');
    server.tell(`send 0 ${payload}`);
    await came;
    const [before, last] = events.slice(-2);
    assert.equal(before.type, Type.keepAlive);
    assert.equal(before.sequence, last.sequence - 1n);
    assert.deepEqual(last.body, Buffer.from(payload, 'hex'));
  }
});

/** Makes requests that a server must not answer, with the reasons. */
function badRequests(address) {
  const now = Math.floor(Date.now() / 1000);
  const good = { addresses: [address] };
  const request = (options) => requestPacket(readToken(foreignToken({ ...good, ...options })));
  const stretched = { ...readToken(foreignToken(good)), expire: BigInt(now + 61) };
  const port = Number(/\d+$/.exec(address)[0]);
  return [
    [request({ now: now - 60, seconds: 30 }), /expired/],
    [request({ protocolId: PROTOCOL + 1n }), /protocol id/],
    [request({ privateKey: randomBytes(32) }), /altered/],
    [requestPacket(stretched), /altered/],
    [request({ addresses: [`127.0.0.1:${port ^ 1}`] }), /other servers/],
    [request().fill('NETCODE 1.01', 1, 13), /version/],
    [request().subarray(0, -1), /1078 bytes/],
    [Buffer.concat([request(), Buffer.of(0)]), /1078 bytes/],
  ];
}

test('our server has no answer for bad requests', async (t) => {
  const server = await startNativeServer(t);
  const answers = [];
  const watch = new EventEmitter();
  const way = udp(server.address, (packet) => {
    answers.push(packet);
    watch.emit('answer');
  });
  own(t, way.close);
  for (const [request, why] of badRequests(server.address)) {
    way.send(request);
    const [, said] = await server.said(/^dropped (.+)$/);
    assert.match(said, why);
  }
  // A packet that comes first from this address answers the first good request.
  const token = readToken(foreignToken({ addresses: [server.address] }));
  const answer = next(watch, 'answer');
  way.send(requestPacket(token));
  await answer;
  const { type } = openPacket(answers[0], {
    protocolId: PROTOCOL,
    key: token.serverToClient,
    ignored: [],
  });
  assert.equal(type, Type.challenge);
  assert.equal(answers.length, 1);
});

test('a token is good for one address', async (t) => {
  const server = await startNativeServer(t);
  const token = foreignToken({ addresses: [server.address] });
  const first = startForeignClient(t, token);
  await becomes(first, 'connected');
  first.disconnect();
  await server.said(/^disconnected 0 1$/);
  startForeignClient(t, token);
  await server.said(/^dropped the connect token was used before/);
});

/**
 * Makes packets that go on at `base`, each with the answer that the other end must give: the payload that it took, or
 * why it dropped it.
 */
function trials(base, key, unexpected) {
  const seal = (sequence, type, body) =>
    sealPacket({ protocolId: PROTOCOL, key, type, sequence, body });
  const good = seal(base, Type.payload, pattern(9, 1));
  const altered = Buffer.from(seal(base + 1n, Type.payload, pattern(9, 2)));
  altered[10] ^= 1;
  const retyped = seal(base + 1n, Type.disconnect);
  retyped[0] = (retyped[0] & 0xf0) | Type.payload;
  const taken = (seed) => new RegExp(`^payload .*${pattern(9, seed).toString('hex')}$`);
  return [
    [good, taken(1)],
    [good, /^dropped .*before$/],
    [altered, /^dropped .*altered/],
    [retyped, /^dropped/],
    [seal(base - 200n, Type.payload, pattern(9, 3)), taken(3)],
    [seal(base - 200n, Type.payload, pattern(9, 3)), /^dropped .*before$/],
    [seal(base - 300n, Type.payload, pattern(9, 4)), /^dropped .*(before|older)/],
    ...[0, 7, 15, ...unexpected].map((type) => [
      seal(base + 2n, type, Buffer.alloc([0, 0, 308, 308][type] ?? 9)),
      /^dropped/,
    ]),
    [seal(base + 2n, Type.payload, Buffer.alloc(0)), /^dropped/],
    [seal(base + 2n, Type.payload, Buffer.alloc(1201)), /^dropped/],
    [seal(base + 2n, Type.keepAlive, Buffer.alloc(7)), /^dropped/],
    [seal(base + 2n, Type.disconnect, Buffer.alloc(1)), /^dropped/],
    [seal(2n ** 40n, Type.payload, pattern(9, 5)), taken(5)],
  ];
}

async function sayInOrder(native, forms) {
  await native.said(forms.at(-1));
  assert.equal(native.lines.length, forms.length - 1, native.lines.join('\n'));
  native.lines.forEach((line, i) => assert.match(line, forms[i]));
}

test('our server takes each packet once, whole, and not too late', async (t) => {
  const server = await startNativeServer(t);
  const token = foreignToken({ addresses: [server.address] });
  const client = startForeignClient(t, token);
  await becomes(client, 'connected');
  client.send(pattern(1));
  await server.said(/^payload/);
  server.lines.length = 0; // lines of the handshake
  const { clientToServer } = readToken(token);
  const list = trials(client.sequence + 1000n, clientToServer, [Type.denied, Type.challenge]);
  client.sequence = 2n ** 40n + 1n;
  for (const [packet] of list) client.transmit(packet);
  await sayInOrder(
    server,
    list.map(([, form]) => form),
  );
  client.disconnect();
  await server.said(/^disconnected 0 1$/);
});

test('our client takes each packet once, whole, and not too late', async (t) => {
  const server = await startForeignServer(t);
  const token = foreignToken({ addresses: [server.address] });
  const client = await startNativeClient(t);
  client.tell(`connect ${token.toString('hex')}`);
  const [slot] = await next(server, 'connected');
  await client.said(/^connected/);
  server.send(slot, pattern(1));
  await client.said(/^payload/);
  client.lines.length = 0; // lines of the handshake
  const unexpected = [Type.denied, Type.challenge, Type.response];
  const list = trials(slot.sequence + 1000n, readToken(token).serverToClient, unexpected);
  slot.sequence = 2n ** 40n + 1n;
  for (const [packet] of list) server.transmit(packet, slot.address);
  await sayInOrder(
    client,
    list.map(([, form]) => form),
  );
  server.disconnect(slot);
  await client.said(/^disconnected 0$/);
});

test('the relay lets a foreign client through, and nothing malformed', async (t) => {
  const server = await startNativeServer(t);
  const relay = await startRelay(t, {
    upstream: server.address,
    gated: true,
    args: ['--protocol-id', String(PROTOCOL)],
  });
  const browser = await connect(t, relay);
  const token = foreignToken({ addresses: [server.address] });
  const client = startForeignClient(t, token, (address, receive) => {
    browser.socket.on('message', receive);
    return { send: browser.send, close() {} };
  });
  const seal = (type, size) =>
    sealPacket({
      protocolId: PROTOCOL,
      key: readToken(token).clientToServer,
      type,
      sequence: client.sequence++,
      body: Buffer.alloc(size),
    });
  await becomes(client, 'connected');
  client.transmit(seal(Type.keepAlive, 8));
  for (const payload of payloads) {
    client.send(payload);
    await server.said(new RegExp(`^payload 0 ${payload.toString('hex')}$`));
    const came = next(client, 'payload');
    server.tell(`send 0 ${payload.toString('hex')}`);
    assert.deepEqual(await came, [payload]);
  }
  assert.equal((await relay.stats()).dropped_protocol, 0);
  server.lines.length = 0; // lines of the handshake

  const malformed = [
    requestPacket(readToken(token)).subarray(0, -1),
    seal(Type.challenge, 308),
    seal(Type.response, 307),
    seal(Type.keepAlive, 9),
    seal(Type.payload, 1201),
    seal(Type.disconnect, 1),
    seal(7, 8),
  ];
  for (const packet of malformed) client.transmit(packet);
  await statsUntil(relay, ({ dropped_protocol }) => dropped_protocol === malformed.length);
  assert.deepEqual(server.lines, []);
  client.disconnect();
  await server.said(/^disconnected 0 1$/);
  assert.deepEqual(client.ignored, []);
});
