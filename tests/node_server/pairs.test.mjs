// Servers and clients of all kinds: the server on Node with native clients, a second implementation of netcode and
// clients behind the relay, and bots on Node with the native server.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { test } from 'node:test';
import { promisify } from 'node:util';
import { connect } from '../support/causeway.mjs';
import { connectUdp, messages, nextEvent, startServer } from '../support/node_server.mjs';
import { becomes, startNativeClient } from '../support/netcode_rig.mjs';
import { NetcodeClient } from '../support/netcode_standard_client.mjs';
import { require } from '../support/packages.mjs';
import { startPlayer } from '../support/player.mjs';
import { startGameServer, startGate } from '../support/secure.mjs';
import { RTCPeerConnection } from '../support/wrtc.mjs';
import { own } from '../support/fixture.mjs';
import { until } from '../support/patience.mjs';

const { WebSocket } = require('ws');

/** Starts a server that tells each client what it has said, and kicks it after "9". */
async function startChat(t, options) {
  const server = await startServer(t, options);
  server.addEventListener('connect', ({ client }) => {
    client.addEventListener('message', ({ message: { type, value } }) => {
      if (type !== 'say') return;
      client.send(0, 'said', { player: client.slot, text: value.text });
      if (value.text === '9') client.kick('that is enough', { code: 7, flushSeconds: 20 });
    });
  });
  return server;
}

test('a native client plays', async (t) => {
  const server = await startChat(t, { insecure: true });
  const run = promisify(execFile)(process.env.CAUSEWAY_CHAT_CLIENT, [server.address, '77']);
  const { client } = await nextEvent(server, 'connect');
  assert.equal(client.id, 77n);
  const { stdout } = await run;
  const numbers = Array.from({ length: 10 }, (_, i) => `said ${i}\n`).join('');
  assert.equal(stdout, `${numbers}kicked 7 that is enough\n`);
});

/** A netcode client of ours and one of the standard: each returns the events of its connection, and of the end. */
const foreigners = {
  'a native netcode client': async (t, server, token) => {
    const client = await startNativeClient(t);
    client.tell(`connect ${Buffer.from(token).toString('hex')}`);
    const [, index, slots] = await client.said(/^connected (\d+) (\d+)$/);
    client.tell('send 010203');
    return { index, slots, ended: () => client.said(/^disconnected/) };
  },
  'a netcode client written from the standard': async (t, server, token) => {
    const client = new NetcodeClient(Buffer.from(token));
    own(t, () => client.close());
    client.connect();
    await becomes(client, 'connected');
    client.send(Buffer.from([1, 2, 3]));
    const { index, maxClients: slots } = client;
    return { index, slots, ended: () => becomes(client, 'disconnected') };
  },
};
for (const [name, start] of Object.entries(foreigners))
  test(`${name} connects, and its bytes do no harm`, async (t) => {
    const server = await startServer(t, { maxClients: 3 });
    const connecting = nextEvent(server, 'connect');
    const token = await server.generateConnectToken({ clientId: 5n });
    const foreigner = await start(t, server, token);
    const { client } = await connecting;
    assert.deepEqual([client.id, Number(foreigner.index), Number(foreigner.slots)], [5n, 0, 3]);
    await until('malformed datagrams', () => server.stats().dropped.MALFORMED > 0);
    client.kick('you do not speak our language');
    await foreigner.ended();
  });

for (const kind of ['websocket', 'webrtc'])
  test(`a client of the package plays through the relay, over ${kind}`, async (t) => {
    const server = await startChat(t);
    const relay = await startGate(t, { upstream: server.address });
    const client = await connect(relay.url, {
      token: await server.generateConnectToken({ clientId: 1n }),
      schema: messages,
      transports: [kind],
      WebSocket,
      RTCPeerConnection,
    });
    const texts = [];
    client.addEventListener('message', ({ message }) => texts.push(message.value.text));
    for (let i = 0; i < 10; i++) client.send(0, 'say', { text: `${i}` });
    const { reason, code, text } = await client.closed;
    assert.deepEqual([reason, code, text], ['kicked', 7, 'that is enough']);
    assert.deepEqual(texts, ['0', '1', '2', '3', '4', '5', '6', '7', '8', '9']);
  });

test('bots play on the native server', async (t) => {
  const server = await startGameServer(t);
  const players = [];
  for (let i = 0; i < 4; i++) {
    const client = await connectUdp({ token: () => server.token(), schema: messages });
    assert.equal(client.transport, 'udp');
    players.push(startPlayer(client));
  }
  for (const player of players) await player.rest();
  for (const { client } of players) client.disconnect();
});

test('a bot connects again after the end', async (t) => {
  const server = await startGameServer(t);
  const bot = await connectUdp({ token: () => server.token({ clientId: 5n }), schema: messages });
  await startPlayer(bot).rest();
  bot.disconnect();
  await bot.reconnect();
  await startPlayer(bot).rest();
  bot.disconnect();
});
