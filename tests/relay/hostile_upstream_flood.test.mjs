// Browsers that send to the game server as fast as they can, with honest players beside them.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import net from 'node:net';
import test from 'node:test';
import { startRig } from './hostile_rig.mjs';
import { forged, packet, PAYLOAD, request } from './packets.mjs';
import { patiently, sleep, until } from '../support/patience.mjs';
import { pattern } from '../support/pattern.mjs';
import { statsUntil } from '../support/relay.mjs';
import { startPlayed, startServed } from '../support/served.mjs';
import { binaryFrame, connect, handshake } from '../support/websocket.mjs';
import { openTcp } from '../support/tcp.mjs';

const FLOODERS = 5;
const PLAYERS = 20;
const SERVER_WORK = 15; // microseconds that each datagram keeps the server busy
const HERTZ = 20;

// The relay's limits, by default and before the server's first answer.
const PACKETS_PER_SECOND = 1500;
const BURST_SECONDS = 0.25;
const UNANSWERED = 20;
const UNANSWERED_PER_SECOND = 2;

/** Opens a WebSocket that begins with `opener` and then sends `datagram` as fast as TCP takes it. */
async function flood(t, relay, localAddress, opener, datagram) {
  const socket = openTcp(t, relay.port, { localAddress });
  socket.write(handshake);
  await patiently(once(socket, 'data'), 'the handshake');
  socket.resume();
  socket.write(binaryFrame(opener));
  const chunk = Buffer.concat(Array(200).fill(binaryFrame(datagram)));
  const more = () => {
    while (!socket.destroyed && socket.write(chunk));
  };
  socket.on('drain', more);
  more();
  return socket;
}

/**
 * Floods until every player has sent enough beside it; returns the share that the players lost. Datagrams that the
 * server's own socket lost are left out: on a busy machine the server gets no turn to read them. A relay that lets a
 * flood through is seen by the number of datagrams.
 */
async function lossBeside(t, mark) {
  const rig = await startRig(t, { sessions: PLAYERS, hertz: HERTZ, serverWork: SERVER_WORK });
  const began = performance.now();
  const sockets = [];
  for (let i = 0; i < FLOODERS; i++)
    sockets.push(
      await flood(t, rig.relay, `127.3.0.${1 + i}`, mark(request()), mark(packet(PAYLOAD, 50))),
    );
  const before = await rig.relay.stats();
  const enough = (await rig.tally())[0].sent + 5 * HERTZ;
  const haveSent = async () => (await rig.tally()).every(({ sent }) => sent >= enough);
  await until('what the players send', haveSent, 100);
  const after = await rig.relay.stats();
  const seconds = (performance.now() - began) / 1000;
  const tally = await rig.stop();
  assert.ok(tally.every(({ end, foreign }) => end === null && foreign === 0));
  const sum = (name) => tally.reduce((total, each) => total + each[name], 0);
  const flooded = after.client_datagrams - before.client_datagrams;
  const dropped = after.dropped_unanswered + after.dropped_upstream_rate;
  const lost = Math.max(0, sum('sent') - sum('received') - rig.lostByServer());
  const loss = lost / sum('sent');
  t.diagnostic(`${flooded} datagrams, of players ${sum('sent')}; honest loss ${100 * loss} %`);
  assert.ok(dropped > 0 && sockets.every((socket) => !socket.destroyed), 'it was a flood');
  // Most of the flood waits in TCP: reading only to drop it would take the time of the others.
  assert.ok(sockets.every(({ writableNeedDrain }) => writableNeedDrain));
  const most = FLOODERS * 5 * PACKETS_PER_SECOND * seconds;
  assert.ok(flooded < most, `${flooded} datagrams were read in ${seconds} s`);
  return { rig, loss };
}

test('who sends requests that nobody signed takes nothing from the players', async (t) => {
  const { rig, loss } = await lossBeside(t, forged);
  assert.ok(loss <= 0.01, `${loss}`);
  await rig.newcomer();
});

test('nor does who has been let in by the game server', async (t) => {
  // A server that the system does not run for a while loses datagrams without any flood.
  for (let tries = 1; tries <= 3; tries++) {
    const { loss } = await lossBeside(t, (datagram) => datagram);
    if (loss <= 0.01) return;
  }
  assert.fail('honest players lost more than one in a hundred, three times');
});

test('before the first answer twenty datagrams pass, then two a second', async (t) => {
  let answers = false;
  const { relay, client } = await startPlayed(t, {
    answer: (data) => answers && data,
    args: ['--idle-timeout', '0'],
  });
  const began = performance.now();
  for (let i = 0; i < 300; i++) client.send(pattern(20, i));
  const { forwarded_datagrams, dropped_unanswered } = await statsUntil(
    relay,
    ({ client_datagrams }) => client_datagrams === 300,
  );
  const seconds = (performance.now() - began) / 1000;
  assert.equal(forwarded_datagrams + dropped_unanswered, 300);
  assert.ok(forwarded_datagrams >= UNANSWERED);
  assert.ok(forwarded_datagrams <= UNANSWERED + UNANSWERED_PER_SECOND * seconds);

  // A client that goes on asking, as netcode's does, is heard when the server is there.
  answers = true;
  while (client.messages.length === 0) {
    client.send(pattern(20));
    await sleep(100);
  }
  const echoed = client.messages.length;
  // A socket keeps no more at once for a machine that is slow to read it.
  const atOnce = 50;
  for (let i = 0; i < 300; i++) {
    client.send(pattern(20, i));
    if ((i + 1) % atOnce === 0) await client.received(echoed + i + 1);
  }
  assert.equal((await relay.stats()).dropped_upstream_rate, 0);
});

test('an address gains nothing by opening session after session', async (t) => {
  const atATime = 3;
  const { relay } = await startServed(t, {
    answer: () => null,
    args: ['--max-sessions-per-address', String(atATime)],
  });
  const session = Buffer.concat([
    ...Array(UNANSWERED).fill(binaryFrame(pattern(20))),
    Buffer.of(0x88, 0x80, 0, 0, 0, 0), // a close frame
  ]);
  const began = performance.now();
  const most = () =>
    atATime * (UNANSWERED + (UNANSWERED_PER_SECOND * (performance.now() - began)) / 1000);
  let sent = 0;
  for (; sent < 4 * most(); sent += UNANSWERED) {
    const socket = net.connect({ port: relay.port, host: '127.0.0.1', localAddress: '127.3.0.1' });
    socket.write(handshake);
    await patiently(once(socket, 'data'), 'the handshake');
    socket.resume();
    socket.write(session);
    await patiently(once(socket, 'close'), 'the end of a session');
  }
  const stats = await relay.stats();
  assert.equal(stats.client_datagrams, sent);
  assert.equal(stats.forwarded_datagrams + stats.dropped_unanswered, sent);
  assert.ok(stats.forwarded_datagrams >= atATime * UNANSWERED - 1);
  assert.ok(stats.forwarded_datagrams <= most(), `${stats.forwarded_datagrams} of ${sent}`);

  // Other addresses do not pay for the flood.
  const client = await connect(t, relay, { localAddress: '127.3.0.2' });
  for (let i = 0; i < UNANSWERED; i++) client.send(pattern(20, i));
  const after = await statsUntil(
    relay,
    ({ client_datagrams }) => client_datagrams === sent + UNANSWERED,
  );
  assert.equal(after.dropped_unanswered, stats.dropped_unanswered);
});

/** Has a session answered, then sends it so many datagrams at once; returns the counters after that. */
async function burst(t, { args = [], count, size }) {
  const { relay, client } = await startPlayed(t, {
    answer: (data) => (data.length === 1 ? data : null),
    args,
  });
  await client.echo(pattern(1));
  const began = performance.now();
  for (let i = 0; i < count; i++) client.send(pattern(size, i));
  const stats = await statsUntil(relay, ({ client_datagrams }) => client_datagrams === count + 1);
  const seconds = (performance.now() - began) / 1000;
  assert.equal(stats.dropped_unanswered, 0);
  assert.equal(stats.forwarded_datagrams + stats.dropped_upstream_rate, count + 1);
  return { passed: stats.forwarded_datagrams - 1, seconds, relay };
}

const limits = {
  'by default': { args: [], size: 20, most: PACKETS_PER_SECOND },
  'by --upstream-packets': { args: ['--upstream-packets', '400'], size: 20, most: 400 },
  'by default in bytes': { args: ['--upstream-packets', '0'], size: 1400, most: 2_000_000 / 1400 },
  'by --upstream-bytes': { args: ['--upstream-bytes', '100000'], size: 1000, most: 100 },
};
for (const [name, { args, size, most }] of Object.entries(limits)) {
  test(`a session is held to a rate ${name}, and some may come at once`, async (t) => {
    const count = Math.floor(2 * most);
    const { passed, seconds, relay } = await burst(t, { args, size, count });
    assert.ok(passed >= Math.floor(most * BURST_SECONDS) - 1, `${passed} passed`);
    assert.ok(passed <= most * (BURST_SECONDS + seconds) + 1, `${passed} in ${seconds} s`);
    await relay.logged(/warn {2}session 1 sends more than --upstream-packets or --upstream-bytes/);
  });
}

test('0 is no limit', async (t) => {
  const args = ['--upstream-packets', '0', '--upstream-bytes', '0'];
  const { passed } = await burst(t, { args, size: 1400, count: 4000 });
  assert.equal(passed, 4000);
});

test('a rate below a datagram still lets one pass', async (t) => {
  const args = ['--upstream-packets', '1', '--upstream-bytes', '1'];
  const { passed } = await burst(t, { args, size: 1400, count: 1 });
  assert.equal(passed, 1);
});
