// `npm start` runs the game for real players: one process, and one port for the page, connect tokens and the game.
import { readFileSync, readdirSync, statSync } from 'node:fs';
import { extname } from 'node:path';
import { http } from './host.js';
import { server } from './server.js';

const types: Record<string, string> = {
  '.css': 'text/css',
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript',
  '.json': 'application/json',
  '.mp3': 'audio/mpeg',
  '.png': 'image/png',
  '.svg': 'image/svg+xml',
  '.wasm': 'application/wasm',
  '.webp': 'image/webp',
};

/** The files that `npm run build` has written, by their paths. Nothing else is ever served. */
const files = new Map<string, Buffer>();
for (const name of readdirSync('dist', { recursive: true, encoding: 'utf8' }))
  if (statSync(`dist/${name}`).isFile())
    files.set(`/${name.replaceAll('\\', '/')}`, readFileSync(`dist/${name}`));

// Each request is a new player's here. A function in the parentheses says which player has logged in.
const serveToken = server.tokens();

http.on('request', (request, response) => {
  const path = request.url!.split('?', 1)[0]!.replace(/\/$/, '/index.html');
  const file = files.get(path);
  // This tells the page that there is only WebSocket. Browsers would print other answers as errors.
  const none = { 'access-control-allow-origin': '*' };
  if (path === '/token') void serveToken(request, response);
  else if (path === '/rtc' || path === '/webtransport') response.writeHead(204, none).end();
  else if (!file) response.writeHead(404).end();
  else {
    const type = types[extname(path)] ?? 'application/octet-stream';
    // Vite names what is in this folder after its contents.
    const cache = path.startsWith('/assets/') ? 'max-age=31536000, immutable' : 'no-cache';
    response.writeHead(200, { 'content-type': type, 'cache-control': cache }).end(file);
  }
});

const port = Number(process.env.PORT ?? 8080);
http.listen(port, () => console.log(`Open http://127.0.0.1:${port}/ in a browser`));

process.once('SIGTERM', async () => {
  await server.close(); // tells the players
  http.close();
  http.closeAllConnections();
});
