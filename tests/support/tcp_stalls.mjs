// Measures what loss on the way does to datagrams over one WebSocket, over one that opens others beside it when it
// stalls, and over WebRTC: one after the other behind a link with 100 ms RTT, 60 datagrams of 100 bytes a second each way.
// Prints for each the delays in one direction and the bytes on the link, as JSON. With an argument it is the far
// side: the client. Runs under "unshare -Urn".
//
// `later` is the loss in the time that counts, unless it is the same as before, when stalls are seen and WebSockets opened.
//
//   tcp_stalls.mjs '{"loss":3,"later":0,"seconds":30,"ways":["one","several","webrtc"]}'
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { SEED } from './random.mjs';
import { startRelay } from './relay.mjs';
import { startUdpServer } from './udp_server.mjs';

const DELAY = 50; // milliseconds each way
const RATE = 60; // datagrams a second
const SIZE = 100;
/** Seconds before the first datagram that counts: those in which stalls are seen and WebSockets opened. */
const WARM_UP = 6;
const DRAIN = 2;

/** Milliseconds of a clock that all processes of this machine share. */
const now = () => Number(process.hrtime.bigint()) / 1e6;

/** Returns a datagram that says which it is and when it left. */
function stamped(number) {
  const data = Buffer.alloc(SIZE, 1);
  data.writeUInt32LE(number, 0);
  data.writeDoubleLE(now(), 4);
  return data;
}

/** Takes datagrams, and keeps the delay of each that comes for the first time. */
class Receiver {
  delays = [];
  #seen = new Set();

  take(data) {
    const number = data.readUInt32LE(0);
    if (this.#seen.has(number)) return;
    this.#seen.add(number);
    if (number >= WARM_UP * RATE) this.delays.push(now() - data.readDoubleLE(4));
  }
}

/** Sends for so many seconds. */
async function send(seconds, put) {
  const begun = now();
  for (let number = 0; number < seconds * RATE; number++) {
    put(stamped(number));
    const left = begun + ((number + 1) * 1000) / RATE - now();
    await new Promise((resolve) => setTimeout(resolve, Math.max(0, left)));
  }
}

const bytesOn = (device) => {
  const line = readFileSync('/proc/net/dev', 'utf8').match(new RegExp(`${device}:(.*)`))[1];
  const figures = line.trim().split(/\s+/).map(Number);
  return figures[0] + figures[8];
};

const quantile = (sorted, share) =>
  sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))];

async function near({ loss, later = loss, seconds, ways }) {
  const { near: address, startLossyPath } = await import('./lossy_path.mjs');
  const path = await startLossyPath({ delay: DELAY, seed: SEED });
  const results = {};
  for (const way of ways) {
    await path.lose(0);
    const receiver = new Receiver();
    const server = await startUdpServer(null, {
      answer: (data) => (data.length === SIZE ? receiver.take(data) : data),
    });
    const args = ['--rtc', address, '--max-sessions-per-address', way === 'one' ? '1' : '16'];
    const relay = await startRelay(null, {
      upstream: server.upstream,
      listen: `${address}:0`,
      args,
    });
    const client = path.start(fileURLToPath(import.meta.url), relay.url, way, String(seconds));
    client.on('exit', (code) => code && process.exit(code));
    const lines = createInterface(client.stdout);
    await once(lines, 'line');
    await path.lose(loss);
    client.stdin.write('go\n');
    const [to] = server.addresses.values();
    setTimeout(async () => {
      await path.lose(later);
      results.before = bytesOn('cw0');
    }, WARM_UP * 1000);
    const sent = send(seconds + WARM_UP, (data) => server.send(data, to));
    const [line] = await once(lines, 'line');
    await sent;
    const stats = await relay.stats();
    const delays = [...receiver.delays, ...JSON.parse(line)].sort((a, b) => a - b);
    results[way] = {
      delivered: delays.length / (2 * seconds * RATE),
      median: quantile(delays, 0.5),
      p90: quantile(delays, 0.9),
      p99: quantile(delays, 0.99),
      bytes: bytesOn('cw0') - results.before,
      subflows: stats.links_joined,
      again: stats.subflow_datagrams,
    };
    client.kill();
    await relay.stop?.();
  }
  delete results.before;
  path.stop();
  console.log(JSON.stringify({ rtt: 2 * DELAY, seed: SEED, loss: later, ...results }));
  process.exit(0);
}

async function openWay(way, url) {
  if (way === 'webrtc') {
    const { open } = await import('./rtc.mjs');
    const { channel } = await open(null, url);
    return {
      send: (data) => channel.send(data),
      listen: (take) => (channel.onmessage = ({ data }) => take(Buffer.from(data))),
    };
  }
  const { require } = await import('./packages.mjs');
  const { openTransport } = await import('../../web/dist/core/index.js');
  const { WebSocket } = require('ws');
  const transport = await openTransport(url, { transports: ['websocket'], WebSocket });
  return {
    send: (data) => transport.send(data),
    listen: (take) => (transport.ondatagram = (data) => take(Buffer.from(data))),
  };
}

async function far(url, way, seconds) {
  const { send: put, listen } = await openWay(way, url);
  const receiver = new Receiver();
  const answered = new Promise((resolve) =>
    listen((data) => (data.length === SIZE ? receiver.take(data) : resolve())),
  );
  put(Buffer.from('hello'));
  await answered;
  console.log('open');
  await once(createInterface(process.stdin), 'line');
  await send(Number(seconds) + WARM_UP, put);
  await new Promise((resolve) => setTimeout(resolve, DRAIN * 1000));
  console.log(JSON.stringify(receiver.delays));
}

await (process.argv[3] ? far(...process.argv.slice(2)) : near(JSON.parse(process.argv[2])));
