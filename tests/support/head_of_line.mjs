// Measures round trips over WebRTC and over a WebSocket, side by side, behind a link with 100 ms RTT:
// first without loss, then with 5 % in either direction. Prints the percentiles as JSON. With an
// argument it is the far side: the client. Runs under "unshare -Urn".
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { SEED } from './random.mjs';
import { startRelay } from './relay.mjs';
import { open } from './rtc.mjs';
import { startUdpServer } from './udp_server.mjs';

const DELAY = 50; // milliseconds each way
const LOSS = 5; // percent each way
const RATE = 60; // datagrams a second
const SECONDS = { clean: 3, lossy: 15 };

async function near() {
  const { near: address, startLossyPath } = await import('./lossy_path.mjs');
  const path = await startLossyPath({ delay: DELAY, seed: SEED });
  const { upstream } = await startUdpServer(null);
  const listen = `${address}:0`;
  const relay = await startRelay(null, { upstream, listen, args: ['--rtc', address] });
  const client = path.start(fileURLToPath(import.meta.url), relay.url);
  const lines = createInterface(client.stdout);
  client.on('exit', (code) => code && process.exit(code));
  await once(lines, 'line');
  await path.lose(LOSS);
  client.stdin.write('lossy\n');
  const [result] = await once(lines, 'line');
  await once(client, 'exit');
  path.stop();
  console.log(result);
  process.exit(0);
}

const percentile = (sorted, share) =>
  sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))];

/** Sends on all ways at once; returns the sorted times of what came back, per way. */
async function measure(ways, seconds) {
  const times = Object.fromEntries(Object.keys(ways).map((name) => [name, []]));
  const sent = new Map();
  for (const [name, way] of Object.entries(ways))
    way.ondatagram = (data) => times[name].push(performance.now() - sent.get(data.readUInt32LE(0)));
  const begun = performance.now();
  let number = 0;
  while (performance.now() - begun < seconds * 1000) {
    const data = Buffer.alloc(100);
    data.writeUInt32LE(number, 0);
    sent.set(number++, performance.now());
    for (const way of Object.values(ways)) way.send(data);
    const left = begun + (number * 1000) / RATE - performance.now();
    await new Promise((resolve) => setTimeout(resolve, Math.max(0, left)));
  }
  await new Promise((resolve) => setTimeout(resolve, 2000));
  const result = {};
  for (const [name, each] of Object.entries(times)) {
    each.sort((a, b) => a - b);
    result[name] = {
      delivered: each.length / number,
      median: percentile(each, 0.5),
      p99: percentile(each, 0.99),
    };
  }
  return result;
}

async function far(url) {
  const { require } = await import('./packages.mjs');
  const { WebSocket } = require('ws');
  const connection = await open(null, url);
  const socket = new WebSocket(url.replace('http', 'ws'), 'causeway.v1');
  await once(socket, 'open');
  const webrtc = { send: (data) => connection.channel.send(data) };
  const websocket = { send: (data) => socket.send(data) };
  connection.channel.onmessage = ({ data }) => webrtc.ondatagram(Buffer.from(data));
  socket.on('message', (data) => websocket.ondatagram(data));

  const clean = await measure({ webrtc, websocket }, SECONDS.clean);
  console.log('clean');
  await once(createInterface(process.stdin), 'line');
  const lossy = await measure({ webrtc, websocket }, SECONDS.lossy);
  console.log(JSON.stringify({ rtt: 2 * DELAY, seed: SEED, clean, lossy }));
  process.exit(0);
}

await (process.argv[2] ? far(process.argv[2]) : near());
