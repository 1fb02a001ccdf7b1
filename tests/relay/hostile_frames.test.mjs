// WebSockets that send as much as they can of frames that are no datagrams, with honest players beside them.
import assert from 'node:assert/strict';
import test from 'node:test';
import { startCrowd } from './hostile_crowd.mjs';
import { startRig } from './hostile_rig.mjs';
import { request } from './packets.mjs';
import { patiently, sleep } from '../support/patience.mjs';
import { statsUntil } from '../support/relay.mjs';
import { handshake } from '../support/websocket.mjs';
import { openTcp } from '../support/tcp.mjs';
import { memoryOf } from '../support/programs.mjs';

const ATTACKERS = 6;

// The bytes that each attacker sends: more than the buffers between it and the relay hold.
const ENOUGH = 10 << 20;

const CONTINUATION = 0x00;
const FIRST_OF_BINARY = 0x02;
const FINAL = 0x80;
const [LENGTH_16, LENGTH_64] = [0x80 | 126, 0x80 | 127];
const PING = FINAL | 0x09;
const PONG = FINAL | 0x0a;

const frame = (first, size) =>
  Buffer.concat([Buffer.of(first, 0x80 | size), Buffer.alloc(4 + size, 0x55)]);

/** The first datagram of a session that the game server answers. */
const opener = (() => {
  const datagram = request();
  const size = Buffer.of(datagram.length >> 8, datagram.length & 0xff);
  return Buffer.concat([Buffer.of(FINAL | 2, LENGTH_16), size, Buffer.alloc(4), datagram]);
})();

/** Repeats a frame so often that a write is worth it. */
const run = (bytes) => Buffer.concat(Array(Math.ceil(65536 / bytes.length)).fill(bytes));

/** Opens a WebSocket that goes on sending `bytes` as fast as the relay takes them. */
async function flood(t, relay, localAddress, { begin = '', bytes, reads }) {
  const socket = openTcp(t, relay.port, { localAddress });
  const flow = { sent: 0, stop: () => socket.destroy() };
  socket.on('error', () => {});
  for (const step of [handshake, opener]) {
    socket.write(step);
    await patiently(new Promise((resolve) => socket.once('data', resolve)), 'a session');
  }
  if (reads) socket.resume();
  else socket.pause();
  const next = () => {
    if (socket.destroyed) return;
    flow.sent += bytes.length;
    socket.write(bytes, next);
  };
  socket.write(begin, next);
  return flow;
}

const floods = {
  'empty pings': { bytes: run(frame(PING, 0)), reads: true },
  'long pings': { bytes: run(frame(PING, 125)), reads: true },
  'pings whose answers are not read': { bytes: run(frame(PING, 125)), reads: false },
  'pongs that nobody asked for': { bytes: run(frame(PONG, 10)), reads: true },
  'a message in fragments without end': {
    begin: frame(FIRST_OF_BINARY, 0),
    bytes: run(frame(CONTINUATION, 0)),
    reads: true,
  },
};
for (const [name, each] of Object.entries(floods)) {
  test(`a flood of ${name}`, async (t) => {
    const rig = await startRig(t, { args: ['--request-timeout', '1000'] }); // or the flood would end soon
    const before = memoryOf(rig.relay.pid);
    const flows = [];
    for (let i = 0; i < ATTACKERS; i++)
      flows.push(await flood(t, rig.relay, `127.3.0.${1 + (i % 4)}`, each));
    const flooded = () => flows.every(({ sent }) => sent > ENOUGH);
    const newcomers = async () => {
      while (!flooded()) await rig.newcomer();
    };
    await patiently(newcomers(), 'the flood');
    const grown = memoryOf(rig.relay.pid) - before;
    if (!process.env.CAUSEWAY_SANITIZED) assert.ok(grown < 4096, `${grown} KB more memory`);
    flows.forEach(({ stop }) => stop());
    await statsUntil(rig.relay, ({ sessions_open }) => sessions_open === 10);
    const [tally] = await rig.check();
    t.diagnostic(`${flows.reduce((sum, { sent }) => sum + sent, 0)} bytes; ${tally.slowest} ms`);
  });
}

const DRIP_MS = 500;

/** Opens a WebSocket that sends `begin`, then `drop` again and again. */
const drip = (begin, drop) => (socket) => {
  socket.write(handshake);
  socket.once('data', () => {
    socket.write(begin);
    const timer = setInterval(() => socket.write(drop), DRIP_MS);
    socket.once('close', () => clearInterval(timer));
    socket.resume();
  });
};

const trickles = {
  'half a frame': drip(Buffer.of(0x82, LENGTH_16, 5, 0x78, 1, 2, 3, 4, 0xff), ''),
  'half a header': drip(Buffer.of(0x82, LENGTH_16, 5), ''),
  'a frame byte by byte': drip(Buffer.of(0x82, LENGTH_16, 5, 0x78, 1, 2, 3, 4), Buffer.of(0xff)),
  'a message by fragments of a byte': drip(frame(FIRST_OF_BINARY, 0), frame(CONTINUATION, 1)),
  'a frame of more bytes than there are': drip(
    Buffer.of(0x82, LENGTH_64, 0x7f, ...Array(7).fill(0xff), 1, 2, 3, 4, 0xff),
    Buffer.of(0xff),
  ),
};

test('messages that never end keep nobody waiting', async (t) => {
  const rig = await startRig(t);
  const count = 60;
  const crowds = Object.values(trickles).map((begin) =>
    startCrowd(t, rig.relay, { count, addresses: 6, perSecond: 100, begin }),
  );
  await Promise.all(crowds.map(({ reached }) => reached()));
  for (let i = 0; i < 20; i++) {
    await rig.newcomer();
    await sleep(DRIP_MS / 5);
  }
  crowds.forEach(({ stop }) => stop());
  await rig.check();
});
