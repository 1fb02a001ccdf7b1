// Helpers of the tests of the admin listener.
import { startRelay } from '../support/relay.mjs';
import { ask } from '../support/http.mjs';

/** Starts a relay with an admin listener; `ask(path)` sends that a request. */
export async function startWatched(t, { args = [], ...options }) {
  const relay = await startRelay(t, { ...options, args: ['--admin', '127.0.0.1:0', ...args] });
  const [, port] = await relay.logged(/admin listener on 127\.0\.0\.1:(\d+)\n/);
  return Object.assign(relay, {
    adminPort: Number(port),
    ask: (path, request = {}) => askAdmin(Number(port), path, request),
  });
}

/** Asks an admin listener. */
export async function askAdmin(port, path, request) {
  const { status, headers, text } = await ask(port, path, request);
  return { status, type: headers['content-type'], text };
}
