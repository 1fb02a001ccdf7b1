// One account whose tokens come from many addresses: nobody else waits for it, whatever it asks of a native server of
// 64 slots, directly or through the relay.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  PROTOCOL,
  foreignToken,
  startForeignClient,
  startNativeServer,
} from '../support/netcode_rig.mjs';
import { Type, readToken, requestPacket } from '../support/netcode_standard.mjs';
import { udp } from '../support/netcode_standard_client.mjs';
import { next, patiently, sleep } from '../support/patience.mjs';
import { startRelay } from '../support/relay.mjs';
import { connect } from '../support/websocket.mjs';
import { own, repeat } from '../support/fixture.mjs';

const ACCOUNT = 7n;
const SLOTS = 64;
const ADDRESSES = 128; // such a server has this many places for connecting clients
const TOKENS = 1024; // places of its history of tokens
const NEWCOMERS = 10;

// The number of datagrams that a socket of the server takes at once.
const BATCH = 32;
const PAUSE_MS = 20; // between two batches
const REFRESH_MS = 1000; // between two rounds of requests

const straight = () => async (localAddress, address, receive) => udp(address, receive);

/** Each address has a session of its own at the relay. */
const throughRelay = async (t, server) => {
  const args = ['--protocol-id', String(PROTOCOL)];
  const relay = await startRelay(t, { upstream: server.address, gated: true, args });
  return async (localAddress, address, receive) => {
    const { socket, send } = await connect(t, relay, { localAddress });
    socket.on('message', receive);
    return { send, close: () => socket.terminate() };
  };
};

/** All tokens of the account ask from all addresses, and then the last of each address again and again. */
async function attack(t, server, open) {
  let challenged;
  const answered = new Promise((resolve) => (challenged = resolve));
  const ways = [];
  for (let i = 0; i < ADDRESSES; i++)
    ways.push(
      await open(`127.3.0.${1 + i}`, server.address, (packet) => {
        if ((packet[0] & 15) === Type.challenge) challenged();
      }),
    );
  own(t, () => ways.forEach((way) => way.close()));
  const addresses = [server.address];
  const requests = Array.from({ length: TOKENS }, (_, i) =>
    requestPacket(
      // Each batch is newer than the one before.
      readToken(foreignToken({ addresses, clientId: ACCOUNT, seconds: 30 + Math.floor(i / 64) })),
    ),
  );
  const ask = async (from) => {
    for (let i = from; i < TOKENS; i++) {
      ways[i % ADDRESSES].send(requests[i]);
      if (i % BATCH === BATCH - 1) await sleep(PAUSE_MS);
    }
  };
  await ask(0);
  repeat(t, () => ask(TOKENS - ADDRESSES), REFRESH_MS);
  await patiently(answered, 'a challenge');
}

async function connectNewcomer(t, server, open, number) {
  const token = foreignToken({
    addresses: [server.address],
    clientId: 1000n + BigInt(number),
    timeout: 5,
  });
  let receive;
  const way = await open(`127.2.0.${1 + number}`, server.address, (packet) => receive(packet));
  const client = startForeignClient(t, token, (address, take) => {
    receive = take;
    return way;
  });
  while (client.state.startsWith('sending')) await next(client, 'state');
  assert.equal(client.state, 'connected', `newcomer ${number}`);
  client.disconnect();
}

for (const [name, begin] of Object.entries({ straight, 'through the relay': throughRelay }))
  test(`one account keeps nobody out, ${name}`, async (t) => {
    const server = await startNativeServer(t, { slots: SLOTS });
    const open = await begin(t, server);
    await attack(t, server, open);
    for (let number = 0; number < NEWCOMERS; number++)
      await connectNewcomer(t, server, open, number);
  });
