// Sessions that the game server has not answered: they end soon, and newcomers take their places.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import net from 'node:net';
import { test } from 'node:test';
import * as rtc from '../support/rtc.mjs';
import { startCrowd } from './hostile_crowd.mjs';
import { startRig } from './hostile_rig.mjs';
import {
  CHALLENGE,
  CHALLENGE_SIZE,
  forged,
  KEEP_ALIVE,
  packet,
  PAYLOAD,
  request,
  RESPONSE,
} from './packets.mjs';
import { sleep, until } from '../support/patience.mjs';
import { pattern } from '../support/pattern.mjs';
import { assertStats, statsUntil } from '../support/relay.mjs';
import { startPlayed, startServed } from '../support/served.mjs';
import { binaryFrame, connect, handshake } from '../support/websocket.mjs';
import { own, repeat } from '../support/fixture.mjs';

// Seconds by which a timer may be early; it may be late by any time.
const SLACK = 0.2;

const silent = { code: 4001, reason: 'no request in time' };
const unanswered = { code: 4002, reason: 'the game server does not answer' };
const noRoom = { code: 1013, reason: 'try later' };

/** Resolves with how a session ends, and how many seconds after the time at which it had not begun yet. */
async function lifetime(client, began) {
  const how = await client.closed();
  return { how, seconds: (performance.now() - began) / 1000 };
}

for (const [args, least] of [
  [[], 5],
  [['--request-timeout', '1'], 1],
])
  test(`without a request a session ends after ${least} s (${args})`, async (t) => {
    const { relay } = await startServed(t, { gated: true, args });
    const began = performance.now();
    const quiet = await connect(t, relay);
    const noisy = await connect(t, relay);
    for (let i = 0; i < 7; i++) noisy.send(packet(PAYLOAD, 20)); // one packet fewer than ends the session at once
    for (const { how, seconds } of await Promise.all(
      [quiet, noisy].map((client) => lifetime(client, began)),
    )) {
      assert.deepEqual(how, silent);
      assert.ok(seconds > least - SLACK, `${seconds} s`);
    }
    assert.equal((await relay.stats()).sessions_ended_silent, 2);
  });

for (const [args, least] of [
  [[], 10],
  [['--answer-timeout', '1'], 1],
])
  test(`without an answer a session ends after ${least} s (${args})`, async (t) => {
    const { relay } = await startServed(t, { answer: () => null, gated: true, args });
    const began = performance.now();
    const client = await connect(t, relay);
    const opener = request();
    client.send(opener);
    repeat(t, () => client.send(opener), 100); // a repetition renews nothing
    const { how, seconds } = await lifetime(client, began);
    assert.deepEqual(how, unanswered);
    assert.ok(seconds > least - SLACK, `${seconds} s`);
    assert.equal((await relay.stats()).sessions_ended_unanswered, 1);
  });

test('a session that the game server has answered goes on', async (t) => {
  const { relay } = await startServed(t, {
    args: ['--request-timeout', '2', '--answer-timeout', '2', '--idle-timeout', '4'],
  });
  const began = performance.now();
  const client = await connect(t, relay);
  await client.echo(pattern(20));
  const { how, seconds } = await lifetime(client, began);
  assert.equal(how.code, 4000);
  assert.ok(seconds > 4 - SLACK, `${seconds} s`);
});

// A server answers a repeated request of a connected player with a challenge.
test('a challenge is no answer: it keeps no session and no place', async (t) => {
  const { relay } = await startServed(t, {
    answer: () => packet(CHALLENGE, CHALLENGE_SIZE),
    gated: true,
    args: ['--max-sessions', '2', '--answer-timeout', '4'],
  });
  const opener = request();
  const enter = async () => {
    const client = await connect(t, relay);
    client.send(opener);
    await client.received(1);
    repeat(t, () => client.send(opener), 100);
    return client;
  };
  const [first, second] = [await enter(), await enter()];
  const third = await enter();
  assert.deepEqual(await first.closed(), noRoom);
  for (const how of await Promise.all([second, third].map((client) => client.closed())))
    assert.deepEqual(how, unanswered);
});

// A client with one token can take its connection from session to session.
test('a session that the game server has left keeps no place', async (t) => {
  const left = new Set();
  const { server, relay } = await startServed(t, {
    answer: (data, { port }) =>
      left.has(port) ? packet(CHALLENGE, CHALLENGE_SIZE) : packet(KEEP_ALIVE, 8),
    gated: true,
    args: ['--max-sessions', '3', '--answer-timeout', '2'],
  });
  repeat(
    t,
    () => {
      for (const [port, address] of server.addresses)
        if (!left.has(port)) server.send(packet(KEEP_ALIVE, 8), address);
    },
    50,
  );
  const opener = request();
  const come = async () => {
    const client = await connect(t, relay);
    client.send(opener);
    const answered = once(client.socket, 'message').then(() => null);
    const refusal = await Promise.race([client.closed(), answered]);
    return { client, refusal, port: server.received.at(-1)?.port };
  };
  const comeInTheEnd = async () => {
    for (;;) {
      const { refusal } = await come();
      if (!refusal) return;
      assert.deepEqual(refusal, noRoom);
    }
  };

  const player = await come();
  // The server leaves the later one first.
  const [second, first] = [await come(), await come()];
  left.add(first.port);
  // Two words more to the other one make sure that the server has been silent to the first for longer.
  for (let i = 0; i < 2; i++) await once(second.client.socket, 'message');
  left.add(second.port);
  for (const { client } of [first, second]) repeat(t, () => client.send(opener), 100);
  // The relay learns of both at once, as on a busy machine.
  relay.kill('SIGSTOP');
  await sleep(2500);
  relay.kill('SIGCONT');
  await comeInTheEnd();
  assert.deepEqual(await first.client.closed(), noRoom);

  // A session to which the server speaks again keeps its place again.
  left.delete(second.port);
  // Challenges, which do not count, may still come first.
  const words = () =>
    second.client.messages.filter(({ data }) => (data[0] & 15) === KEEP_ALIVE).length;
  const before = words();
  await until('words of the server', () => words() >= before + 3);
  assert.deepEqual((await come()).refusal, noRoom);

  left.add(second.port);
  await comeInTheEnd();
  assert.deepEqual(await second.client.closed(), noRoom);
  assert.equal(player.client.socket.readyState, player.client.socket.OPEN);
  assert.equal((await relay.stats()).sessions_ended_evicted, 2);
});

test('what follows a challenge is an answer', async (t) => {
  const answer = (data) =>
    (data[0] & 15) === RESPONSE ? packet(KEEP_ALIVE, 8) : packet(CHALLENGE, CHALLENGE_SIZE);
  const { relay, client } = await startPlayed(t, {
    answer,
    gated: true,
    args: ['--max-sessions', '1', '--answer-timeout', '2', '--idle-timeout', '4'],
  });
  client.send(request());
  await client.received(1);
  const began = performance.now();
  client.send(packet(RESPONSE, CHALLENGE_SIZE));
  await client.received(2);
  assert.deepEqual(await (await connect(t, relay)).closed(), noRoom);
  const { how, seconds } = await lifetime(client, began);
  assert.equal(how.code, 4000);
  assert.ok(seconds > 4 - SLACK, `${seconds} s`);
});

/** Opens a channel, sends a datagram over it, and then nothing. */
async function openRtc(t, relay, datagram) {
  const { channel, closed } = await rtc.open(t, relay.url);
  if (datagram) channel.send(datagram);
  return { closed };
}

test('what holds for WebSockets holds for WebRTC', async (t) => {
  const { relay } = await startServed(t, {
    answer: () => null,
    args: ['--rtc', '127.0.0.1:0', '--request-timeout', '2', '--answer-timeout', '2'],
  });
  await (await openRtc(t, relay)).closed();
  await (await openRtc(t, relay, pattern(20))).closed();
  const stats = await statsUntil(relay, ({ sessions_open }) => sessions_open === 0);
  assertStats(stats, { sessions_ended_silent: 1, sessions_ended_unanswered: 1 });
});

test('when all places are taken, the oldest that was not answered makes room', async (t) => {
  const { relay } = await startServed(t, {
    answer: (data) => (data.length > 1 ? data : null),
    args: ['--max-sessions', '5', '--rtc', '127.0.0.1:0'],
  });
  const enter = async (...datagrams) => {
    const client = await connect(t, relay);
    datagrams.forEach(client.send);
    return client;
  };
  const quiet = await enter();
  const player = await enter(pattern(20));
  await player.received(1);
  const asking = await enter(pattern(1), pattern(1));
  const late = await enter();
  await openRtc(t, relay);
  await statsUntil(relay, ({ forwarded_datagrams }) => forwarded_datagrams === 3);
  const comers = [];
  for (const oldest of [quiet, asking, late]) {
    const others = [player, asking, late].filter((other) => other !== oldest);
    comers.push(await enter());
    assert.deepEqual(await oldest.closed(), noRoom);
    if (oldest === quiet) assert.ok(others.every(({ socket }) => socket.readyState === 1));
  }
  // the next to go is the session over WebRTC, then the first of those that came
  comers.push(await enter());
  assert.ok(comers.every(({ socket }) => socket.readyState === 1));
  comers.push(await enter());
  assert.deepEqual(await comers[0].closed(), noRoom);
  const stats = await statsUntil(relay, ({ sessions_open }) => sessions_open === 5);
  assertStats(stats, { sessions_ended_evicted: 5, sessions_refused_full: 0 });
  await relay.logged(/warn {2}session 1 ended for another: --max-sessions is reached/);

  // Sessions that the server answers keep their places.
  for (const client of comers.slice(1)) await client.echo(pattern(20));
  assert.deepEqual(await (await enter()).closed(), noRoom);
  assert.equal((await relay.stats()).sessions_refused_full, 1);
});

test('who opens session after session does not take the places of newcomers', async (t) => {
  const rig = await startRig(t, { sessions: 5, args: ['--max-sessions', '10'] });
  let going = true;
  own(t, () => (going = false));
  const open = (localAddress) => {
    if (!going) return;
    const socket = net.connect({ port: rig.relay.port, host: '127.0.0.1', localAddress });
    socket.on('error', () => {});
    socket.on('close', () => setImmediate(open, localAddress));
    socket.write(handshake);
    // The data after the handshake is the end.
    socket.once('data', () => socket.once('data', () => socket.destroy()));
  };
  for (const localAddress of ['127.3.0.1', '127.3.0.2'])
    for (let i = 0; i < 8; i++) open(localAddress);
  const { sessions_ended_evicted, sessions_refused_full } = await statsUntil(
    rig.relay,
    (stats) => stats.sessions_ended_evicted > 0 && stats.sessions_refused_full > 100,
  );
  t.diagnostic(`${sessions_ended_evicted} made room, ${sessions_refused_full} were refused`);
  for (let i = 0; i < 5; i++) await rig.newcomer();
  going = false;
  await rig.check();
});

test('those that are ending make room first', async (t) => {
  const { relay } = await startServed(t, { answer: () => null, args: ['--max-sessions', '5'] });
  // The clients send text, which ends a session, and never answer the close.
  const text = Buffer.from([0x81, 0x81, 0, 0, 0, 0, 0x61]);
  const begin = (socket) => socket.write(Buffer.concat([Buffer.from(handshake), text]));
  const oldest = await connect(t, relay);
  oldest.send(pattern(20));
  const crowd = startCrowd(t, relay, { count: 4, begin });
  await statsUntil(relay, ({ sessions_ended_text }) => sessions_ended_text === 4);
  for (let i = 0; i < 4; i++) await connect(t, relay);
  crowd.stop();
  assert.equal(oldest.socket.readyState, 1);
  assert.equal((await relay.stats()).sessions_ended_evicted, 0);
});

for (const [name, datagram] of Object.entries({
  'say nothing': null,
  'ask for what nobody signed': forged(request()),
}))
  test(`a thousand that ${name}, again and again, shut nobody out`, async (t) => {
    // On a slow machine the first would otherwise end before there are a thousand.
    const args = ['--request-timeout', '60', '--answer-timeout', '60'];
    const rig = await startRig(t, { rtcSessions: 2, args });
    const begin = (socket) => {
      socket.resume();
      socket.write(handshake);
      if (datagram) socket.write(binaryFrame(datagram));
    };
    const crowd = startCrowd(t, rig.relay, { count: 1000, addresses: 10, begin });
    await crowd.reached(1500);
    for (let i = 0; i < 4; i++) await rig.newcomer({ rtc: i % 2 === 1 });
    const stats = await rig.relay.stats();
    assert.ok(stats.sessions_ended_evicted > 0);
    crowd.stop();
    await rig.check();
  });
