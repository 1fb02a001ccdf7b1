// Players come and go at a relay that has everything done to it: links that drop, a game server that
// dies, attackers, reloads, upgrades, a drain. Nobody loses a session, and nothing piles up.
//
//   CAUSEWAY_CHURN_SECONDS  how long, all tests together (default 40)
//   CAUSEWAY_CHURN_SEED     the seed (default: always the same; by hand, give another)
import assert from 'node:assert/strict';
import dgram from 'node:dgram';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import net from 'node:net';
import { tmpdir } from 'node:os';
import test from 'node:test';
import { holdings, lastWords, Player, startGame } from './churn.mjs';
import { makePlan, performPlan } from './hostile_tcp_plans.mjs';
import { patiently, sleep } from '../support/patience.mjs';
import { isAlive } from '../support/programs.mjs';
import { assertStats, assertAddsUp, startRelay, statsUntil } from '../support/relay.mjs';
import { handshake } from '../support/websocket.mjs';
import { choicesFrom } from '../support/random.mjs';

const MODES = [
  ['one process', []],
  ['two workers', ['--workers', '2']],
];
const SECONDS = Number(process.env.CAUSEWAY_CHURN_SECONDS ?? 40) / MODES.length;
const SEED = Number(process.env.CAUSEWAY_CHURN_SEED ?? 156904964);

/** The number of rounds between two upgrades, the first of which warms up. */
const ROUNDS = 8;
const MOST_PLAYERS = 30;
/** Returns the limit of memory: an allocator may keep more than a process that had everything once. */
const atMost = (kilobytes) => 1.25 * kilobytes + 2_000;

const offer = readFileSync(new URL('../fuzz/corpus/sdp/chromium', import.meta.url), 'latin1');

// Makes options that are never so short that they end a session of a slow machine, never so low that they shut out a
// player.
const optionsOf = (random) => `
request-timeout = 300
answer-timeout = 300
idle-timeout = 600
resume-seconds = ${random.pick([300, 600])}
max-sessions-per-address = ${random.pick([20, 40])}
upstream-packets = ${random.pick([0, 1000, 2000])}
peer-rate = ${random.pick([0, 100_000])}
coalesce-us = ${random.pick([0, 300])}
`;

/** Starts the attackers of a round, each of whom has given up when its promise resolves. */
function attackersOf(random, relay) {
  const plans = Array.from({ length: 16 }, () => makePlan(random, offer));
  const raw = async (localAddress, bytes) => {
    const socket = net.connect({ host: '127.0.0.1', port: relay.port, localAddress });
    socket.on('error', () => {});
    socket.write(bytes);
    await Promise.race([once(socket, 'data'), once(socket, 'close'), sleep(300)]).catch(() => {});
    socket.destroy();
  };
  const flood = Array.from({ length: 80 }, (_, i) => [`127.6.0.${1 + (i % 2)}`, handshake]);
  const halves = Array.from({ length: 20 }, () => [
    '127.6.0.3',
    handshake.slice(0, 1 + random.below(handshake.length - 1)),
  ]);
  const garbage = Array.from({ length: 50 }, () => random.bytes(1 + random.below(200)));
  const spray = async () => {
    const socket = dgram.createSocket('udp4');
    const port = Number(/webrtc on udp \S+:(\d+)/.exec(relay.log())[1]);
    for (const bytes of garbage)
      await new Promise((resolve) => socket.send(bytes, port, '127.0.0.1', resolve));
    socket.close();
  };
  return () => [
    ...plans.map((plan) => performPlan(relay, plan)),
    ...[...flood, ...halves].map(([from, bytes]) => raw(from, bytes)),
    spray(),
  ];
}

/** Starts a relay, its game server, and all that happens between them. */
async function startChurn(t, { seed, args }) {
  const random = choicesFrom(seed);
  const folder = mkdtempSync(`${tmpdir()}/causeway-`);
  t.after(() => rmSync(folder, { recursive: true }));
  const file = `${folder}/relay.conf`;
  writeFileSync(file, optionsOf(random));
  const game = await startGame(t);
  const relay = await startRelay(t, {
    upstream: game.upstream,
    args: ['--config', file, '--rtc', '127.0.0.1:0', '--drain-timeout', '1000', ...args],
  });
  const players = new Set();
  const some = (share) => [...players].filter(() => random.chance(share));
  const all = (act) => Promise.all([...players].map(act));
  let pid = relay.pid;

  const leave = async (player) => {
    players.delete(player);
    await player.leave();
    game.forget(player.name);
  };
  const arrive = async () => {
    const comers = Array.from({ length: MOST_PLAYERS - players.size }, (_, i) => ({
      player: new Player(relay, `127.5.0.${1 + random.below(20)}`),
      rtc: i < 2,
    }));
    for (const { player } of comers) players.add(player);
    await Promise.all(
      comers.map(async ({ player, rtc }) => {
        await player.open({ rtc });
        await player.speak();
      }),
    );
  };
  const reload = async () => {
    const from = relay.log().length;
    writeFileSync(file, optionsOf(random));
    relay.kill('SIGHUP');
    await relay.logged(/reloaded the options/, from);
  };
  /** The game server is away while its players speak, and other clients knock. */
  const outage = async () => {
    await game.die();
    const strangers = Array.from({ length: 5 }, () => new Player(relay, '127.5.1.1'));
    await Promise.all(strangers.map((stranger) => stranger.open()));
    for (const player of [...players, ...strangers]) player.shout();
    await sleep(50);
    for (const stranger of strangers) await stranger.leave();
    await game.comeBack();
  };

  return {
    relay,
    arrive,
    pid: () => pid,
    async round() {
      const attack = attackersOf(random, relay);
      const leaving = some(0.3);
      const attackers = attack();
      for (const player of players) player.shout();
      await Promise.all(leaving.map(leave));
      await Promise.all(some(0.3).map((player) => player.lose()));
      await arrive();
      await reload();
      await all((player) => player.speak());
      if (random.chance(0.5)) await outage();
      await all((player) => player.speak());
      await patiently(Promise.all(attackers), 'the attackers');
      assert.deepEqual(game.moved, []);
    },
    /**
     * Starts a successor, which takes over everything, and checks that the counters of the process before add up.
     */
    async upgrade() {
      const from = relay.log().length;
      const attackers = attackersOf(random, relay)();
      for (const player of players) player.shout();
      const before = await relay.upgrade();
      pid = Number(/process (\d+) has taken over/.exec(relay.log().slice(from))[1]);
      assertAddsUp(await lastWords(relay, before, from));
      await all((player) => player.speak());
      await patiently(Promise.all(attackers), 'the attackers');
      assert.deepEqual(game.moved, []);
    },
    /** Lets everybody leave; returns what the relay then holds. */
    async rest(descriptors) {
      await all(leave);
      assertAddsUp(await statsUntil(relay, ({ sessions_open }) => sessions_open === 0));
      const settled = async () => {
        while (holdings(pid).descriptors !== descriptors) await sleep(20);
      };
      await patiently(settled(), `${descriptors} descriptors`).catch((error) => {
        throw new Error(`${error.message}; there are ${holdings(pid).descriptors}`);
      });
      return holdings(pid).kilobytes;
    },
    /** Ends the relay, which lets present players go on until they leave. */
    async drain() {
      await arrive();
      const from = relay.log().length;
      relay.kill('SIGTERM');
      await relay.logged(/draining on SIGTERM/, from);
      const newcomer = new Player(relay, '127.5.1.1');
      await newcomer.open();
      assert.equal((await newcomer.link.closed()).code, 1001);
      await Promise.all(some(0.5).map((player) => player.lose()));
      await all((player) => player.speak());
      assert.deepEqual(game.moved, []);
      await all(leave);
      const stats = await lastWords(relay, pid, from);
      assertAddsUp(stats);
      assertStats(stats, { sessions_open: 0, sessions_ended_drain: 0 });
      assert.ok(!isAlive(pid));
    },
  };
}

for (const [mode, args] of MODES)
  test(`nothing piles up and nobody is lost: ${mode}`, async (t) => {
    t.diagnostic(`CAUSEWAY_CHURN_SEED=${SEED}`);
    const churn = await startChurn(t, { seed: SEED, args });
    await churn.relay.stats(); // all workers have started and answer
    const { descriptors } = holdings(churn.pid());
    const until = performance.now() + SECONDS * 1000;
    const warm = [];
    const later = [];
    do {
      await churn.round();
      warm.push(await churn.rest(descriptors));
      for (let i = 1; i < ROUNDS; i++) await churn.round();
      later.push(await churn.rest(descriptors));
      for (const before of [warm[0], warm.at(-1)])
        assert.ok(later.at(-1) < atMost(before), `${before} kB before, ${later.at(-1)} kB now`);
      await churn.arrive();
      await churn.upgrade();
    } while (performance.now() < until || later.length < 2);
    t.diagnostic(`${descriptors} descriptors`);
    t.diagnostic(`${later.length} processes of ${ROUNDS} rounds`);
    t.diagnostic(`kB after the first round: ${warm}; after the last: ${later}`);
    await churn.drain();
  });
