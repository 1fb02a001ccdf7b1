// The demo as web/demo/run starts it: the native game server, the backend, the relay, the page.
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { lineOf, startProgram } from './programs.mjs';
import { startRelay } from './relay.mjs';
import { startGameServer } from './secure.mjs';
import { PROTOCOL_ID } from '../../web/demo/schema.js';

const build = process.env.CAUSEWAY_BUILD;
const place = (name) => fileURLToPath(new URL(`../../web/${name}`, import.meta.url));

/** Starts the backend of web/examples for a game server with these messages; returns its port. */
export async function startBackend(t, server, messages = 'examples/messages.js') {
  const args = [place('examples/backend.mjs'), '127.0.0.1:0', server.upstream, place(messages)];
  const backend = startProgram(t, process.execPath, args, {
    stdio: ['ignore', 'pipe', 'inherit'],
    env: { CAUSEWAY_KEY: Buffer.from(server.key).toString('hex') },
  });
  return Number((await lineOf(backend, /\d+$/))[0]);
}

export async function startDemo(t, ...options) {
  const program = process.env.CAUSEWAY_DEMO_SERVER;
  const server = await startGameServer(t, { program, players: 16 });
  const backend = await startBackend(t, server, 'demo/schema.js');
  const relay = await startRelay(t, {
    upstream: server.upstream,
    gated: true,
    args: [
      ...['--protocol-id', String(PROTOCOL_ID), '--root', join(build, 'demo')],
      // On a busy machine a page may send nothing for longer than the relay would wait.
      ...['--request-timeout', '60', ...options],
    ],
  });
  return {
    relay,
    server,
    /** The address of the page, with further parameters. The network is not made worse, unless they say so. */
    page: (parameters = {}) =>
      `${relay.url}?${new URLSearchParams({ backend, network: 'good', ...parameters })}`,
  };
}
