// Runs everything that a game in development needs, in one process: the page and its files, which Vite serves, connect
// tokens, a relay, and the game server.
import { existsSync } from 'node:fs';
import { createServer } from 'node:http';
import { createRequire } from 'node:module';
import { join, relative, resolve } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { reachedAt } from './addresses.mjs';
import { UsageError } from './arguments.mjs';
import { GameServer } from './game_server.mjs';
import { NativeRelay, findRelay } from './native_relay.mjs';
import { DevRelay } from './relay.mjs';
import { hostRefusal, originRefusal } from './visitors.mjs';

const own = fileURLToPath(new URL('..', import.meta.url));

/** Loads a package of the developer's project. */
async function packageOf(root, name) {
  let file;
  try {
    file = createRequire(join(root, 'package.json')).resolve(name);
  } catch {
    throw new Error(`it needs the package ${name}: npm install --save-dev vite ws`);
  }
  return import(pathToFileURL(file));
}

/** Returns whether the path of a request can be read as a URL. Other paths would make this code and Vite throw. */
const isPath = (url) => url.startsWith('/') && URL.canParse(url, 'http://here');

/** Answers a request for a connect token. */
async function giveToken(game, request, response) {
  const { origin } = request.headers;
  const refusal = originRefusal(request);
  const answer = (status, body, headers) => {
    if (origin && !refusal) headers['access-control-allow-origin'] = origin;
    response.writeHead(status, { 'cache-control': 'no-store', ...headers }).end(body);
  };
  if (refusal) return answer(403, refusal, {});
  try {
    answer(200, await game.token(), { 'content-type': 'application/octet-stream' });
  } catch (error) {
    answer(503, `${error.message}; the terminal says why\n`, { 'retry-after': '1' });
  }
}

/** Answers a request for WebRTC or WebTransport. */
function offer(relay, request, response) {
  const refusal = originRefusal(request);
  if (!refusal) return relay.offer(request, response);
  response.writeHead(403, { 'content-type': 'text/plain' }).end(refusal);
}

function listenAt(http, { host, port }) {
  return new Promise((listening, fails) => {
    http.once('error', (error) =>
      fails(
        error.code === 'EADDRINUSE'
          ? new Error(`port ${port} is taken: end what listens there, or pass another --listen`)
          : error,
      ),
    );
    http.listen(port, host, () => {
      const here = reachedAt(host);
      const at = here.includes(':') ? `[${here}]` : here;
      listening(`http://${at}:${http.address().port}/`);
    });
  });
}

/** Returns the lines of an error that say where it happened, without Node's own code. */
const placesOf = ({ stack = '' }) =>
  stack.split('\n').filter((line) => /^ +at /.test(line) && !/\bnode:|game_thread/.test(line));

/** Makes the relay, and tells whether there is WebRTC. */
function makeRelay(WebSocketServer, { relay: named, listen: { host } }, print) {
  const plain = new DevRelay(WebSocketServer);
  const program = named === 'none' ? undefined : findRelay(named);
  print(
    program
      ? `Pages play over WebRTC, through ${program}.`
      : 'Pages play over WebSocket only: WebRTC needs a causeway-relay on the PATH or in this folder, or --relay FILE.',
  );
  return program ? new NativeRelay(program, host, plain, print) : plain;
}

/** Puts together the parts, which need one another: page, relay and game server. */
async function assemble(options, { root, server: file, print }) {
  const vite = await packageOf(root, 'vite');
  const { WebSocketServer } = (await packageOf(root, 'ws')).default;
  const http = createServer();
  const pages = await vite.createServer({
    root,
    logLevel: 'warn',
    server: {
      middlewareMode: true,
      hmr: { server: http },
      // The package causeway-net may be outside the project, for example in a folder above it.
      fs: { allow: [vite.searchForWorkspaceRoot(root), own] },
    },
    // Vite would bundle the package without the WebAssembly modules beside its code.
    optimizeDeps: { exclude: ['causeway-net'] },
  });
  const relay = makeRelay(WebSocketServer, options, print);
  const name = relative(process.cwd(), file);
  let started = false;
  const tell = ({ server, error, refused }) => {
    if (error) [`${name}: ${error.message}`, ...placesOf(error)].forEach(print);
    else if (refused) {
      const line = `${name} refuses connect tokens (${refused.code}, ${refused.count} requests): ${refused.message}`;
      print(line);
      // Pages that were there before the server have new tokens by themselves.
      if (refused.code !== 'TOKEN_LIFE')
        pages.ws.send({
          type: 'error',
          err: { message: line, stack: '', plugin: 'causeway-net dev' },
        });
    } else if (server) print(`${name} serves the game at ${server.host}, UDP port ${server.port}`);
    if (error || refused) return;
    relay.server = server;
    // A reload lets the pages of an earlier server play on with the new one.
    if (server && started) pages.ws.send({ type: 'full-reload' });
    started ||= Boolean(server);
  };
  const game = new GameServer({ vite, watcher: pages.watcher, root, file, tell });
  return { http, pages, relay, game };
}

/**
 * Starts everything.
 * @param options as `readArguments` gives them
 * @param print is called with each line that the developer is to read
 * @returns the address of the page, and a function that ends everything
 */
export async function dev(options, print) {
  const root = resolve(options.root);
  const server = resolve(options.server);
  if (!existsSync(server))
    throw new UsageError(`--server ${options.server}: there is no such file`);
  const { http, pages, relay, game } = await assemble(options, { root, server, print });

  const wrongHost = (request) => hostRefusal(request, pages.config.server.allowedHosts);
  http.on('request', (request, response) => {
    const refusal = wrongHost(request);
    if (refusal) response.writeHead(403, { 'content-type': 'text/plain' }).end(refusal);
    else if (!isPath(request.url)) response.writeHead(400).end();
    else if (request.method === 'GET' || request.method === 'HEAD')
      pages.middlewares(request, response);
    else if (/^\/token(\?|$)/.test(request.url)) void giveToken(game, request, response);
    else if (/^\/(rtc|webtransport)([/?]|$)/.test(request.url))
      void offer(relay, request, response);
    else response.writeHead(404).end();
  });
  http.on('upgrade', (request, socket, head) => {
    socket.on('error', () => {});
    if (!relay.wants(request)) return;
    const refusal = wrongHost(request) ?? originRefusal(request);
    if (!refusal) relay.upgrade(request, socket, head);
    else socket.end(`HTTP/1.1 403 Forbidden\r\nconnection: close\r\n\r\n${refusal}`);
  });
  const close = async () => {
    relay.close();
    await game.close();
    await pages.close();
    http.closeAllConnections();
    http.close();
  };
  try {
    const address = await listenAt(http, options.listen);
    print('For development only: everybody who reaches this gets a token, and there is no TLS.');
    await game.start();
    print(`Open ${address} in a browser; Ctrl-C ends it`);
    return { address, close };
  } catch (error) {
    await close();
    throw error;
  }
}
