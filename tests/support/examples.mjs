// The programs of core/examples and web/examples together: echo server, backend, relay and page.
import { cpSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { startBackend } from './demo.mjs';
import { temporaryFolder } from './fixture.mjs';
import { lineOf, startProgram } from './programs.mjs';
import { startRelay } from './relay.mjs';
import { startGameServer } from './secure.mjs';

export const examples = fileURLToPath(new URL('../../web/examples', import.meta.url));
const dist = fileURLToPath(new URL('../../web/dist', import.meta.url));

/** Starts server and backend, until the test is over. */
export async function startEcho(t) {
  const server = await startGameServer(t, { program: process.env.CAUSEWAY_ECHO_SERVER });
  const port = await startBackend(t, server);
  return { server, backend: `http://127.0.0.1:${port}`, port };
}

/** Returns the options of a relay that serves the pages, with the package beside them. */
function relayArguments(t) {
  const root = temporaryFolder(t);
  cpSync(examples, root, { recursive: true });
  cpSync(dist, join(root, 'causeway-net'), { recursive: true });
  return ['--rtc', '127.0.0.1:0', '--root', root];
}

/** Starts the relay too, which serves the page from a folder like that of web/README.md; returns its address. */
export async function startEchoPage(t) {
  const { server, port } = await startEcho(t);
  const args = relayArguments(t);
  const relay = await startRelay(t, { upstream: server.upstream, gated: true, args });
  return { server, url: `${relay.url}?backend=${port}` };
}

/** Starts an echo server of another protocol, and a relay that carries any datagrams; returns the relay's address. */
export async function startProtocolPage(t, program) {
  const server = startProgram(t, program, ['127.0.0.1:0'], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const [upstream] = await lineOf(server, /127\.0\.0\.1:\d+$/);
  return (await startRelay(t, { upstream, args: relayArguments(t) })).url;
}
