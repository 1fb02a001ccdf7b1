// An attack with honest sessions beside it: the real relay, a game server that sends everything back, players that
// count their echoes, and newcomers. Server and players are processes of their own, so that the test may be busy with
// its attack.
//
//   const rig = await startRig(t, { args: ['--max-sessions', '50'] });
//   ... attack rig.relay ...
//   await rig.newcomer();     // while the attack goes on
//   ... end the attack ...
//   await rig.check();        // no player lost anything, and the relay is idle again
import assert from 'node:assert/strict';
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { request } from './packets.mjs';
import { patiently, sleep, until } from '../support/patience.mjs';
import { assertAddsUp, startRelay } from '../support/relay.mjs';
import { own } from '../support/fixture.mjs';
import { processorTime } from '../support/programs.mjs';

function start(t, file, ...args) {
  const child = fork(new URL(file, import.meta.url), args, {
    execArgv: [],
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  });
  own(t, () => child.kill('SIGKILL'));
  return child;
}

/** Starts the players' process; returns a function that sends it a command and resolves with the answer. */
function startPlayers(t) {
  const child = start(t, 'hostile_players.mjs');
  const waiting = new Map();
  let last = 0;
  child.on('message', ({ id, value, error }) => {
    const { resolve, reject } = waiting.get(id);
    waiting.delete(id);
    if (error) reject(new Error(error));
    else resolve(value);
  });
  return (name, values = {}) => {
    const answer = new Promise((resolve, reject) => waiting.set(++last, { resolve, reject }));
    child.send({ id: last, name, values });
    return patiently(answer, `the players' ${name}`);
  };
}

/**
 * Returns the number of datagrams that the kernel dropped at a UDP port, because its owner did not come to read them.
 */
const droppedAt = (port) =>
  ['udp', 'udp6']
    .flatMap((name) => readFileSync(`/proc/net/${name}`, 'ascii').trim().split('\n').slice(1))
    .map((line) => line.trim().split(/\s+/))
    .filter(([, local]) => parseInt(local.split(':')[1], 16) === port)
    .reduce((sum, words) => sum + Number(words.at(-1)), 0);

/** Waits until the relay uses next to no processor time, though it answers: it does not spin. */
export const idle = (relay) =>
  until('an idle relay', async () => {
    const before = processorTime(relay.pid);
    await sleep(500);
    return processorTime(relay.pid) - before < 50;
  });

/**
 * Starts server, relay and players: `sessions` over WebSocket and `rtcSessions` over WebRTC, each from an address of
 * its own (127.1.0.x; WebRTC from 127.0.0.1), sending `hertz` datagrams a second. `serverWork` is how many microseconds
 * a datagram keeps the server busy. The relay is gated unless `raw`; `listen`, `args` and `shell` go to startRelay.
 */
export async function startRig(
  t,
  {
    sessions = 10,
    rtcSessions = 0,
    hertz = 20,
    serverWork = 0,
    raw = false,
    listen,
    args = [],
    shell,
  } = {},
) {
  const server = start(t, 'hostile_server.mjs', String(serverWork));
  const [port] = await patiently(once(server, 'message'), 'the game server');
  const rtc = rtcSessions > 0 && !args.includes('--rtc') ? ['--rtc', '127.0.0.1:0'] : [];
  const relay = await startRelay(t, {
    upstream: `127.0.0.1:${port}`,
    gated: !raw,
    listen,
    // The long age leaves time to the players' process, which may stall on a loaded machine.
    args: ['--queue-age', '10', ...rtc, ...args],
    shell,
  });
  const ask = startPlayers(t);
  await ask('begin', {
    port: relay.port,
    processes: [server.pid, relay.pid],
    request: request().toString('base64'),
    sessions,
    rtcSessions,
    hertz,
  });
  let comers = 0;
  const rig = {
    relay,
    /** Returns the number of datagrams that the game server lost because it got no turn. */
    lostByServer: () => droppedAt(port),
    /** Resolves with the datagrams that each player sent and received, and why it ended if it did. */
    tally: () => ask('tally'),
    /**
     * One more player comes from an address of its own, gets a datagram back and goes. It tries once, and an error says
     * why it was shut out.
     */
    newcomer: ({ rtc = false, localAddress = `127.2.0.${++comers}` } = {}) =>
      ask('newcomer', { rtc, localAddress }).catch((error) => {
        throw new Error(`a newcomer was shut out: ${error.message}`, { cause: error });
      }),
    /** Has the players stop sending; resolves with the tally when all that was on its way has come. */
    stop: () => ask('stop'),
    /**
     * Ends the players, and checks that nobody lost anything, one more gets in, and the relay is idle again. Its
     * counters must add up, unless they cannot be read.
     */
    async check({ counters = true } = {}) {
      const tally = await rig.stop();
      const rtcPort = Number(/webrtc on udp \S+:(\d+)/.exec(relay.log())?.[1]);
      for (const [index, { sent, received, foreign, end }] of tally.entries()) {
        assert.equal(end, null, `player ${index} stayed connected`);
        // A flood may fill the kernel's queue of a relay that gets no turn on a busy machine.
        const most = index < sessions ? 0 : droppedAt(rtcPort);
        assert.ok(
          received <= sent && received >= sent - most,
          `player ${index} lost ${sent - received}`,
        );
        assert.equal(foreign, 0, `player ${index} got only what is his`);
      }
      await rig.newcomer();
      await ask('leave');
      await idle(relay);
      if (counters) assertAddsUp(await relay.stats());
      return tally;
    },
  };
  return rig;
}
