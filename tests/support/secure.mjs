// A native game server behind the real relay, a backend's tokens for it, and a bad network between.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { generateConnectToken, generateKey } from './causeway.mjs';
import { MAX_PLAYERS, PROTOCOL_ID, messages } from './chat_schema.mjs';
import { own } from './fixture.mjs';
import { patiently } from './patience.mjs';
import { lineOf, startProgram } from './programs.mjs';
import { atRandom } from './random.mjs';
import { startRelay } from './relay.mjs';
import { startUdpPath } from './udp_path.mjs';

export { MAX_PLAYERS, PROTOCOL_ID, messages };

/** The types of encrypted packets, in their first four bits. */
export const packetType = { request: 0, response: 3, disconnect: 6 };
export const typeOf = (datagram) => datagram[0] & 15;

/**
 * Starts a game server, by default that of the tests, on any free port. Unless the test stops it, it is asked to end
 * when the test is over, and must end without an error.
 */
export async function startGameServer(
  t,
  {
    players = MAX_PLAYERS,
    takeover = true,
    trusted,
    key = generateKey(),
    program = process.env.CAUSEWAY_CHAT_SERVER,
  } = {},
) {
  const args = ['127.0.0.1:0', String(players), ...(takeover ? [] : ['keep'])];
  const server = startProgram(t, program, args, {
    stdio: ['ignore', 'pipe', 'inherit'],
    env: {
      CAUSEWAY_KEY: Buffer.from(key).toString('hex'),
      ...(trusted && { CAUSEWAY_TRUSTED_PROXY: trusted }),
    },
  });
  const exited = once(server, 'exit').then(([code]) => code);
  const [text] = await lineOf(server, /\d+$/);
  const port = Number(text);
  let clientId = 0;
  let stopped = false;
  /** Asks the server to end, and resolves with its exit code. */
  const stop = (signal = 'SIGTERM') => {
    stopped = true;
    server.kill(signal);
    return patiently(exited, 'the end of the game server');
  };
  own(t, async () => stopped || assert.equal(await stop(), 0, 'the game server ended well'));
  return {
    port,
    upstream: `127.0.0.1:${port}`,
    key,
    /** Makes a token as a backend does. */
    token: (options = {}) =>
      generateConnectToken({
        protocolId: PROTOCOL_ID,
        privateKey: key,
        clientId: ++clientId,
        timeoutSeconds: 5,
        servers: [`127.0.0.1:${port}`],
        schema: messages,
        ...options,
      }),
    kill: (signal) => server.kill(signal),
    stop,
  };
}

/**
 * Starts a relay with WebRTC for the tests' protocol in front of a server. It gives clients time to ask, which they may
 * need on a busy machine.
 */
export const startGate = (t, { upstream }, args = []) =>
  startRelay(t, {
    upstream,
    gated: true,
    args: [
      ...['--protocol-id', String(PROTOCOL_ID), '--rtc', '127.0.0.1:0', '--request-timeout', '60'],
      ...args,
    ],
  });

/** Starts server and relay, with a lossy path between them if there is to be loss. */
export async function startSecureServer(
  t,
  { loss, loses = loss && atRandom(loss), relayOptions, ...options } = {},
) {
  const server = await startGameServer(t, options);
  const path = loses && (await startUdpPath(t, server.port, loses));
  const relay = await startGate(t, path || server, relayOptions);
  return { server, path, relay, url: relay.url };
}
