// Compares the relay with nginx and HAProxy as plain WebSocket proxies: 500 netcode sessions, whose clients send 20
// datagrams a second. They stand in front of the relay, so in one run both carry the same messages: the proxy from
// WebSocket to WebSocket, the relay from WebSocket to UDP, with a check of each packet. A figure is the processor time of
// the relay relative to the proxy's.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';

const build = path.resolve(process.env.CAUSEWAY_BUILD ?? 'build/release');
process.env.CAUSEWAY_RELAY = `${build}/relay/causeway-relay`;
const { freePort } = await import('../support/free_port.mjs');
const { until } = await import('../support/patience.mjs');
const { lineOf, runProgram, startProgram } = await import('../support/programs.mjs');
const { startRelay } = await import('../support/relay.mjs');

const PLAYERS = 500;
const HZ = 20;
const KEY = '11'.repeat(32);
const PROTOCOL = '7';
const SECONDS = 20;
/** The kernel counts processor time in ticks of a hundredth of a second. */
const TICK = 0.01;

const folder = mkdtempSync(path.join(tmpdir(), 'causeway-'));
const key = path.join(folder, 'key');
writeFileSync(key, KEY);
/** Each is one process with one thread. */
const proxies = {
  nginx: {
    arguments: (file) => ['-p', folder, '-e', 'stderr', '-c', file],
    configure: (port, to) => `
      daemon off;
      master_process off;
      pid ${folder}/pid;
      events { worker_connections 4096; }
      http {
        access_log off;
        ${['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi']
          .map((kind) => `${kind}_temp_path ${folder}/${kind};`)
          .join(' ')}
        server {
          listen 127.0.0.1:${port} backlog=1024;
          location / {
            proxy_pass http://127.0.0.1:${to};
            proxy_http_version 1.1;
            proxy_set_header Host $http_host;
            proxy_set_header Upgrade $http_upgrade;
            proxy_set_header Connection upgrade;
          }
        }
      }
    `,
  },
  haproxy: {
    arguments: (file) => ['-db', '-f', file],
    configure: (port, to) => `
      global
        nbthread 1
      defaults
        mode http
        timeout connect 2s
        timeout client 1m
        timeout server 1m
        timeout tunnel 1m
      frontend players
        bind 127.0.0.1:${port}
        default_backend relay
      backend relay
        server relay 127.0.0.1:${to}
    `,
  },
};

/** Returns the processor time of a process so far, in seconds. */
function processorTime(pid) {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1].split(' ');
  return (Number(fields[11]) + Number(fields[12])) * TICK;
}

/** Plays through a program, and returns the processor time of it and of the relay for each datagram, in us. */
async function measure(program) {
  const ends = [];
  const t = { after: (end) => ends.unshift(end), diagnostic() {} };
  try {
    const server = startProgram(
      t,
      `${build}/tests/relay/test_netcode_server`,
      ['127.0.0.1:0', PROTOCOL, String(2 * PLAYERS)],
      { env: { CAUSEWAY_KEY: KEY } },
    );
    const [, upstream] = await lineOf(server, /^listening (\S+)/);
    const relay = await startRelay(t, {
      upstream,
      gated: true,
      args: ['--max-sessions-per-address', '0', '--protocol-id', PROTOCOL],
    });
    const port = await freePort('tcp');
    const file = path.join(folder, `${program}.conf`);
    writeFileSync(file, `${proxies[program].configure(port, relay.port).trim()}\n`);
    const proxy = startProgram(t, program, proxies[program].arguments(file), {
      stdio: ['ignore', 'ignore', 'inherit'],
    });
    const url = `http://127.0.0.1:${port}/`;
    await until(program, () => fetch(url).catch(() => false));
    const tokens = ['--key', key, '--protocol-id', PROTOCOL, '--server', upstream];
    const load = [
      '--players',
      PLAYERS,
      '--rate',
      HZ,
      '--seconds',
      SECONDS,
      '--ramp',
      250,
      '--json',
    ];
    const before = [proxy, relay].map(({ pid }) => processorTime(pid));
    const { stdout, stderr } = await runProgram(
      `${build}/relay/load/causeway-load`,
      [...tokens, ...load.map(String), url.replace('http', 'ws')],
      {},
    );
    const after = [proxy, relay].map(({ pid }) => processorTime(pid));
    const { connected, dropped } = JSON.parse(stdout || '{}').websocket ?? {};
    assert.deepEqual({ connected, dropped }, { connected: PLAYERS, dropped: 0 }, stderr);
    const { forwarded_datagrams, delivered_datagrams } = await relay.stats();
    const datagrams = forwarded_datagrams + delivered_datagrams;
    return after.map((time, i) => ((time - before[i]) * 1e6) / datagrams);
  } finally {
    for (const end of ends) await end();
  }
}

for (const program of Object.keys(proxies)) {
  if (spawnSync('sh', ['-c', `command -v ${program}`]).status !== 0) process.exit(77);
  const [proxy, relay] = await measure(program);
  console.error(`${program}: ${proxy.toFixed(1)} us a datagram; relay: ${relay.toFixed(1)} us`);
  console.log(`${program}_cost_ratio ${(relay / proxy).toFixed(2)} ratio`);
}
rmSync(folder, { recursive: true });
