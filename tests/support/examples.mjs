// The programs of core/examples and web/examples together: echo server, backend, relay and page.
import { cpSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { startBackend } from './demo.mjs';
import { startGatedRelay } from './relay.mjs';
import { startGameServer } from './secure.mjs';

export const examples = fileURLToPath(new URL('../../web/examples', import.meta.url));
const dist = fileURLToPath(new URL('../../web/dist', import.meta.url));

/** Starts server and backend, until the test is over. */
export async function startEcho(t) {
  const server = await startGameServer({ program: process.env.CAUSEWAY_ECHO_SERVER });
  t.after(() => server.stop());
  const backend = await startBackend(server);
  t.after(() => backend.stop());
  return { server, backend: `http://127.0.0.1:${backend.port}`, port: backend.port };
}

/** Starts the relay too, which serves the page from a folder like that of web/README.md; returns its address. */
export async function startEchoPage(t) {
  const { server, port } = await startEcho(t);
  const root = mkdtempSync(join(tmpdir(), 'causeway-examples-'));
  t.after(() => rmSync(root, { recursive: true }));
  cpSync(examples, root, { recursive: true });
  cpSync(dist, join(root, 'causeway-net'), { recursive: true });
  const relay = await startGatedRelay(server.port, '--rtc', '127.0.0.1:0', '--root', root);
  t.after(() => relay.stop());
  return { server, url: `${relay.url}?backend=${port}` };
}
