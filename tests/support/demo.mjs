// The demo as web/demo/run starts it: the native game server, the backend, the relay, the page.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { startGatedRelay } from './relay.mjs';
import { startGameServer } from './secure.mjs';
import { PROTOCOL_ID } from '../../web/demo/schema.js';

const build = process.env.CAUSEWAY_BUILD;
const place = (name) => fileURLToPath(new URL(`../../web/${name}`, import.meta.url));

/** Starts the backend of web/examples for a game server with these messages. */
export async function startBackend(server, messages = 'examples/messages.js') {
  const backend = spawn(
    process.execPath,
    [
      place('examples/backend.mjs'),
      ...['127.0.0.1:0', `127.0.0.1:${server.port}`, place(messages)],
    ],
    {
      stdio: ['ignore', 'pipe', 'inherit'],
      env: { CAUSEWAY_KEY: Buffer.from(server.key).toString('hex') },
    },
  );
  const [line] = await once(createInterface(backend.stdout), 'line');
  return { port: Number(/\d+$/.exec(line)[0]), stop: () => backend.kill() };
}

export async function startDemo(...options) {
  const server = await startGameServer({ program: process.env.CAUSEWAY_DEMO_SERVER, players: 16 });
  const backend = await startBackend(server, 'demo/schema.js');
  const relay = await startGatedRelay(
    server.port,
    '--protocol-id',
    String(PROTOCOL_ID),
    '--root',
    join(build, 'demo'),
    ...options,
  );
  return {
    relay,
    server,
    /** The address of the page, with further parameters. */
    page: (parameters = {}) =>
      `${relay.url}?${new URLSearchParams({ backend: backend.port, ...parameters })}`,
    stop: async () => {
      backend.stop();
      await server.stop();
      return relay.stop();
    },
  };
}
