// The game server: it plays what all the pages send, and lets ships collect stars.
import { serveGame } from 'causeway-net/game';
import { listen } from 'causeway-net/server';
import { MAX_PLAYERS, SIZE, messages, rules } from './game.js';
import { host } from './host.js';

export const server = await listen({
  ...host,
  protocolId: 0x6d792d67616d65n, // a number that tells this game from all others
  maxClients: MAX_PLAYERS,
  schema: messages,
});

const somewhere = () => ({ x: Math.random() * SIZE, y: Math.random() * SIZE });
const stars = Array.from({ length: 12 }, somewhere);

await serveGame(server, {
  ...rules,
  join: () => ({ ...somewhere(), right: 0, down: 0, score: 0 }),
  tick(game) {
    stars.forEach((star, i) => {
      const finder = game.players.find(
        ({ state: { x, y } }) => Math.hypot(x - star.x, y - star.y) < 30,
      );
      if (finder) {
        finder.state.score++;
        stars[i] = somewhere();
      }
      game.set(MAX_PLAYERS + i, 'star', stars[i]!); // players have the numbers below
    });
  },
});
