// The package's client and tokens against a second implementation of netcode that was written from
// the standard, through the real relay.
import assert from 'node:assert/strict';
import test from 'node:test';
import {
  ConnectError,
  connect,
  generateConnectToken,
  message,
  require,
  schema,
  string,
} from '../support/causeway.mjs';
import { PROTOCOL, foreignToken, privateKey, startForeignPlace } from '../support/netcode_rig.mjs';
import { readRequest, readToken, requestPacket } from '../support/netcode_standard.mjs';
import { RTCPeerConnection } from '../support/wrtc.mjs';
import { next } from '../support/patience.mjs';

const { WebSocket } = require('ws');

const messages = schema(message('say', { text: string(100) }));

const ownToken = ({ addresses, ...options }) =>
  generateConnectToken({
    protocolId: PROTOCOL,
    privateKey,
    clientId: 1n,
    servers: addresses,
    timeoutSeconds: 10,
    ...options,
  });
const tokens = { 'a token of ours': ownToken, 'a foreign token': foreignToken };

/** Starts a server of the second implementation, and returns it with a function that joins it. */
async function begin(t, options) {
  const { server, relay } = await startForeignPlace(t, options);
  const join = (token, kind) =>
    connect(relay.url, {
      token,
      schema: messages,
      transports: [kind],
      RTCPeerConnection,
      WebSocket,
    });
  return { server, join };
}

for (const kind of ['websocket', 'webrtc']) {
  for (const [name, make] of Object.entries(tokens)) {
    test(`${kind}, ${name}: messages there and back, and an end`, async (t) => {
      const { server, join } = await begin(t);
      const payloads = [];
      // The packets of both sides have one form, so what comes back is a conversation.
      server.on('payload', (slot, payload) => {
        payloads.push(payload);
        server.send(slot, payload);
      });
      const connected = next(server, 'connected');
      const userData = Buffer.alloc(240, 7);
      const token = await make({ addresses: [server.address], clientId: 77n, userData });
      const client = await join(token, kind);
      const [slot] = await connected;
      assert.equal(slot.clientId, 77n);
      assert.deepEqual(slot.userData.subarray(0, 240), userData);
      assert.deepEqual(client.slot, { index: 0, count: 4 });
      const said = ['one', 'two', 'three'];
      for (const text of said) client.send(0, 'say', { text });
      const received = [];
      for await (const { value } of client) {
        if (received.push(value.text) === said.length) break;
      }
      assert.deepEqual(received, said);
      assert.ok(payloads.some((payload) => payload.includes('three')));
      assert.ok(server.ignored.every((reason) => reason === 'an address that is connected'));
      const disconnected = next(server, 'disconnected');
      client.disconnect();
      assert.deepEqual(await disconnected, [slot, 'client']);
      assert.equal((await client.closed).reason, 'client');
    });
  }

  test(`${kind}: the server ends the connection`, async (t) => {
    const { server, join } = await begin(t);
    const client = await join(foreignToken({ addresses: [server.address] }), kind);
    server.disconnect(server.clients[0]);
    assert.equal((await client.closed).reason, 'server');
  });

  test(`${kind}: the server is full`, async (t) => {
    const { server, join } = await begin(t, { slots: 0 });
    await assert.rejects(
      join(foreignToken({ addresses: [server.address] }), kind),
      (error) => error instanceof ConnectError && error.code === 'DENIED',
    );
  });
}

test('a token of ours has all that was asked for', async () => {
  const addresses = ['127.0.0.1:40000', '[2001:db8::1:2]:40001', '255.0.1.2:65535'];
  const internalServers = ['10.1.2.3:9', '[::1]:10'];
  const userData = Buffer.from('who this is');
  const before = Math.floor(Date.now() / 1000);
  const bytes = await ownToken({
    addresses,
    internalServers,
    userData,
    clientId: 2n ** 64n - 1n,
    timeoutSeconds: 9,
    expireSeconds: 30,
  });
  const token = readToken(bytes);
  assert.equal(token.protocolId, PROTOCOL);
  assert.ok(token.create >= before && token.create <= Date.now() / 1000);
  assert.equal(token.expire - token.create, 30n);
  assert.equal(token.timeout, 9);
  assert.deepEqual(token.addresses, addresses);
  const hidden = readRequest(requestPacket(token), PROTOCOL, privateKey, before);
  assert.equal(hidden.clientId, 2n ** 64n - 1n);
  assert.equal(hidden.timeout, 9);
  assert.deepEqual(hidden.addresses, internalServers);
  assert.deepEqual(hidden.clientToServer, token.clientToServer);
  assert.deepEqual(hidden.serverToClient, token.serverToClient);
  assert.notDeepEqual(token.clientToServer, token.serverToClient);
  assert.deepEqual(hidden.userData, Buffer.concat([userData, Buffer.alloc(256 - userData.length)]));
  // Behind both parts there is nothing but zeros.
  const used = 1105 + 4 + 4 + 7 + 19 + 7 + 64;
  assert.ok(bytes.subarray(used).every((byte) => byte === 0));
});
