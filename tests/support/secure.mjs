// A native game server behind the real relay, a backend's tokens for it, and a bad network between.
import { spawn } from 'node:child_process';
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { generateConnectToken, generateKey } from './causeway.mjs';
import { MAX_PLAYERS, PROTOCOL_ID, messages } from './chat_schema.mjs';
import { startGatedRelay } from './relay.mjs';

export { MAX_PLAYERS, PROTOCOL_ID, messages };

/** Returns a source of numbers from 0 to 1 that are the same for the same seed. */
export const randomFrom = (seed) => {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), state | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  };
};

/** Returns a function that loses a share of the datagrams. */
export const atRandom = (loss, seed = 1) => {
  const random = randomFrom(seed);
  return () => random() < loss;
};

/** The types of encrypted packets, in their first four bits. */
export const packetType = { request: 0, response: 3, disconnect: 6 };
export const typeOf = (datagram) => datagram[0] & 15;

/**
 * Starts a path by UDP between relay and server that loses the datagrams for which `loses(datagram, way)` returns true;
 * the way is 'up' or 'down'.
 */
export async function startPath(serverPort, loses) {
  const counts = { up: 0, upLost: 0, down: 0, downLost: 0 };
  const ways = new Map();
  const front = createSocket('udp4');
  front.on('message', (datagram, from) => {
    counts.up++;
    if (loses(datagram, 'up')) return void counts.upLost++;
    let way = ways.get(from.port);
    if (!way) {
      way = createSocket('udp4');
      way.on('message', (answer) => {
        counts.down++;
        if (loses(answer, 'down')) counts.downLost++;
        else front.send(answer, from.port, from.address);
      });
      way.on('error', () => {});
      ways.set(from.port, way);
    }
    way.send(datagram, serverPort, '127.0.0.1');
  });
  front.bind(0, '127.0.0.1');
  await once(front, 'listening');
  return {
    port: front.address().port,
    counts,
    stop: () => {
      front.close();
      ways.forEach((way) => way.close());
    },
  };
}

/** Starts a game server, by default that of the tests, on any free port. */
export async function startGameServer({
  players = MAX_PLAYERS,
  takeover = true,
  trusted,
  key = generateKey(),
  program = process.env.CAUSEWAY_CHAT_SERVER,
} = {}) {
  if (!program) throw new Error('CAUSEWAY_CHAT_SERVER must name the game server');
  const server = spawn(program, ['127.0.0.1:0', String(players), ...(takeover ? [] : ['keep'])], {
    stdio: ['ignore', 'pipe', 'inherit'],
    env: {
      CAUSEWAY_KEY: Buffer.from(key).toString('hex'),
      ...(trusted && { CAUSEWAY_TRUSTED_PROXY: trusted }),
    },
  });
  const exited = once(server, 'exit').then(([code]) => code);
  const [line] = await once(createInterface(server.stdout), 'line');
  const port = Number(/\d+$/.exec(line)[0]);
  let clientId = 0;
  return {
    port,
    key,
    /** Makes a token as a backend does. */
    token: (options = {}) =>
      generateConnectToken({
        protocolId: PROTOCOL_ID,
        privateKey: key,
        clientId: ++clientId,
        servers: [`127.0.0.1:${port}`],
        schema: messages,
        ...options,
      }),
    signal: (name) => server.kill(name),
    /** Asks the server to end, and returns its exit code. */
    stop: (signal = 'SIGTERM') => {
      server.kill(signal);
      return exited;
    },
  };
}

/** Starts server and relay, with a lossy path between them if there is to be loss. */
export async function startSecureServer({
  players,
  takeover,
  key,
  loss,
  loses,
  relayOptions = [],
} = {}) {
  const server = await startGameServer({ players, takeover, key });
  const bad = loses ?? (loss && atRandom(loss));
  const path = bad && (await startPath(server.port, bad));
  const relay = await startGatedRelay(
    path?.port ?? server.port,
    '--protocol-id',
    String(PROTOCOL_ID),
    '--rtc',
    '127.0.0.1:0',
    ...relayOptions,
  );
  return {
    server,
    path,
    relay,
    url: relay.url,
    stop: async () => {
      const code = await server.stop();
      path?.stop();
      await relay.stop();
      return code;
    },
  };
}
