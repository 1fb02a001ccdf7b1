// Helpers of the tests of the admin listener.
import http from 'node:http';
import { patiently, startRelay } from './support.mjs';

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
export async function askAdmin(port, path, { method = 'GET', headers = {}, body = '' } = {}) {
  const length = body ? { 'content-length': Buffer.byteLength(body) } : {};
  const options = { host: '127.0.0.1', port, path, method, agent: false };
  return patiently(
    new Promise((resolve, reject) => {
      const request = http.request({ ...options, headers: { ...length, ...headers } });
      request.on('error', reject);
      request.on('response', async (response) => {
        let text = '';
        for await (const piece of response.setEncoding('utf8')) text += piece;
        resolve({ status: response.statusCode, type: response.headers['content-type'], text });
      });
      request.end(body);
    }),
    `the answer to ${method} ${path}`,
  );
}
