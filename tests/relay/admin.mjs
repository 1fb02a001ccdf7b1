// Helpers of the tests of the admin listener.
import { ask } from '../support/http.mjs';
import { startServed } from '../support/served.mjs';

/** Starts a game server and a relay with an admin listener; `relay.ask(path)` sends that a request. */
export async function startWatched(t, { args = [], ...options } = {}) {
  const all = ['--admin', '127.0.0.1:0', ...args];
  const { server, relay } = await startServed(t, { ...options, args: all });
  const [, port] = await relay.logged(/admin listener on 127\.0\.0\.1:(\d+)\n/);
  const adminPort = Number(port);
  const askIt = (path, request = {}) => askAdmin(adminPort, path, request);
  return { server, relay: Object.assign(relay, { adminPort, ask: askIt }) };
}

/** Asks an admin listener. */
export async function askAdmin(port, path, request) {
  const { status, headers, text } = await ask(port, path, request);
  return { status, type: headers['content-type'], text };
}
