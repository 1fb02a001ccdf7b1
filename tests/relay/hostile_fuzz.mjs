// Rounds of connections that write what hostile_tcp_plans.mjs makes up. After each round the relay still
// answers, carries a player's datagrams, is idle, and has closed all that it should.
//
//   CAUSEWAY_FUZZ_TIMES  how many times the rounds that a test asks for (default 1)
//   CAUSEWAY_FUZZ_ROUND  only this round
import assert from 'node:assert/strict';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { describePlan, makePlan, performPlan } from './hostile_tcp_plans.mjs';
import { patiently, sleep } from '../support/patience.mjs';
import { startRelay, statsUntil } from '../support/relay.mjs';
import { startUdpServer } from '../support/udp_server.mjs';
import { temporaryFolder } from '../support/fixture.mjs';
import { descriptorsOf, inTime, processorTime, startClock } from '../support/programs.mjs';
import { SEED, choicesFrom } from '../support/random.mjs';

const ONLY = process.env.CAUSEWAY_FUZZ_ROUND;
const CONNECTIONS = 8;

// Shorter than the ten seconds after which the relay abandons a connection that does nothing: a connection that ends
// only then counts as stuck. The time in which the relay or this process waits for a core does not count.
const STUCK_MS = 8000;

const offer = readFileSync(new URL('../fuzz/corpus/sdp/chromium', import.meta.url), 'latin1');

/** Starts a relay with files, one of them large, and WebRTC. */
export async function startServing(t, more = []) {
  const root = temporaryFolder(t);
  mkdirSync(`${root}/sub`);
  for (const name of ['index.html', 'sub/index.html']) writeFileSync(`${root}/${name}`, 'index');
  writeFileSync(`${root}/large.bin`, Buffer.alloc(1_000_000, 'large'));
  const { upstream } = await startUdpServer(t);
  const args = ['--rtc', '127.0.0.1:0', '--root', root, '--max-sessions-per-address', '0', ...more];
  return startRelay(t, { upstream, args });
}

/** Resolves when in some stretch of time the relay worked for less than a fifth of it. */
async function idle(relay) {
  for (let stretch = 10; ; stretch = Math.min(stretch * 2, 500)) {
    const [begun, before] = [performance.now(), processorTime(relay.pid)];
    await sleep(stretch);
    if (processorTime(relay.pid) - before < (performance.now() - begun) / 5) return;
  }
}

async function check(relay, { player, get }, most) {
  const clock = startClock(process.pid, relay.pid);
  let what;
  const all = async () => {
    what = 'the reply to a GET';
    assert.match(await get(relay), /^HTTP\/1\.1 200 [^]*index$/);
    what = 'the echo of a datagram';
    const count = player.messages.length;
    player.send(Buffer.from('still there'));
    await player.received(count + 1);
    what = 'an idle relay';
    await idle(relay);
    // The descriptors of a round are closed soon: they do not pile up.
    what = `the end of ${descriptorsOf(relay.pid) - most} descriptors`;
    while (descriptorsOf(relay.pid) > most) await sleep(10);
  };
  await inTime(all(), STUCK_MS, clock, () => what);
}

/**
 * Fuzzes the relay of startServing for so many rounds. `player` is connected to it, `get(relay)` returns all that comes
 * back for its first page, and `open(relay, random)` a socket that strangers write to (default: a plain one).
 */
export async function fuzz(t, relay, { rounds, player, get, open }) {
  const times = Number(process.env.CAUSEWAY_FUZZ_TIMES ?? 1);
  const most = descriptorsOf(relay.pid) + 4 * CONNECTIONS;
  const first = ONLY === undefined ? 0 : Number(ONLY);
  const end = ONLY === undefined ? rounds * times : first + 1;
  t.diagnostic(`CAUSEWAY_SEED=${SEED}`);
  for (let round = first; round < end; round++) {
    const random = choicesFrom(SEED + Math.imul(round, 0x9e3779b1));
    const plans = Array.from({ length: CONNECTIONS }, () => makePlan(random, offer));
    try {
      const all = Promise.all(plans.map((plan) => performPlan(relay, plan, open?.(relay, random))));
      await patiently(all, 'the connections of a round');
      await check(relay, { player, get }, most);
    } catch (error) {
      const lines = plans.map(describePlan).join('\n');
      throw new Error(
        `CAUSEWAY_SEED=${SEED} CAUSEWAY_FUZZ_ROUND=${round}: ${error.message}\n${lines}`,
        { cause: error },
      );
    }
  }
  t.diagnostic(`${end - first} rounds of ${CONNECTIONS} connections`);
  await statsUntil(relay, ({ sessions_open }) => sessions_open === 1);
  relay.kill('SIGTERM');
  assert.deepEqual(await relay.ended(), { code: 0, signal: null });
}
