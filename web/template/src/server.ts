// The game server: it knows where everybody is, and tells everybody.
import { listen } from 'causeway-net/server';
import { host } from './host.js';
import { MAX_PLAYERS, SIZE, messages } from './messages.js';

export const server = await listen({
  ...host,
  protocolId: 0x6d792d67616d65n, // a number that tells this game from all others
  maxClients: MAX_PLAYERS,
  schema: messages,
});

const players = new Map<number, { x: number; y: number }>();

server.addEventListener('connect', ({ client }) => {
  // Each player begins at another place.
  players.set(client.slot, { x: (SIZE / 2 + client.slot * 137) % SIZE, y: SIZE / 2 });
  client.addEventListener('message', ({ message: { type, value } }) => {
    if (type === 'move') players.set(client.slot, value);
  });
  client.addEventListener('disconnect', () => players.delete(client.slot));
});

server.addEventListener('tick', () => {
  const world = [...players].map(([slot, place]) => ({ slot, ...place }));
  server.broadcast('world', { players: world }); // 60 times a second
});
