// The game on Causeway: playGame over the WebRTC of a relay, and serveGame.
import { begin, step } from './rules.mjs';
import { connect, dist, int, message, schema } from '../../support/causeway.mjs';

const { gameMessage, playGame, serveGame } = await import(new URL('game/index.js', dist));

const PROTOCOL_ID = 0x67616d65n;
const messages = schema(gameMessage);
const entities = schema(
  message('player', { x: int(0, 20000), y: int(0, 20000) }),
  message('press', { right: int(-1, 1), up: int(-1, 1) }),
);

/** Returns the rules, for an end that knows the others. */
const rulesWith = (others) => ({
  entities,
  player: 'player',
  input: 'press',
  step: (player, press) => {
    const next = { ...player };
    step(next, press, others(player));
    return next;
  },
  smooth: { player: { x: 2000, y: 2000 } },
});

/** Starts a server; `ticked` is called with the number of each tick. Returns what `join` needs, for each player. */
export async function serve(address, ticked, players) {
  const { startRelay } = await import('../../support/relay.mjs');
  const { listen } = await import('../../support/node_server.mjs');
  const server = await listen({ protocolId: PROTOCOL_ID, schema: messages });
  const game = await serveGame(server, {
    ...rulesWith((player) =>
      game.players.map(({ state }) => state).filter((state) => state !== player),
    ),
    join: ({ slot }) => begin(slot),
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
    ...rulesWith(() => others().map(({ value }) => value)),
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
