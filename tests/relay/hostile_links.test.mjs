// Strangers with session keys: they name them, guess them, and open links without end.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startCrowd } from './hostile_crowd.mjs';
import { idle, startRig } from './hostile_rig.mjs';
import { ask, connectAs, newKey, PROTOCOL, protocolsOf } from './links.mjs';
import { forged, request } from './packets.mjs';
import { assertStats, assertAddsUp, statsUntil } from '../support/relay.mjs';
import { startServed } from '../support/served.mjs';
import { binaryFrame, handshake } from '../support/websocket.mjs';
import { repeat } from '../support/fixture.mjs';
import { memoryOf } from '../support/programs.mjs';

const MEGABYTE = 1024;

// The first byte of a close frame; no handshake has it.
const CLOSE = 0x88;

/** Returns the handshake that names the session with this key. */
const named = (key) => handshake.replace(PROTOCOL, protocolsOf(key).join(', '));

for (const [what, nextKey] of [
  ['a key each', newKey],
  [
    'one key',
    (
      (key) => () =>
        key
    )(newKey()),
  ],
])
  test(`a thousand that name ${what}, again and again, shut nobody out`, async (t) => {
    const rig = await startRig(t, { rtcSessions: 2 });
    const datagram = binaryFrame(forged(request()));
    const begin = (socket) => {
      socket.resume();
      socket.write(named(nextKey()));
      socket.write(datagram);
    };
    const crowd = startCrowd(t, rig.relay, { count: 1000, addresses: 10, begin });
    await crowd.reached(1500);
    for (let i = 0; i < 4; i++) await rig.newcomer({ rtc: i % 2 === 1 });
    const stats = await rig.relay.stats();
    assert.equal(stats.sessions_refused_full, 0);
    assert.equal(
      stats.sessions_unlinked,
      0,
      'nobody whom the server has not answered is waited for',
    );
    crowd.stop();
    await rig.check();
  });

// The first of the strangers may take a player's place. The later ones take his.
for (const [what, places, lost] of [
  ['', 50, 0],
  [' who fill the relay', 20, 1],
])
  test(`strangers do not end the sessions of players on their way back${what}`, async (t) => {
    const { server, relay } = await startServed(t, {
      answer: (data) => (data.length < 100 ? data : null),
      args: ['--max-sessions', String(places), '--resume-seconds', '1000'],
    });
    const players = Array.from({ length: 20 }, (_, i) => ({ key: newKey(), name: `player ${i}` }));
    const enter = ({ key }, i) => connectAs(t, relay, key, { localAddress: `127.2.0.${1 + i}` });
    for (const [i, player] of players.entries()) {
      player.link = await enter(player, i);
      player.port = await ask(server, player.link, player.name);
    }
    for (const { link } of players) link.socket.terminate();
    await statsUntil(relay, ({ sessions_unlinked }) => sessions_unlinked === players.length);
    const datagram = binaryFrame(forged(request()));
    const begin = (socket) => {
      socket.write(named(newKey()));
      socket.write(datagram);
      socket.on('data', (data) => data.includes(CLOSE) && socket.destroy());
    };
    const crowd = startCrowd(t, relay, { count: 200, addresses: 20, begin });
    await crowd.reached(600);
    let back = 0;
    for (const [i, player] of players.entries())
      back += (await ask(server, await enter(player, i), `${i} is back`)) === player.port;
    crowd.stop();
    const stats = await statsUntil(relay, ({ sessions_open }) => sessions_open === players.length);
    assert.ok(stats.sessions_ended_evicted > lost);
    assert.equal(stats.sessions_resumed, players.length - lost);
    assert.equal(back, players.length - lost);
  });

test('a guessed key finds nothing, however close it is', async (t) => {
  const { server, relay } = await startServed(t);
  const key = newKey();
  const player = await connectAs(t, relay, key, { localAddress: '127.2.0.1' });
  const port = await ask(server, player, 'hello');
  const letters = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';
  const guesses = [...key].flatMap((letter, at) =>
    [...letters]
      .filter((other) => other !== letter)
      .slice(0, 20)
      .map((other) => key.slice(0, at) + other + key.slice(at + 1)),
  );
  for (const [i, guess] of guesses.entries()) {
    const stranger = await connectAs(t, relay, guess, { localAddress: `127.3.0.${1 + (i % 20)}` });
    if (i % 20 === 0) assert.notEqual(await ask(server, stranger, `guess ${i}`), port);
    stranger.close(1000);
  }
  assert.equal(await ask(server, player, 'still here'), port);
  assertStats(await relay.stats(), { sessions_opened: 1 + guesses.length, links_joined: 0 });
});

test('what the game server says comes at most once, however many links come', async (t) => {
  const { server, relay } = await startServed(t);
  const key = newKey();
  let link = await connectAs(t, relay, key);
  const port = await ask(server, link, 'hello');
  const links = [link];
  let said = 0;
  const timer = repeat(
    t,
    () => {
      for (let i = 0; i < 5; i++) server.send(Buffer.from(`${said++}`), server.addresses.get(port));
    },
    5,
  );
  for (let i = 0; i < 100; i++) {
    link = await connectAs(t, relay, key);
    links.push(link);
    // Some links die, some are replaced.
    if (i % 3 === 0) link.socket.terminate();
  }
  clearInterval(timer);
  await statsUntil(relay, ({ upstream_datagrams }) => upstream_datagrams === said + 1);
  link = await connectAs(t, relay, key);
  links.push(link);
  assert.equal(await ask(server, link, 'the last'), port);
  const { delivered_datagrams } = await statsUntil(
    relay,
    (stats) => stats.upstream_datagrams === said + 2,
  );
  const received = links.flatMap(({ messages }) => messages.map(({ data }) => data.toString()));
  assert.equal(new Set(received).size, received.length);
  assert.ok(received.length <= delivered_datagrams);
  const stats = await relay.stats();
  assert.equal(stats.sessions_opened, 1);
  assertAddsUp(stats);
});

test('links that come and go leave no memory behind', async (t) => {
  // A busy machine takes more than a second to bring all of them back.
  const { server, relay } = await startServed(t, { args: ['--resume-seconds', '5'] });
  /** Plays sessions that are resumed three times, some of them for nothing, and then wait in vain. */
  const round = async (turn) => {
    const player = async (i) => {
      const key = newKey();
      const localAddress = `127.3.0.${1 + i}`;
      let port;
      for (let life = 0; life < 3; life++) {
        const link = await connectAs(t, relay, key, { localAddress });
        const from = await ask(server, link, `${turn} ${i} ${life}`);
        assert.equal(from, (port ??= from));
        link.socket.terminate();
        await link.closed();
      }
    };
    await Promise.all(Array.from({ length: 50 }, (_, i) => player(i)));
  };
  for (let turn = 0; turn < 5; turn++) await round(turn);
  await statsUntil(relay, ({ sessions_open }) => sessions_open === 0);
  const before = memoryOf(relay.pid);
  for (let turn = 5; turn < 25; turn++) await round(turn);
  const stats = await statsUntil(relay, ({ sessions_open }) => sessions_open === 0);
  assertStats(stats, { sessions_opened: 25 * 50, sessions_ended_unlinked: 25 * 50 });
  assertAddsUp(stats);
  const grown = memoryOf(relay.pid) - before;
  assert.ok(process.env.CAUSEWAY_SANITIZED || grown < MEGABYTE, `${grown} kB more`);
  await idle(relay);
});
