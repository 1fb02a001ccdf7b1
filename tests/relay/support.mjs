// Helpers of the relay's tests: the relay as a child process, a UDP game server, WebSocket clients.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import dgram from 'node:dgram';
import { once } from 'node:events';
import { createRequire } from 'node:module';
import { readFileSync } from 'node:fs';
import net from 'node:net';
import { Headers } from '../../wasm/headers.mjs';
import { PATIENCE_MS } from '../support/patience.mjs';

const require = createRequire(new URL('../../web/package.json', import.meta.url));
export const WebSocket = require('ws');

export const program = process.env.CAUSEWAY_RELAY;
if (!program) throw new Error('CAUSEWAY_RELAY must name the relay program');

/** The number of processes that serve, as CAUSEWAY_RELAY_WORKERS says. */
export const workers = Number(process.env.CAUSEWAY_RELAY_WORKERS ?? 1);

/**
 * The reason to skip a test when CAUSEWAY_RELAY_WORKERS has the relay serve from several processes: the test is about
 * the counts of one process, or about links that must come to the same one.
 */
export const oneProcess = workers > 1 ? 'of a single process' : false;

/** Rejects with a clear message when the promise takes too long. */
export function patiently(promise, what) {
  let timer;
  const late = new Promise((_, reject) => {
    timer = setTimeout(() => reject(new Error(`waited in vain for ${what}`)), PATIENCE_MS);
  });
  return Promise.race([promise, late]).finally(() => clearTimeout(timer));
}

export const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

/** Runs the program to its end, with these variables added to its environment. */
export async function run(args, env = {}) {
  const child = spawn(program, args, { env: { ...process.env, ...env } });
  let stdout = '';
  let stderr = '';
  child.stdout.on('data', (data) => (stdout += data));
  child.stderr.on('data', (data) => (stderr += data));
  const [code] = await patiently(once(child, 'close'), `the end of ${args.join(' ')}`);
  return { code, stdout, stderr };
}

/** Returns whether a process has not ended; its parent may not have looked yet. */
export function isAlive(pid) {
  try {
    return !/^\d+ \(.*\) Z/.test(readFileSync(`/proc/${pid}/stat`, 'utf8'));
  } catch {
    return false;
  }
}

/**
 * Starts the relay on a free port and ends it with the test. Unless gated it takes any datagram. Unless `args` say
 * otherwise it does not drain when it is asked to end. `shell` has the commands of a shell before it becomes the relay;
 * `listen` or `upstream` may be null when `args` or `env` has them.
 */
export async function startRelay(
  t,
  {
    upstream,
    listen = '127.0.0.1:0',
    args = [],
    gated = false,
    shell = ':',
    env = {},
    path = program,
  },
) {
  const gate = gated ? [] : ['--raw'];
  const where = listen ? ['--listen', listen] : [];
  const atOnce = ['--drain-timeout', '0'];
  const to = upstream ? ['--upstream', upstream] : [];
  const command = [path, ...where, ...to, ...gate, ...atOnce, ...args];
  const child = spawn('sh', ['-c', `${shell}; exec "$0" "$@"`, ...command], {
    env: { ...process.env, ...env },
    stdio: ['ignore', 'inherit', 'pipe'],
  });
  let log = '';
  const watchers = new Set();
  child.stderr.setEncoding('utf8');
  child.stderr.on('data', (text) => {
    log += text;
    for (const watcher of watchers) watcher();
  });
  // The log ends with the last process that writes it, when all of it has been read. The end of a process says less:
  // its successor may have taken over, and lines that say so may wait to be read.
  let running = true;
  const closed = once(child, 'close').then(([code, signal]) => {
    running = false;
    for (const watcher of watchers) watcher();
    return { code, signal };
  });
  // The relay is another process after an upgrade.
  let successor = 0;
  const kill = (signal) => (successor ? process.kill(successor, signal) : child.kill(signal));
  t.after(() => child.kill('SIGKILL'));

  /** Resolves with the match as soon as the log has it behind an offset. */
  const logged = (pattern, from = 0) =>
    patiently(
      new Promise((resolve, reject) => {
        const look = () => {
          const match = pattern.exec(log.slice(from));
          if (match || !running) watchers.delete(look);
          if (match) resolve(match);
          else if (!running) reject(new Error(`the relay ended:\n${log}`));
        };
        watchers.add(look);
        look();
      }),
      `${pattern} in the relay's log:\n${log}`,
    );

  const [, host, port] = await logged(/listening on (\S+):(\d+)["\n]/);
  return {
    pid: child.pid,
    host,
    port: Number(port),
    logged,
    log: () => log,
    /** Stops reading the log until it is resumed. */
    pauseLog: () => child.stderr.pause(),
    resumeLog: () => child.stderr.resume(),
    closeLog: () => child.stderr.destroy(),
    kill,
    running: () => running,
    /** Resolves when the process has ended that was started first. */
    ended: () => patiently(closed, 'the end of the relay'),
    /** Starts a successor, which is the relay from then on. Returns the id of the process before. */
    async upgrade() {
      const before = successor || child.pid;
      const from = log.length;
      kill('SIGUSR2');
      const [, pid] = await logged(/upgrade: process (\d+) is starting\n/, from);
      t.after(() => isAlive(pid) && process.kill(pid, 'SIGKILL'));
      successor = Number(pid);
      await logged(new RegExp(`process ${pid} has taken over\n`), from);
      await logged(/listening on/, from);
      return before;
    },
    /**
     * Resolves with the counters, by name. The signal is repeated: when many sessions end at once, a line may be
     * dropped.
     */
    async stats() {
      const from = log.length;
      kill('SIGUSR1');
      const timer = setInterval(() => kill('SIGUSR1'), 1000);
      const [, line] = await logged(/ stats (.*)\n/, from).finally(() => clearInterval(timer));
      return Object.fromEntries(
        line.split(' ').map((pair) => [pair.split('=')[0], Number(pair.split('=')[1])]),
      );
    },
  };
}

const headers = new Headers();
const listed = (list) => headers.rows(list).map(([name]) => name);
const droppedToServer = listed('STATS_DROPPED_TO_SERVER');
const droppedToBrowser = listed('STATS_DROPPED_TO_BROWSER');

/** Checks that every datagram that the relay received is in exactly one counter of what became of it. */
export function assertAddsUp(stats) {
  const sum = (names) => names.reduce((total, name) => total + stats[name], 0);
  const text = JSON.stringify(stats);
  assert.equal(sum(['forwarded_datagrams', ...droppedToServer]), stats.client_datagrams, text);
  assert.equal(sum(['delivered_datagrams', ...droppedToBrowser]), stats.upstream_datagrams, text);
}

/** Polls the counters until they satisfy the condition. */
export async function statsUntil(relay, condition) {
  return patiently(
    (async () => {
      for (;;) {
        const stats = await relay.stats();
        if (condition(stats)) return stats;
        await sleep(20);
      }
    })(),
    'the counters',
  );
}

/** Starts a game server that answers every datagram with the same bytes unless `answer` says otherwise. */
export async function startServer(
  t,
  { host = '127.0.0.1', port = 0, answer = (data) => data } = {},
) {
  const socket = dgram.createSocket({
    type: net.isIPv6(host) ? 'udp6' : 'udp4',
    recvBufferSize: 1 << 20,
  });
  const peers = new Map();
  const received = [];
  socket.on('message', (data, from) => {
    peers.set(from.port, from);
    received.push({ data, port: from.port, address: from.address });
    const reply = answer(data, from);
    if (reply) socket.send(reply, from.port, from.address);
  });
  await new Promise((resolve) => socket.bind(port, host, resolve));
  let open = true;
  const close = () => open && ((open = false), new Promise((resolve) => socket.close(resolve)));
  t.after(close);
  const address = socket.address();
  return {
    port: address.port,
    upstream: net.isIPv6(host) ? `[${host}]:${address.port}` : `${host}:${address.port}`,
    peers,
    received,
    send: (data, to, done) => socket.send(data, to.port, to.address, done),
    close,
  };
}

/** The request that makes a connection a WebSocket, for tests that write its bytes themselves. */
export const handshake = [
  'GET / HTTP/1.1',
  'Host: 127.0.0.1',
  'Upgrade: websocket',
  'Connection: Upgrade',
  'Sec-WebSocket-Version: 13',
  'Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==',
  'Sec-WebSocket-Protocol: causeway.v1',
  '\r\n',
].join('\r\n');

/** Returns a datagram as a browser's frame, masked with zeros. */
export function binaryFrame(data) {
  const size = data.length < 126 ? [0x80 | data.length] : [0xfe, data.length >> 8, data.length];
  return Buffer.concat([Buffer.of(0x82, ...size, 0, 0, 0, 0), data]);
}

/** Opens a WebSocket to the relay whose messages are kept. */
export async function connect(
  t,
  relay,
  { protocols = ['causeway.v1'], scheme = 'ws', host = '127.0.0.1', ...options } = {},
) {
  const socket = new WebSocket(`${scheme}://${host}:${relay.port}/`, protocols, {
    perMessageDeflate: true,
    ...options,
  });
  const messages = [];
  const waiting = [];
  socket.on('message', (data, binary) => {
    messages.push({ data, binary });
    while (waiting.length > 0 && messages.length >= waiting[0].count) waiting.shift().resolve();
  });
  socket.on('error', () => {});
  t.after(() => socket.terminate());
  const closed = new Promise((resolve) => {
    socket.once('close', (code, reason) => resolve({ code, reason: reason.toString() }));
  });
  await patiently(
    new Promise((resolve, reject) => {
      socket.once('open', resolve);
      socket.once('unexpected-response', (_, response) => {
        reject(
          Object.assign(new Error(`HTTP ${response.statusCode}`), { status: response.statusCode }),
        );
      });
      socket.once('error', reject);
    }),
    'the WebSocket to open',
  );
  return {
    socket,
    messages,
    send: (data) => socket.send(data),
    close: (code) => socket.close(code),
    closed: () => patiently(closed, 'the close of the WebSocket'),
    /** Resolves when `count` messages have come in all. */
    received: (count) =>
      patiently(
        messages.length >= count
          ? Promise.resolve()
          : new Promise((resolve) => {
              waiting.push({ count, resolve });
              waiting.sort((a, b) => a.count - b.count);
            }),
        `message ${count}; ${messages.length} have come`,
      ),
  };
}

/** Returns bytes that differ from one seed, and from one place, to the next. */
export function pattern(size, seed = 0) {
  const bytes = Buffer.alloc(size);
  for (let i = 0; i < size; i++) bytes[i] = (i * 131 + seed * 17 + (i >> 8)) & 0xff;
  return bytes;
}
