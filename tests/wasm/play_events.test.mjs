// playGame and serveGame where players shoot: each shot is heard once and at once, and the server confirms it or not.
import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import { bool, dist, message, schema, uint } from '../support/causeway.mjs';
import { PlayWorld } from '../support/play_rig.mjs';
import { randomFrom } from '../support/random.mjs';

const { loadGame, playGame, serveGame } = await import(new URL('game/index.js', dist));

const entities = schema(
  message('player', { shots: uint(0, 65535) }),
  message('press', { shoot: bool() }),
);
const step = ({ shots }, { shoot }, _, emit) => {
  if (shoot) emit('shot');
  return { shots: shots + Number(shoot) };
};
const rules = { entities, player: 'player', input: 'press', step, events: ['hit', 'shot'] };

before(loadGame);

/** Plays a game of two for some seconds; returns what each has done and heard. */
async function play(t, path, serverRules = rules) {
  const world = new PlayWorld(t, 3);
  Object.assign(world.path, path);
  await serveGame(world.server, { ...serverRules, join: () => ({ shots: 0 }) });
  world.serve();
  const players = [];
  for (let slot = 0; slot < 2; slot++) {
    const random = randomFrom(slot + 1);
    const player = { heard: [], shots: 0 };
    player.game = await playGame(world.connect(slot).page, {
      ...rules,
      keys: () => {
        // The clock has settled by then.
        const shoot = world.now > 102 && world.now < 111 && random() < 0.05;
        player.shots += Number(shoot);
        return { shoot };
      },
      draw: (scene) => (player.scene = scene),
      event: (event) => player.heard.push(event),
      schedule: world.frames(),
    });
    players.push(player);
  }
  world.pass(13);
  return players.map(({ heard, shots }, me) => ({
    shots,
    count: (type, mine = true) =>
      heard.filter((event) => event.type === type && (event.id === me) === mine).length,
    names: [...new Set(heard.map(({ name }) => name))],
    once: new Set(heard.map(({ type, id, tick }) => `${type} ${id} ${tick}`)).size === heard.length,
  }));
}

test('each shot is heard once by both, also through loss', async (t) => {
  for (const path of [{}, { loss: 0.2, jitter: 0.1 }]) {
    const players = await play(t, path);
    for (const [i, player] of players.entries()) {
      assert.ok(player.shots > 15 && player.once);
      assert.deepEqual(player.names, ['shot']);
      // The server plays an input that was lost again, with its shot.
      const more = player.count('happened') - player.shots;
      assert.ok(more >= 0 && more <= (path.loss ? 3 : 0), `${more} more than it shot`);
      assert.ok(player.count('confirmed') >= player.shots - (path.loss ? 3 : 0));
      assert.ok(player.count('happened', false) <= players[1 - i].shots + 3);
    }
  }
});

test('a shot that the server does not know is taken back', async (t) => {
  const [player] = await play(
    t,
    {},
    { ...rules, step: (state, press) => step(state, press, [], () => {}) },
  );
  assert.ok(player.shots > 15);
  assert.deepEqual(
    [player.count('happened'), player.count('taken_back')],
    [player.shots, player.shots],
  );
  assert.equal(player.count('happened', false), 0);
});

test('an event that the rules do not name is refused', async (t) => {
  const world = new PlayWorld(t);
  const game = await serveGame(world.server, { ...rules, join: () => ({ shots: 0 }) });
  assert.throws(() => game.emit(0, 'bang'), /bang/);
});
