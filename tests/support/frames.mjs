// Sites that show a page of others in a frame, as itch.io and Discord do.
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { createServer, request as ask } from 'node:http';
import { extname, join } from 'node:path';
import { own } from './fixture.mjs';

async function serve(t, onRequest) {
  const server = createServer(onRequest).listen(0, '127.0.0.1');
  await once(server, 'listening');
  own(t, () => {
    server.closeAllConnections();
    server.close();
  });
  return { server, port: server.address().port };
}

/** Starts the site; returns the address of a page that has the other in a frame, and is of another site than that. */
export async function startFrame(t, address) {
  const html = `<!doctype html><title>A site</title><iframe src="${address}" width=500 height=500></iframe>`;
  const { port } = await serve(t, (_, response) =>
    response.writeHead(200, { 'content-type': 'text/html' }).end(html),
  );
  return `http://localhost:${port}/`;
}

const types = { '.html': 'text/html', '.js': 'text/javascript', '.wasm': 'application/wasm' };

/** Starts a host of files alone, which are below a path; returns the address of that path, and its origin. */
export async function startFileHost(t, folder, path) {
  const { port } = await serve(t, async ({ url, method }, response) => {
    const [name] = url.slice(path.length).split('?');
    const file = join(folder, name || 'index.html');
    const type = types[extname(file)];
    if (method !== 'GET' || !url.startsWith(path) || !type) return response.writeHead(404).end();
    response.writeHead(200, { 'content-type': type }).end(await readFile(file));
  });
  const origin = `http://127.0.0.1:${port}`;
  return { origin, address: `${origin}${path}` };
}

/** All requests of the page are below this path; only the page itself is not. */
const PREFIX = '/.proxy/';

/**
 * Starts a proxy for an application at this port, as Discord's: the page comes with a policy that allows requests below
 * the prefix only, WebAssembly, and no Workers. The application sees its own name as the host.
 */
export async function startDiscord(t, app) {
  const allowed = (url) => url.startsWith(PREFIX) || /^\/(\?|$)/.test(url);
  const pass = ({ method, url, headers }) =>
    ask({
      host: '127.0.0.1',
      port: app,
      method,
      path: `/${url.replace(PREFIX, '').replace(/^\//, '')}`,
      headers: { ...headers, host: 'game.example' },
    });
  const { server, port } = await serve(t, (request, response) => {
    if (!allowed(request.url)) return response.writeHead(404).end();
    const asked = pass(request).on('response', (answer) => {
      response.writeHead(answer.statusCode, {
        ...answer.headers,
        'content-security-policy': policy,
      });
      answer.pipe(response);
    });
    asked.on('error', () => response.destroy());
    request.pipe(asked);
  });
  server.on('upgrade', (request, socket) => {
    socket.on('error', () => {});
    if (!request.url.startsWith(PREFIX)) return socket.destroy();
    const asked = pass(request).on('upgrade', ({ rawHeaders }, way) => {
      const lines = rawHeaders.map((text, i) => (i % 2 ? `: ${text}\r\n` : text)).join('');
      socket.write(`HTTP/1.1 101 Switching Protocols\r\n${lines}\r\n`);
      way.on('error', () => socket.destroy());
      socket.on('close', () => way.destroy());
      way.pipe(socket).pipe(way);
    });
    asked.on('error', () => socket.destroy());
    asked.end();
  });
  const host = `127.0.0.1:${port}`;
  const policy = [
    "default-src 'none'; style-src 'unsafe-inline'; img-src data:; worker-src 'none'",
    `script-src http://${host}${PREFIX} 'wasm-unsafe-eval'`,
    `connect-src http://${host}${PREFIX} ws://${host}${PREFIX}`,
  ].join('; ');
  return { origin: `http://${host}`, address: `http://${host}/?frame_id=1` };
}
