// The honest players of a hostile rig, in a process of their own, so that an attacker who keeps the event loop busy
// does not hold them up. Messages say what they are to do; see hostile_rig.mjs.
import { Buffer } from 'node:buffer';
import { sleep } from '../support/patience.mjs';
import { inTime, startClock } from '../support/programs.mjs';
import { WebSocket } from '../support/websocket.mjs';

const DATAGRAM_SIZE = 120;
const PAYLOAD = 0x85; // the type of a payload, with a sequence number of eight bytes
const NUMBER_AT = 1;
const PLAYER_AT = 9;

// The datagrams that each player must have sent before a tally means anything.
const ENOUGH = 20;

// When nothing has come for so long, missing datagrams are lost.
const PATIENCE_MS = 5_000;

// Shorter than the ten seconds after which the relay itself ends idle connections: newcomers that had to wait for that
// end count as shut out. The time in which relay, server or players wait for a core does not count.
const NEWCOMER_MS = 8_000;

let config; // { port, processes, request }
const players = [];
const timers = [];

/** Opens a connection that carries datagrams: { send, close }. */
function openWebSocket(localAddress, received, closed) {
  const socket = new WebSocket(`ws://127.0.0.1:${config.port}/`, ['causeway.v1'], { localAddress });
  socket.on('message', received);
  socket.on('error', () => {});
  socket.on('close', (code) => closed(`closed with ${code}`));
  return new Promise((resolve, reject) => {
    socket.once('open', () =>
      resolve({ send: (data) => socket.send(data), close: () => socket.terminate() }),
    );
    socket.once('error', reject);
  });
}

/** Chromium's stack gives datagrams up, unsent, when acknowledgements are late by a second; this one sends all. */
async function openWebRtc(received, closed) {
  const { open, stacks } = await import('../support/rtc.mjs');
  const url = `http://127.0.0.1:${config.port}/`;
  const { channel, close } = await open(null, url, { stack: stacks[1] });
  channel.onmessage = ({ data }) => received(Buffer.from(data));
  channel.onclose = () => closed('closed');
  return { send: (data) => channel.send(data), close };
}

/** Adds a player whose connection request has come back from the server. */
async function enter(localAddress, rtc) {
  const index = players.length;
  const player = {
    sent: 0,
    received: 0,
    foreign: 0,
    slowest: 0,
    end: null,
    receivedAt: Date.now(),
  };
  const got = [];
  const sentAt = [];
  let prove;
  const proven = new Promise((resolve) => (prove = resolve));
  const received = (data) => {
    player.receivedAt = Date.now();
    if (data.length === config.request.length) return prove();
    const number = data.length === DATAGRAM_SIZE ? data.readUInt32LE(NUMBER_AT) : -1;
    if (data.readUInt32LE(PLAYER_AT) !== index || number >= player.sent || got[number])
      return void player.foreign++;
    got[number] = true;
    player.received++;
    player.slowest = Math.max(player.slowest, player.receivedAt - sentAt[number]);
  };
  const closed = (why) => (player.end ??= why);
  const link = rtc
    ? await openWebRtc(received, closed)
    : await openWebSocket(localAddress, received, closed);
  player.send = () => {
    if (player.end) return;
    const data = Buffer.alloc(DATAGRAM_SIZE);
    data[0] = PAYLOAD;
    sentAt[player.sent] = Date.now();
    data.writeUInt32LE(player.sent++, NUMBER_AT);
    data.writeUInt32LE(index, PLAYER_AT);
    link.send(data);
  };
  player.close = link.close;
  link.send(config.request);
  await proven;
  return player;
}

const commands = {
  async begin({ sessions, rtcSessions, hertz, ...rest }) {
    config = { ...rest, request: Buffer.from(rest.request, 'base64') };
    for (let i = 0; i < sessions + rtcSessions; i++)
      players.push(await enter(`127.1.0.${1 + i}`, i >= sessions));
    for (const player of players) timers.push(setInterval(player.send, 1000 / hertz));
  },
  /** Lets one more player come, send a datagram, get it back and go. */
  async newcomer({ localAddress, rtc }) {
    const clock = startClock(process.pid, ...config.processes);
    const visit = async () => {
      const player = await enter(localAddress, rtc);
      player.send();
      while (player.received === 0 && !player.end) await sleep(5);
      player.close();
      if (player.received === 0) throw new Error(player.end);
    };
    await inTime(visit(), NEWCOMER_MS, clock, () => 'an answer');
  },
  tally: () =>
    players.map(({ sent, received, foreign, slowest, end }) => ({
      ...{ sent, received, foreign, slowest, end },
    })),
  /** Stops sending when all have sent enough, and lets what is on its way arrive. */
  async stop() {
    while (players.some(({ sent, end }) => sent < ENOUGH && !end)) await sleep(20);
    timers.forEach(clearInterval);
    const began = Date.now();
    const waits = ({ sent, received, end, receivedAt }) =>
      received < sent && !end && Date.now() - Math.max(began, receivedAt) < PATIENCE_MS;
    while (players.some(waits)) await sleep(20);
    return commands.tally();
  },
  leave: () => players.forEach(({ close }) => close()),
};

process.on('message', async ({ id, name, values }) => {
  try {
    process.send({ id, value: await commands[name](values) });
  } catch (error) {
    process.send({ id, error: error.message || String(error) });
  }
});
process.on('disconnect', () => process.exit());
