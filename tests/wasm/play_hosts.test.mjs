// playGame and serveGame on the hosts of the package: a server that takes pages itself, and clients over WebSocket.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { dist, int, message, schema, string } from '../support/causeway.mjs';
import { own } from '../support/fixture.mjs';
import { startOneProcess, play as connectPlayer } from '../support/one_process.mjs';
import { until } from '../support/patience.mjs';

const { gameMessage, playGame, serveGame } = await import(new URL('game/index.js', dist));

const messages = schema(message('say', { text: string(20) }), gameMessage);
const entities = schema(
  message('walker', { x: int(-1e9, 1e9) }),
  message('press', { right: int(-1, 1) }),
);
const step = (walker, { right }) => ({ x: walker.x + right });
const rules = { entities, player: 'walker', input: 'press', step, smooth: { walker: { x: 100 } } };

/** Starts a player; `scene` is what its page shows. */
async function startPlayer(t, place, clientId, right) {
  const client = await connectPlayer(t, place, { clientId, schema: messages });
  const player = { client };
  player.game = await playGame(client, {
    ...rules,
    keys: () => ({ right }),
    draw: (scene) => (player.scene = scene),
  });
  own(t, () => player.game.stop());
  return player;
}

const place = async (t, options) => {
  const place = await startOneProcess(t, { schema: messages, ...options });
  const game = await serveGame(place.server, {
    ...rules,
    join: ({ slot }) => ({ x: 1000 * slot }),
  });
  own(t, () => game.stop());
  return { ...place, game };
};

test('two pages play over a real connection, and other messages go through', async (t) => {
  const at = await place(t);
  const one = await startPlayer(t, at, 1n, 1);
  const two = await startPlayer(t, at, 2n, -1);
  await until('two players', () => one.scene?.entities.length === 2 && two.scene?.own);
  assert.deepEqual([one.scene.me, two.scene.me], [0, 1]);
  await until('their moves', () => one.scene.own.x > 60 && one.scene.entities[1].value.x < 940);
  const texts = [];
  one.client.addEventListener('message', ({ message: { type, value } }) => {
    if (type === 'say') texts.push(value.text);
  });
  at.game.players[0].client.send('say', { text: 'hello' });
  await until('a message', () => texts.length > 0);
  two.client.disconnect();
  await until('one player', () => one.scene.entities.length === 1);
  assert.equal(at.game.players.length, 1);
});

test('there is a player for each slot of the server', async (t) => {
  const at = await place(t, { maxClients: 100 });
  assert.equal(at.server.maxClients, 100);
  assert.equal(at.game.set(100, 'walker', { x: 1 }).x, 1);
});

test('options that are missing or cannot work are named', async (t) => {
  const at = await place(t);
  const { client } = await startPlayer(t, at, 1n, 0);
  const draw = () => {};
  const keys = () => ({ right: 0 });
  for (const name of ['entities', 'player', 'input', 'step', 'keys', 'draw'])
    await assert.rejects(playGame(client, { ...rules, keys, draw, [name]: undefined }), {
      code: 'INVALID_ARGUMENT',
    });
  await assert.rejects(playGame(client, { ...rules, keys, draw, player: 'nobody' }), /nobody/);
  await assert.rejects(playGame(client, { ...rules, keys, draw, ticksPerSecond: 0 }), {
    code: 'CONFIG',
    field: 'ticksPerSecond',
  });
  await assert.rejects(serveGame(at.server, rules), { code: 'INVALID_ARGUMENT' });
});
