// Many clients at once, and a program that does not look after its server for a while.
import assert from 'node:assert/strict';
import { fork } from 'node:child_process';
import { createSocket } from 'node:dgram';
import { EventEmitter } from 'node:events';
import { test } from 'node:test';
import { MAX_PLAYERS } from '../support/chat_schema.mjs';
import { nextEvent, startServer } from '../support/node_server.mjs';
import { startOneProcess } from '../support/one_process.mjs';
import { next, until } from '../support/patience.mjs';
import { own } from '../support/fixture.mjs';

/** Starts `count` bots in a process of their own; each of them waits for `worlds` worlds. */
async function startBots(t, server, { count, worlds, timeoutSeconds, hertz = 60, url }) {
  const tokens = [];
  for (let i = 1; i <= count; i++) {
    const token = await server.generateConnectToken({ clientId: BigInt(i), timeoutSeconds });
    tokens.push(Buffer.from(token).toString('base64'));
  }
  const bots = fork(new URL('../support/bots.mjs', import.meta.url));
  own(t, () => bots.kill('SIGKILL'));
  const events = new EventEmitter();
  const ended = [];
  bots.on('message', ({ type, reason }) => {
    if (type === 'ended') ended.push(reason);
    events.emit(type);
  });
  const [connected, served] = [next(events, 'connected'), next(events, 'served')];
  served.catch(() => {});
  bots.send({ tokens, worlds, hertz, url });
  await connected;
  return { served, ended };
}

/**
 * Plays a game: every tick, the server sends all clients the places of all of them. Returns what each client has said.
 */
function play(server) {
  const said = new Map();
  const places = new Map();
  server.addEventListener('connect', ({ client }) => {
    said.set(client.id, []);
    client.addEventListener('message', ({ message: { type, value } }) => {
      if (type === 'say') said.get(client.id).push(value.text);
      else if (client.slot < MAX_PLAYERS) places.set(client.slot, value);
    });
  });
  server.addEventListener('tick', () => {
    const players = [...places.keys()];
    const [xs, ys] = ['x', 'y'].map((axis) => players.map((slot) => places.get(slot)[axis]));
    server.broadcast(1, 'world', { players, xs, ys });
  });
  return said;
}

const numbers = Array.from({ length: 50 }, (_, i) => `${i}`);

/** On a busy machine a process may not run for seconds; nobody times out by that. */
const PATIENT = { timeoutSeconds: 120 };

/** Resolves when each client has said all. */
function allSaid(said, ended) {
  const missing = () => [...said].filter(([, texts]) => texts.length !== numbers.length);
  const state = () =>
    `the words of ${missing().map(([id, texts]) => `${id} (${texts.length})`)}; ended: ${ended}`;
  return until(state, () => missing().length === 0);
}

/** Measures what so many clients cost that send and get so many datagrams a second each. */
async function measure(t, server, { name, count, worlds, hertz, url }) {
  const said = play(server);
  const bots = { count, worlds, hertz, url, ...PATIENT };
  const { served, ended } = await startBots(t, server, bots);
  const [before, began, cpuBefore] = [server.stats(), performance.now(), process.cpuUsage()];
  await served;
  const { user, system } = process.cpuUsage(cpuBefore);
  const { datagramsReceived, datagramsSent } = server.stats();
  const cpu = (user + system) / 1e6;
  const datagrams =
    datagramsReceived - before.datagramsReceived + datagramsSent - before.datagramsSent;
  const ratio = (cpu / datagrams) * (2 * count * hertz);
  t.diagnostic(
    `${name} ${ratio.toFixed(2)} of one core, for ${hertz} datagrams a second each way; measured ` +
      `with ${(datagrams / (performance.now() - began)).toFixed(1)} in a millisecond`,
  );
  await allSaid(said, ended);
  assert.equal(said.size, count);
  for (const texts of said.values()) assert.deepEqual(texts, numbers);
  assert.deepEqual(ended, []);
  assert.equal(server.clients.size, count);
}

test('64 clients play at 60 Hz', async (t) => {
  const server = await startServer(t);
  const name = 'node_server.clients_64_cpu_ratio';
  await measure(t, server, { name, count: 64, worlds: 180, hertz: 60 });
  assert.deepEqual(server.stats().socket, { sendErrors: 0, droppedBacklog: 0 });
});

test('200 pages play at 20 Hz, over WebSocket', async (t) => {
  const limits = { maxClients: 200, maxSessionsPerAddress: 200, ticksPerSecond: 20 };
  const { server, url } = await startOneProcess(t, limits);
  const name = 'node_server.pages_200_cpu_ratio';
  await measure(t, server, { name, count: 200, worlds: 60, hertz: 20, url });
  const { droppedReceived, refusedFull } = server.stats().browsers;
  assert.deepEqual([droppedReceived, refusedFull], [0, 0]);
});

const busy = (milliseconds) =>
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, milliseconds);

test('no client is lost by a pause of the program', async (t) => {
  const server = await startServer(t);
  const said = play(server);
  const { served, ended } = await startBots(t, server, {
    count: 16,
    worlds: 60,
    timeoutSeconds: 3,
  });
  busy(1500);
  await served;
  await allSaid(said, ended);
  for (const texts of said.values()) assert.deepEqual(texts, numbers);
  assert.deepEqual(ended, []);
  assert.equal(server.clients.size, 16);
});

test('what has arrived during a pause is read before the next tick', async (t) => {
  const server = await startServer(t);
  const socket = createSocket('udp4');
  own(t, () => socket.close());
  await new Promise((resolve) => socket.connect(server.port, '127.0.0.1', resolve));
  await nextEvent(server, 'tick');
  for (let i = 0; i < 100; i++) socket.send(Buffer.from([9]));
  busy(100);
  await nextEvent(server, 'tick');
  assert.equal(server.stats().datagramsReceived, 100);
});
