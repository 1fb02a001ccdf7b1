// A web backend: it gives a connect token to everybody who asks. A real backend finds out first who the player is.
//   CAUSEWAY_KEY=... node backend.mjs ADDRESS:PORT GAME-SERVER [MESSAGES]
// With port 0 it takes any free port; its first line says which. MESSAGES is a module that exports the game's
// PROTOCOL_ID and messages, by default the messages.js beside this file.
import { generateConnectToken } from 'causeway-net/server';
import { createServer } from 'node:http';
import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';

const [, , listen, gameServer, file] = process.argv;
const [, host, port] = /^\[?(.*?)\]?:(\d+)$/.exec(listen ?? '') ?? [];
const key = process.env.CAUSEWAY_KEY; // the game server has it too
if (!port || !gameServer || !key) {
  console.error('usage: CAUSEWAY_KEY=... node backend.mjs ADDRESS:PORT GAME-SERVER [MESSAGES]');
  process.exit(2);
}
const { PROTOCOL_ID, messages } = await import(
  file ? pathToFileURL(resolve(file)) : './messages.js'
);

// Each visitor is a new player. With the number of another player, the visitor would take over that player's game.
const newClientId = () => crypto.getRandomValues(new BigUint64Array(1))[0];

const server = createServer(async (request, response) => {
  if (!['GET', 'POST'].includes(request.method) || request.url !== '/token') {
    response.writeHead(404).end();
    return;
  }
  const token = await generateConnectToken({
    protocolId: PROTOCOL_ID,
    privateKey: key,
    clientId: newClientId(),
    servers: [gameServer],
    schema: messages,
  });
  response
    .writeHead(200, {
      'content-type': 'application/octet-stream',
      'cache-control': 'no-store',
      // The page comes from the relay, so it has another origin. These tokens are for anybody.
      'access-control-allow-origin': '*',
    })
    .end(token);
});
server.listen(Number(port), host, () => console.log(`tokens on port ${server.address().port}`));
