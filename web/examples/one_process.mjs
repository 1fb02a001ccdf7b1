// A whole game in one process and on one port: the page, its tokens, and an echo server that pages reach over WebSocket.
//   PORT=8080 node one_process.mjs FOLDER     serves the files in FOLDER
// PROXIES names the addresses or networks of the reverse proxies in front, if there are any: PROXIES='10.0.0.0/8'.
import { listen } from 'causeway-net/server';
import { readFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { extname, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { PROTOCOL_ID, messages } from './messages.js';

const folder = pathToFileURL(`${resolve(process.argv[2] ?? '.')}/`);
const types = { '.css': 'text/css', '.js': 'text/javascript', '.wasm': 'application/wasm' };

/** Serves a file of the folder. In the path of a URL there is no `..` any more. */
async function serveFile({ url }, response) {
  try {
    const path = new URL(url, 'http://here').pathname.replace(/\/$/, '/index.html');
    const bytes = await readFile(new URL(`.${path}`, folder));
    response.writeHead(200, { 'content-type': types[extname(path)] ?? 'text/html' }).end(bytes);
  } catch {
    response.writeHead(404).end();
  }
}

const http = createServer();
const server = await listen({
  server: http,
  trustedProxies: process.env.PROXIES?.split(' ') ?? [],
  protocolId: PROTOCOL_ID,
  schema: messages,
});
server.addEventListener('connect', ({ client }) => {
  client.addEventListener('message', ({ message: { type, value } }) => {
    if (client.writable) client.send(type, value);
  });
});

const serveToken = server.tokens(); // each request is a new player's
http.on('request', (request, response) => {
  if (request.url === '/token') void serveToken(request, response);
  else void serveFile(request, response);
});
http.listen(process.env.PORT ?? 8080, () => console.log(`port ${http.address().port}`));
process.once('SIGTERM', async () => {
  await server.close(); // tells the players
  http.close();
  http.closeAllConnections();
});
