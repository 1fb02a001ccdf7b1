// A game of this folder's `games` in a page, its native server, and between them a relay and a path that loses 5 % of
// the datagrams in either direction.
import { spawn } from 'node:child_process';
import {
  copyFileSync,
  cpSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { once } from 'node:events';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { generateConnectToken, generateKey } from '../support/causeway.mjs';
import { run } from '../support/emscripten_page.mjs';
import { startGatedRelay } from '../support/relay.mjs';
import { atRandom, startPath } from '../support/secure.mjs';
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

/** Starts a server that says on which port it listens. */
async function startServer(program, env = {}) {
  const server = spawn(program, ['127.0.0.1:0'], {
    stdio: ['ignore', 'pipe', 'inherit'],
    env: { ...process.env, ...env },
  });
  const [line] = await once(createInterface(server.stdout), 'line');
  return { port: Number(/\d+$/.exec(line)[0]), stop: () => server.kill() };
}

/** Makes the folder that the relay serves: the games, and the package. */
function makeRoot(page) {
  const root = mkdtempSync(join(tmpdir(), 'causeway-games-'));
  for (const name of readdirSync(CAUSEWAY_GAMES))
    if (/\.(js|wasm)$/.test(name)) copyFileSync(join(CAUSEWAY_GAMES, name), join(root, name));
  cpSync(new URL('../../web/dist', import.meta.url), join(root, 'causeway-net'), {
    recursive: true,
  });
  writeFileSync(join(root, 'index.html'), page);
  return root;
}

/** Starts server, path and relay, which serves this page. `loses` is as in secure.mjs. */
export async function startGame(t, server, { page = '<!doctype html><title>A game</title>' } = {}) {
  const key = generateKey();
  const { port, stop } =
    server === 'teeworlds'
      ? await startTeeworlds(servers.teeworlds)
      : await startServer(servers[server], { CAUSEWAY_KEY: Buffer.from(key).toString('hex') });
  const knowsTime = sleep(1100); // after that second the server takes tokens
  const path = await startPath(port, atRandom(LOSS));
  const root = makeRoot(page);
  const gate = server === 'example' ? ['--protocol-id', String(PROTOCOL_ID)] : ['--raw'];
  const relay = await startGatedRelay(
    path.port,
    ...gate,
    ...['--rtc', '127.0.0.1:0', '--root', root],
  );
  t.after(async () => {
    await relay.stop();
    path.stop();
    stop();
    rmSync(root, { recursive: true });
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
      const game = await run(browser, relay, program, { args, files, ...options });
      t.after(() => game.close());
      return game;
    },
  };
}
