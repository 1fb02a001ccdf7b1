// A game of this folder's `games` in a page, its native server, and between them a relay and a path that loses 5 % of
// the datagrams in either direction.
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { generateConnectToken, generateKey } from '../support/causeway.mjs';
import { makeRoot, run } from '../support/emscripten_page.mjs';
import { sleep } from '../support/patience.mjs';
import { lineOf, startProgram } from '../support/programs.mjs';
import { atRandom } from '../support/random.mjs';
import { startRelay } from '../support/relay.mjs';
import { startUdpPath } from '../support/udp_path.mjs';
import { startTeeworlds } from './teeworlds_server.mjs';

/** The protocol id of the server in core/examples. */
const PROTOCOL_ID = 0x1122334455667788n;
const LOSS = 0.05;

const {
  CAUSEWAY_GAMES,
  CAUSEWAY_ECHO_SERVER,
  CAUSEWAY_ENET_SERVER,
  CAUSEWAY_UDP_SERVER,
  CAUSEWAY_FOREIGN_SERVER,
  CAUSEWAY_TEEWORLDS_SERVER,
} = process.env;

const servers = {
  example: CAUSEWAY_ECHO_SERVER,
  enet: CAUSEWAY_ENET_SERVER,
  udp: CAUSEWAY_UDP_SERVER,
  foreign: CAUSEWAY_FOREIGN_SERVER,
  teeworlds: CAUSEWAY_TEEWORLDS_SERVER,
};

/** Returns why a game cannot be played here, or false. */
export const missing = (program, server) => {
  const built = existsSync(servers[server] ?? '') && existsSync(join(CAUSEWAY_GAMES, program));
  return !built && `${program} or its server is not built: run tests/support/setup all`;
};

/** Starts a server that says on which port it listens, and returns that. */
async function startServer(t, program, env = {}) {
  const server = startProgram(t, program, ['127.0.0.1:0'], {
    stdio: ['ignore', 'pipe', 'inherit'],
    env: { ...process.env, ...env },
  });
  return Number((await lineOf(server, /\d+$/))[0]);
}

/** Starts server, path and relay, which serves this page. */
export async function startGame(t, server, { page } = {}) {
  const key = generateKey();
  const port =
    server === 'teeworlds'
      ? await startTeeworlds(t, servers.teeworlds)
      : await startServer(t, servers[server], { CAUSEWAY_KEY: Buffer.from(key).toString('hex') });
  const knowsTime = sleep(1100); // after that second the server takes tokens
  const path = await startUdpPath(t, port, atRandom(LOSS));
  const root = makeRoot(t, CAUSEWAY_GAMES, page);
  const gate = server === 'example' ? ['--protocol-id', String(PROTOCOL_ID)] : ['--raw'];
  const relay = await startRelay(t, {
    upstream: path.upstream,
    gated: true,
    args: [...gate, '--rtc', '127.0.0.1:0', '--root', root],
  });
  let clientId = 0;
  return {
    relay,
    path,
    root,
    async token() {
      await knowsTime;
      return generateConnectToken({
        protocolId: PROTOCOL_ID,
        privateKey: key,
        clientId: ++clientId,
        servers: [`127.0.0.1:${port}`],
        expireSeconds: 50,
      });
    },
    /** Runs a game in a page of its own. */
    async play(browser, program, options) {
      const args = server === 'example' ? ['token'] : ['127.0.0.1', String(port)];
      const files = server === 'example' ? { token: [...(await this.token())] } : {};
      return run(t, browser, relay, program, { args, files, ...options });
    },
  };
}
