// The game on Causeway: playGame over the WebRTC of a relay, and serveGame.
import { begin, step } from './rules.mjs';
import { connect, dist, int, message, schema } from '../../support/causeway.mjs';

const { gameMessage, playGame, serveGame } = await import(new URL('game/index.js', dist));

const PROTOCOL_ID = 0x67616d65n;
const messages = schema(gameMessage);
const entities = schema(
  // A state has what the player does, from which the other pages guess what it does next.
  message('player', { x: int(0, 20000), y: int(0, 20000), right: int(-1, 1), up: int(-1, 1) }),
  message('press', { right: int(-1, 1), up: int(-1, 1) }),
);

const rules = {
  entities,
  player: 'player',
  input: 'press',
  step(player, press, others) {
    const next = { ...player, ...press };
    step(
      next,
      press,
      [...others].map(({ value }) => value),
    );
    return next;
  },
  touches: () => true,
  guess: ({ right, up }) => ({ right, up }),
  smooth: { player: { x: 2000, y: 2000 } },
};

/** Starts a server; `ticked` is called with the number of each tick. Returns what `join` needs, for each player. */
export async function serve(address, ticked, players) {
  const { startRelay } = await import('../../support/relay.mjs');
  const { listen } = await import('../../support/node_server.mjs');
  const server = await listen({ protocolId: PROTOCOL_ID, schema: messages });
  await serveGame(server, {
    ...rules,
    join: ({ slot }) => ({ ...begin(slot), right: 0, up: 0 }),
    tick: () => ticked(++ticks),
  });
  let ticks = 0;
  const relay = await startRelay(null, {
    upstream: server.address,
    listen: `${address}:0`,
    gated: true,
    args: ['--rtc', address, '--protocol-id', String(PROTOCOL_ID)],
  });
  const token = async (clientId) =>
    Buffer.from(await server.generateConnectToken({ clientId })).toString('hex');
  return Promise.all(
    Array.from({ length: players }, async (_, i) => `${relay.url}#${await token(BigInt(i + 1))}`),
  );
}

/** Joins a game. `frame` plays the ticks that are due, and returns the ticks of the others that are shown. */
export async function join(url, keys) {
  const { RTCPeerConnection } = await import('../../support/wrtc.mjs');
  const [relay, token] = url.split('#');
  const client = await connect(relay, {
    token: Buffer.from(token, 'hex'),
    schema: messages,
    transports: ['webrtc'],
    RTCPeerConnection,
  });
  let frame;
  let scene;
  const others = () => scene?.entities.filter(({ id }) => id !== scene.me) ?? [];
  const game = await playGame(client, {
    ...rules,
    keys,
    draw: (now) => (scene = now),
    schedule: (next) => (frame = next),
  });
  return {
    corrections: () => Number(game.stats().prediction.corrections),
    frame: () => {
      frame?.();
      const { from, to, fraction } = game.stats().view;
      return others().map(() => from + (to - from) * fraction);
    },
  };
}
