// The web backend of the demo: it gives a connect token to everybody who asks. A real backend finds out first who the
// player is.
//   node backend.mjs ADDRESS:PORT GAME-SERVER     port 0 takes any free one; the program says which
// The environment variable CAUSEWAY_KEY holds the key that the game server has too.
import { generateConnectToken } from 'causeway-net';
import { createServer } from 'node:http';
import { PROTOCOL_ID, messages } from './schema.js';

const [, , listen, gameServer] = process.argv;
const [, host, port] = /^\[?(.*?)\]?:(\d+)$/.exec(listen);
// Each visitor is a new player. With the number of another player, the visitor would take over that player's game.
const newClientId = () => crypto.getRandomValues(new BigUint64Array(1))[0];

const server = createServer(async (request, response) => {
  if (!['GET', 'POST'].includes(request.method) || request.url !== '/token') {
    response.writeHead(404).end();
    return;
  }
  const token = await generateConnectToken({
    protocolId: PROTOCOL_ID,
    privateKey: process.env.CAUSEWAY_KEY,
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
