// The relay as a child process.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { Headers } from '../../wasm/headers.mjs';
import { own } from './fixture.mjs';
import { patiently, until } from './patience.mjs';
import { isAlive, runProgram, startProgram } from './programs.mjs';

export const program = process.env.CAUSEWAY_RELAY;

/** The number of processes that serve, as CAUSEWAY_RELAY_WORKERS says. */
export const workers = Number(process.env.CAUSEWAY_RELAY_WORKERS ?? 1);

/**
 * The reason to skip a test when CAUSEWAY_RELAY_WORKERS has the relay serve from several processes: the test is about
 * the counts of one process, or about links that must come to the same one.
 */
export const oneProcess = workers > 1 ? 'of a single process' : false;

/** Runs the program to its end, with these variables added to its environment. */
export const run = (args, env = {}) =>
  runProgram(program, args, { env: { ...process.env, ...env } });

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
  if (!path) throw new Error('CAUSEWAY_RELAY must name the relay program');
  const atOnce = ['--drain-timeout', '0'];
  const to = upstream ? ['--upstream', upstream] : [];
  const command = [path, ...where, ...to, ...gate, ...atOnce, ...args];
  let log = '';
  own(
    t,
    () => t.passed === false && t.diagnostic(`the relay's log ends with\n${log.slice(-4000)}`),
  );
  const child = startProgram(t, 'sh', ['-c', `${shell}; exec "$0" "$@"`, ...command], {
    env: { ...process.env, ...env },
    // A successor outlives this process if that crashes, and must not keep the output open that node:test reads.
    stdio: ['ignore', 'ignore', 'pipe'],
  });
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
      () => `${pattern} in the relay's log:\n${log}`,
    );

  const [, host, port] = await logged(/listening on (\S+):(\d+)["\n]/);
  const rtcPorts = [...log.matchAll(/webrtc on udp \S+:(\d+)/g)].map(([, text]) => Number(text));
  return {
    pid: child.pid,
    host,
    port: Number(port),
    url: `http://${host}:${port}/`,
    /** The UDP ports of WebRTC, with --rtc: one of each worker. */
    rtcPorts,
    rtcPort: rtcPorts[0],
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
    /** Asks the process to end that was started first, and resolves with its exit code. */
    async stop(signal = 'SIGTERM') {
      child.kill(signal);
      return (await patiently(closed, 'the end of the relay')).code;
    },
    /** Starts a successor, which is the relay from then on. Returns the id of the process before. */
    async upgrade() {
      const before = successor || child.pid;
      const from = log.length;
      kill('SIGUSR2');
      const [, pid] = await logged(/upgrade: process (\d+) is starting\n/, from);
      own(t, () => isAlive(pid) && process.kill(pid, 'SIGKILL'));
      successor = Number(pid);
      await logged(new RegExp(`process ${pid} has taken over\n`), from);
      await logged(/listening on/, from);
      return before;
    },
    /**
     * Resolves with the counters, by name. The signal is repeated: when many sessions end at once, a line may be
     * dropped. Thus a line may also come late, for an earlier call: it is older than this one.
     */
    async stats() {
      const begun = new Date().toISOString();
      let from = log.length;
      kill('SIGUSR1');
      const timer = setInterval(() => kill('SIGUSR1'), 1000);
      let [all, time, line] = ['', ''];
      try {
        while (time < begun) {
          [all, time, line] = await logged(/^(\S+) .* stats (.*)\n/m, from);
          from = log.indexOf(all, from) + all.length;
        }
      } finally {
        clearInterval(timer);
      }
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

/** Returns pairs of numbers that are equal when every datagram is in one counter of what became of it. */
function sums(stats) {
  const sum = (names) => names.reduce((total, name) => total + stats[name], 0);
  return [
    [sum(['forwarded_datagrams', ...droppedToServer]), stats.client_datagrams],
    [
      sum(['delivered_datagrams', ...droppedToBrowser]),
      stats.upstream_datagrams + stats.subflow_datagrams,
    ],
  ];
}

/** Checks that every datagram that the relay received is in exactly one counter of what became of it. */
export function assertAddsUp(stats) {
  for (const [actual, expected] of sums(stats))
    assert.equal(actual, expected, JSON.stringify(stats));
}

/** Returns whether assertAddsUp would pass. A worker may just be between two of its counters. */
export const addsUp = (stats) => sums(stats).every(([actual, expected]) => actual === expected);

/** Checks some of the counters. */
export function assertStats(stats, expected) {
  const names = Object.keys(expected);
  assert.deepEqual(Object.fromEntries(names.map((name) => [name, stats[name]])), expected);
}

/** Polls the counters until they satisfy the condition. */
export async function statsUntil(relay, condition) {
  let stats;
  const reached = async () => condition((stats = await relay.stats())) && stats;
  return until(() => `the counters, which are ${JSON.stringify(stats)}`, reached);
}
