// Many players lose their links at the same time, and all of them come back.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openTransport } from '../support/causeway.mjs';
import { startDelayPath } from '../support/delay_path.mjs';
import { until as eventually } from '../support/patience.mjs';
import { reportGap, startPlayer, until } from '../support/player.mjs';
import { startServed } from '../support/served.mjs';
import { startGate, startSecureServer } from '../support/secure.mjs';
import { WebSocket, join } from '../support/join.mjs';
import { own } from '../support/fixture.mjs';

const LINKS = 500;
const PLAYERS = 30;

test(`${LINKS} transports whose links are cut are all back in their sessions`, async (t) => {
  // The first sessions say nothing until the last has come.
  const args = ['--max-sessions-per-address', '0', '--request-timeout', '600'];
  const { server, relay } = await startServed(t, { args });
  const sockets = new Set();
  class Kept extends WebSocket {
    constructor(url, protocols) {
      super(url, protocols, { perMessageDeflate: false });
      sockets.add(this);
      this.once('close', () => sockets.delete(this));
    }
  }
  const players = await Promise.all(
    Array.from({ length: LINKS }, async () => ({
      transport: await openTransport(relay.url, { transports: ['websocket'], WebSocket: Kept }),
    })),
  );
  own(t, () => players.forEach(({ transport }) => transport.close()));
  /** Has each player say its number in this round until it hears it; returns the ports that the server heard. */
  const ports = async (round) => {
    const numbers = players.map((_, i) => Buffer.of(round, i >> 8, i & 255));
    const waiting = new Set(players.keys());
    const strange = [];
    players.forEach(({ transport }, i) => {
      transport.ondatagram = (datagram) => {
        if (numbers[i].equals(datagram)) waiting.delete(i);
        else if (datagram[0] === round) strange.push(i);
      };
    });
    const repeat = () => {
      for (const i of waiting) players[i].transport.send(new Uint8Array(numbers[i]));
      return waiting.size === 0;
    };
    await eventually('all to be heard', repeat);
    assert.deepEqual(strange, []);
    const portOf = new Map(server.received.map(({ data, port }) => [data.toString('hex'), port]));
    return numbers.map((number) => portOf.get(number.toString('hex')));
  };
  const before = await ports(1);
  assert.equal(new Set(before).size, LINKS);
  const began = performance.now();
  for (const socket of sockets) socket.terminate();
  assert.deepEqual(await ports(2), before);
  t.diagnostic(`all were back after ${Math.round(performance.now() - began)} ms`);
  assert.ok(players.every(({ transport }) => transport.state === 'open'));
  const { sessions_opened, links_joined } = await relay.stats();
  assert.equal(sessions_opened, LINKS);
  // A machine that stalls lets links fall silent, which are replaced too.
  assert.ok(links_joined >= LINKS, `${links_joined} links`);
});

test(`a relay that crashes and is back loses none of ${PLAYERS} players`, async (t) => {
  const path = await startDelayPath(t, { rtt: 40 });
  const { server, relay } = await startSecureServer(t, { relayOptions: path.relayOptions });
  path.to(relay);
  const players = await Promise.all(
    Array.from({ length: PLAYERS }, async () => {
      const token = await server.token({ timeoutSeconds: 10 });
      return startPlayer(await join(path, { token }), { everyMs: 0 });
    }),
  );
  // The server keeps 256 messages for a player who is away, so that each may say a few in all.
  const speak = () => players.forEach(({ say }) => say());
  speak();
  await eventually('all are heard', () => players.every(({ said }) => said.length > 0));
  await relay.stop('SIGKILL');
  for (let i = 0; i < 3; i++) speak();
  const next = await startGate(t, server, path.relayOptions);
  path.to(next);
  await Promise.all(players.map(({ client }) => until(client, 'state', 'reconnecting')));
  await Promise.all(players.map(({ client }) => until(client, 'state', 'connected')));
  await Promise.all(players.map((player) => player.rest()));
  const gap = Math.max(...players.map((player) => player.gap));
  for (const { client } of players) client.disconnect();
  reportGap(t, { gap }, 1500);
});
