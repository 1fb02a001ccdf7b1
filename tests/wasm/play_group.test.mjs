// playGame and serveGame where players block each other's way and push a ball: the page predicts what a player touches.
import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import { dist, int, message, schema } from '../support/causeway.mjs';
import { PlayWorld } from '../support/play_rig.mjs';
import { randomFrom } from '../support/random.mjs';

const { loadGame, playGame, serveGame } = await import(new URL('game/index.js', dist));

const SPEED = 80;
const REACH = 1500;
const BALL = 100;
const entities = schema(
  message('player', { x: int(-50000, 50000), right: int(-1, 1) }),
  message('ball', { x: int(-50000, 50000), speed: int(-500, 500) }),
  message('press', { right: int(-1, 1) }),
);
const isNear = (x, other) => Math.abs(x - other.value.x) < REACH;
const step = ({ x }, { right }, others) => {
  const to = x + SPEED * right;
  const blocked = [...others].some((other) => other.type === 'player' && isNear(to, other));
  return { x: blocked ? x : to, right };
};
/** A player who comes near to the ball kicks it away. */
const roll = ({ x, speed }, others) => {
  for (const other of others) if (isNear(x, other)) speed = x < other.value.x ? -300 : 300;
  speed -= Math.sign(speed) * Math.min(5, Math.abs(speed));
  return { x: x + speed, speed };
};
const alone = { entities, player: 'player', input: 'press', step };
const rules = {
  ...alone,
  touches: (player, other) => Math.abs(other.value.x - player.x) < 10000,
  guess: ({ right }) => ({ right }),
  steps: { ball: roll },
  smooth: { player: { x: 2000 }, ball: { x: 2000 } },
};

before(loadGame);

const serve = async (world, options = rules) => {
  const game = await serveGame(world.server, {
    ...options,
    join: ({ slot }) => ({ x: 3000 * slot, right: 0 }),
  });
  world.serve();
  return game;
};

/** Lets a player join, whose `right` is what it presses. */
const join = async (world, slot, options = rules) => {
  const ends = world.connect(slot);
  const player = { ...ends, right: () => 0 };
  player.game = await playGame(ends.page, {
    ...options,
    keys: () => ({ right: player.right() }),
    draw: (scene) => (player.scene = scene),
    schedule: world.frames(),
  });
  return player;
};

const placeOf = ({ scene }, id) => scene.entities.find((one) => one.id === id)?.value.x;

test('a player who walks into others is corrected much less by a page that predicts them', async (t) => {
  const counts = [];
  for (const touches of [rules.touches, () => false]) {
    const world = new PlayWorld(t, 5);
    await serve(world);
    const players = [];
    for (let slot = 0; slot < 3; slot++) {
      const random = randomFrom(slot + 1);
      let [until, right] = [0, 0];
      const player = await join(world, slot, { ...rules, touches });
      player.right = () => {
        if (world.now > until)
          [until, right] = [world.now + 1 + random(), Math.floor(3 * random()) - 1];
        return right;
      };
      players.push(player);
    }
    world.pass(20);
    counts.push(
      players.reduce((sum, { game }) => sum + Number(game.stats().prediction.corrections), 0),
    );
  }
  const [predicted, not] = counts;
  assert.ok(not > 40 && predicted * 3 < not, `${predicted} corrections, and ${not} without`);
});

test('a ball is pushed at once, and where it stops the server agrees', async (t) => {
  const world = new PlayWorld(t, 6);
  const game = await serve(world);
  game.set(BALL, 'ball', { x: 5000, speed: 0 });
  const player = await join(world, 0);
  world.pass(2);
  assert.equal(placeOf(player, BALL), 5000);
  player.right = () => 1;
  while (game.get(BALL).value.speed === 0) world.pass(0.001);
  assert.ok(placeOf(player, BALL) > 5000 + 5 * 300, 'the page has not kicked before the server');
  player.right = () => 0;
  world.pass(3);
  assert.ok(game.get(BALL).value.x > 10000);
  assert.equal(placeOf(player, BALL), game.get(BALL).value.x);
  assert.equal(player.game.stats().prediction.corrections, 0);
  game.remove(BALL);
  world.pass(1);
  assert.equal(placeOf(player, BALL), undefined);
});

test('whom a player touches it sees as the server does, and others as they were', async (t) => {
  const world = new PlayWorld(t, 7);
  const seen = [];
  const game = await serveGame(world.server, {
    ...rules,
    join: ({ slot }) => ({ x: 9000 * slot, right: 0 }),
    tick: ({ players: [one, ...others] }) => {
      for (const other of others) seen[other.id] = [other.state.x, one.sees(other)?.x];
    },
  });
  world.serve();
  const players = [await join(world, 0), await join(world, 1), await join(world, 2)];
  for (const player of players) player.right = () => 1;
  world.pass(3);
  assert.equal(game.players.length, 3);
  assert.equal(seen[1][0], seen[1][1]);
  assert.ok(seen[2][0] - seen[2][1] > 3 * SPEED, `it is seen at ${seen[2]}`);
});

test('a page that predicts others has to be told what they do', async (t) => {
  const world = new PlayWorld(t);
  await assert.rejects(join(world, 0, { ...rules, guess: undefined }), {
    code: 'INVALID_ARGUMENT',
    message: /guess/,
  });
});
