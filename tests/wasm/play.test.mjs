// playGame and serveGame: a page and a server of the same game, with the kit's own core and a bad path between them, in
// virtual time.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { before, test } from 'node:test';
import { bool, compressedFloat, dist, int, message, schema, uint } from '../support/causeway.mjs';
import { PlayWorld } from '../support/play_rig.mjs';
import { randomFrom } from '../support/random.mjs';

const { loadGame, playGame, serveGame } = await import(new URL('game/index.js', dist));

const SPEED = 80;
const entities = schema(
  message('player', {
    x: int(-50000, 50000),
    heat: compressedFloat(0, 10, 0.1),
    hits: uint(0, 65535),
  }),
  message('crate', { x: int(-50000, 50000), open: bool() }),
  message('press', { right: int(-1, 1), hit: bool() }),
);
const step = (player, { right }) => ({
  ...player,
  x: player.x + SPEED * right,
  // It does not lie on the grid of the wire.
  heat: Math.min(10, player.heat * 0.97 + 0.07 * Math.abs(right)),
});
const smooth = { player: { x: 2000 }, crate: { x: 2000 } };
const rules = { entities, player: 'player', input: 'press', step, smooth };
const still = { right: 0, hit: false };

/** The kit that a page has, and not Node. */
let kit;
before(async () => {
  await loadGame();
  kit = await loadGame({ wasm: readFileSync(new URL('causeway-game.wasm', dist)) });
});

/** Serves a game; returns it and the loop of its server. */
async function serve(world, options = {}, perSecond = 60) {
  const game = await serveGame(world.server, {
    ...rules,
    join: ({ slot }) => ({ x: 1000 * slot, heat: 0, hits: 0 }),
    ...options,
  });
  return { game, loop: world.serve(perSecond) };
}

/** Lets a player join, and returns what there is of it; `keys` may be replaced. */
async function join(world, slot, options = {}, perSecond = 60) {
  const ends = world.connect(slot);
  const player = { ...ends, keys: () => still, scenes: 0, frames: world.frames(perSecond) };
  player.game = await playGame(ends.page, {
    ...rules,
    kit,
    keys: () => player.keys(),
    draw: (scene) => {
      player.scene = scene;
      player.scenes++;
      player.drawn?.(scene);
    },
    schedule: player.frames,
    ...options,
  });
  return player;
}

/** Returns keys that change their mind now and then. */
const wander = (seed, world) => {
  const random = randomFrom(seed);
  let [until, right] = [0, 0];
  return () => {
    if (world.now > until)
      [until, right] = [world.now + 0.3 * random(), Math.floor(3 * random()) - 1];
    return { right, hit: false };
  };
};

const found = ({ scene }, id) => scene.entities.find((entity) => entity.id === id);

test('a player moves at once, and the server agrees when it comes to rest', async (t) => {
  const world = new PlayWorld(t);
  const { game } = await serve(world);
  const player = await join(world, 3);
  assert.equal(player.game.me, undefined);
  world.pass(2);
  assert.equal(player.scene.me, 3);
  assert.deepEqual(player.scene.own, { x: 3000, heat: 0, hits: 0 });
  player.keys = () => ({ right: 1, hit: false });
  world.pass(0.1); // less than the way to the server and back
  assert.ok(player.scene.own.x > 3000 + 3 * SPEED, `it is at ${player.scene.own.x}`);
  world.pass(1);
  player.keys = () => still;
  world.pass(1);
  const [{ state }] = game.players;
  assert.deepEqual(player.scene.own, state);
  const { clock, prediction } = player.game.stats();
  assert.equal(clock.synced, true);
  assert.ok(prediction.compared > 100 && prediction.corrections === 0, JSON.stringify(prediction));
});

test('others and entities of the server are seen to move evenly through loss', async (t) => {
  const world = new PlayWorld(t, 5);
  world.path.loss = 0.1;
  let [there, ticks] = [true, 0];
  const { game } = await serve(world, {
    ticksPerSnapshot: 3,
    tick(game) {
      if (there) assert.equal(game.set(9, 'crate', { x: 10 * ticks++, open: false }).open, false);
    },
  });
  const [one, two] = [await join(world, 0), await join(world, 1)];
  two.keys = () => ({ right: 1, hit: false });
  world.pass(2);
  let last;
  let most = 0;
  one.drawn = () => {
    const x = found(one, 9).value.x;
    if (last !== undefined) assert.ok(x >= last, 'the crate goes back');
    most = Math.max(most, x - (last ?? x));
    last = x;
  };
  world.pass(5);
  assert.ok(most < 25, `the crate jerks by ${most}`);
  assert.equal(found(one, 1).type, 'player');
  assert.ok(found(one, 1).value.x > 1000 + 4 * 60 * SPEED);
  assert.ok(game.get(9).value.x > last, 'what is seen is behind');
  assert.deepEqual(
    one.scene.entities.map(({ id }) => id),
    [0, 1, 9],
  );
  there = false;
  one.drawn = undefined;
  game.remove(9);
  world.disconnect(two);
  world.pass(2);
  assert.deepEqual(
    one.scene.entities.map(({ id }) => id),
    [0],
  );
  assert.equal(game.players.length, 1);
});

test('a player gets what the server says that it is interested in', async (t) => {
  const world = new PlayWorld(t, 2);
  let near = [0, 1, 9, 10];
  await serve(world, {
    tick(game) {
      for (const id of [9, 10, 11]) game.set(id, 'crate', { x: id, open: false });
    },
    interest: ({ id }) => (id === 0 ? near : [10]).map((entity) => ({ entity, priority: 1 })),
  });
  const [one, two] = [await join(world, 0), await join(world, 1)];
  const seenBy = ({ scene }) => scene.entities.map(({ id }) => id);
  world.pass(2);
  assert.deepEqual(
    [seenBy(one), seenBy(two)],
    [
      [0, 1, 9, 10],
      [1, 10],
    ],
  );
  near = [11];
  world.pass(2);
  assert.deepEqual(seenBy(one), [0, 11]);
});

test('the newest snapshot can be read, and shown without interpolation', async (t) => {
  const world = new PlayWorld(t, 2);
  const { game } = await serve(world, {
    tick: (game) => game.set(9, 'crate', { x: game.stats().tick, open: false }),
  });
  const player = await join(world, 0);
  world.pass(2);
  const newest = player.game.get(9);
  assert.equal(newest.type, 'crate');
  assert.equal(player.game.get(1), undefined);
  assert.deepEqual(player.game.get(0).value, game.get(0).value);
  assert.ok(found(player, 9).value.x < newest.value.x, 'what is shown is behind');
  const { serverTick } = player.game.stats();
  assert.ok(Math.abs(serverTick - game.stats().tick) < 2, `it is tick ${serverTick}`);

  player.game.interpolates = false;
  let frames = 0;
  player.drawn = () => {
    frames++;
    assert.deepEqual(found(player, 9), player.game.get(9));
  };
  world.pass(1);
  assert.ok(frames > 50);
  assert.ok(player.scene.own);
});

test('a shot is judged by what its player saw', async (t) => {
  const world = new PlayWorld(t, 3);
  const seen = [];
  const { game } = await serve(world, {
    tick({ players }) {
      for (const player of players)
        for (const other of players)
          if (player.input.hit && other !== player) {
            seen.push({ there: other.state.x, x: player.sees(other)?.x });
            player.state.hits++;
          }
    },
  });
  const [one, two] = [await join(world, 0), await join(world, 1)];
  two.keys = () => ({ right: 1, hit: false });
  world.pass(2);
  const shots = [];
  let shoot = false;
  one.drawn = () => (shoot = Math.floor(world.now * 60) % 20 === 0);
  one.keys = () => {
    if (shoot) shots.push(found(one, 1).value.x);
    return { right: 0, hit: shoot };
  };
  world.pass(5);
  one.keys = () => still;
  world.pass(1);
  assert.ok(seen.length > 10);
  for (const { there, x } of seen) {
    assert.ok(
      shots.some((shot) => Math.abs(shot - x) < SPEED),
      `${x} is not where it was seen`,
    );
    assert.ok(there - x > 3 * SPEED, 'what is seen is behind');
  }
  assert.equal(one.scene.own.hits, seen.length);
  assert.equal(game.players[0].state.hits, seen.length);
});

test('a connection of its own begins the game anew; the end of one stops the frames', async (t) => {
  const world = new PlayWorld(t, 7);
  await serve(world);
  const player = await join(world, 2);
  player.keys = () => ({ right: 1, hit: false });
  world.pass(2);
  assert.ok(player.scene.own.x > 2000 + 60 * SPEED);
  world.disconnect(player);
  world.pass(0.5);
  const { scenes } = player;
  world.pass(0.5);
  assert.equal(player.scenes, scenes, 'it draws without a connection');
  assert.equal(player.frames.waits(), false);

  // The client comes back as a new one, in another slot.
  const fresh = world.connect(5);
  player.page.enter('opening');
  player.page.enter('requesting');
  assert.equal(player.game.me, undefined);
  Object.assign(player.page, { way: fresh.page.way, other: fresh.client });
  fresh.client.other = player.page;
  player.page.enter('connected');
  player.keys = () => still;
  world.pass(2);
  assert.equal(player.scene.me, 5);
  assert.deepEqual(player.scene.own, { x: 5000, heat: 0, hits: 0 });
  assert.deepEqual(
    player.scene.entities.map(({ id }) => id),
    [5],
  );
});

test('a link that breaks and returns changes nothing', async (t) => {
  const world = new PlayWorld(t, 7);
  await serve(world);
  const player = await join(world, 2);
  player.keys = () => ({ right: 1, hit: false });
  world.pass(2);
  const { x } = player.scene.own;
  player.page.enter('reconnecting');
  world.pass(0.2);
  player.page.enter('connected');
  world.pass(2);
  assert.ok(player.scene.own.x > x + 120 * SPEED);
});

test('both ends end when they are told, also while they call the application', async (t) => {
  const world = new PlayWorld(t);
  const { game } = await serve(world, {
    tick: (game) => {
      if (world.now > 102) game.stop();
    },
  });
  const players = [await join(world, 0), await join(world, 1)];
  players[0].drawn = () => {
    if (world.now > 101) players[0].game.stop();
  };
  const keys = players[1].keys;
  players[1].keys = () => {
    if (world.now > 101.5) players[1].game.stop();
    return keys();
  };
  world.pass(3);
  for (const end of [game, players[0].game, players[1].game])
    assert.throws(() => end.stats(), { name: 'MisuseError', code: 'DESTROYED' });
  for (const { frames } of players) assert.equal(frames.waits(), false);
  players[0].game.stop();
});

test('a value that does not fit is told by name, and the game goes on', async (t) => {
  const world = new PlayWorld(t);
  const { game } = await serve(world);
  const player = await join(world, 1);
  world.pass(1);
  const errors = [];
  const { run } = player.frames.loop;
  player.frames.loop.run = () => {
    try {
      run();
    } catch (error) {
      errors.push(error.message);
    }
  };
  player.keys = () => ({ right: 2, hit: false });
  world.pass(0.2);
  assert.deepEqual([...new Set(errors)], ['press.right: 2 is not a whole number from -1 to 1']);
  assert.equal(player.scene.own.x, 1000);
  player.keys = () => ({ right: 1, hit: false });
  world.pass(1);
  assert.ok(player.scene.own.x > 1000 + 30 * SPEED);
  assert.ok(game.players[0].state.x > 1000 + 30 * SPEED);
  assert.throws(() => game.set(9, 'crate', { x: 0.5, open: true }), /crate\.x: 0\.5/);
  assert.throws(() => game.set(9, 'nobody', {}), /nobody/);
  assert.throws(() => game.set(5000, 'crate', { x: 0, open: true }), { code: 'INVALID_ARGUMENT' });
});

test('a step that depends on chance is named by field within two seconds', async (t) => {
  const world = new PlayWorld(t, 4);
  await serve(world);
  let chance = 0;
  const player = await join(world, 1, {
    step: (state, input) => {
      const next = step(state, input);
      return { ...next, heat: Math.min(10, next.heat + chance * world.random()) };
    },
  });
  player.keys = wander(3, world);
  world.pass(3);
  assert.deepEqual([player.game.verdict().type, player.game.verdict().text], ['good', 'good']);
  const { tick } = player.game.stats();
  chance = 1;
  world.pass(2);
  const verdict = player.game.verdict();
  assert.deepEqual([verdict.type, verdict.field, verdict.entity], ['diverging', 'heat', 1]);
  assert.ok(verdict.tick > tick - 60 && verdict.tick < tick + 180, `it is tick ${verdict.tick}`);
  assert.equal(verdict.text, `diverging: field \`heat\` of entity 1 at tick ${verdict.tick}`);
});

test('a bad path is told from rules that differ', async (t) => {
  const world = new PlayWorld(t, 6);
  await serve(world);
  const player = await join(world, 1);
  player.keys = wander(3, world);
  world.pass(3);
  const seen = new Set();
  player.drawn = () => seen.add(player.game.verdict().text.replace(/\d+ ms/, 'N ms'));
  for (let i = 0; i < 12; i++) {
    world.path = { delay: i % 2 ? 0.3 : 0.03, jitter: 0.1, loss: 0.2 };
    world.pass(0.5);
  }
  assert.ok(seen.has('network: jitter N ms'), [...seen].join('; '));
  assert.ok(
    [...seen].every((text) => !text.startsWith('diverging')),
    [...seen].join('; '),
  );
});

test('bytes that are none of the other end change nothing', async (t) => {
  const world = new PlayWorld(t);
  const { game } = await serve(world);
  const player = await join(world, 1);
  world.pass(1);
  const random = randomFrom(9);
  for (let size = 0; size < 400; size++) {
    const body = Uint8Array.from({ length: size }, () => 256 * random());
    player.page.bring('game_body', { body });
    player.client.bring('game_body', { body });
  }
  player.keys = () => ({ right: 1, hit: false });
  world.pass(2);
  assert.ok(game.players[0].state.x > 1000 + 90 * SPEED);
  assert.ok(player.game.stats().malformed > 390);
  assert.ok(game.stats().malformed > 390);
});

test('other messages of the connection are left alone', async (t) => {
  const world = new PlayWorld(t);
  const { game } = await serve(world);
  const player = await join(world, 1);
  player.page.bring('say', { text: 'x' });
  player.client.bring('say', { text: 'x' });
  world.pass(1);
  assert.deepEqual([player.game.stats().malformed, game.stats().malformed], [0, 0]);
});

// Loops that are slow, and one that stands still: nobody jumps, and prediction goes on.
for (const { name, loop, frames, stall = 0 } of [
  { name: 'a server whose loop runs at 45 Hz plays 60 ticks', loop: 45, frames: 60 },
  { name: 'a page of 20 frames plays 60 ticks', loop: 60, frames: 20 },
  { name: 'a page of 144 frames moves evenly', loop: 60, frames: 144 },
  { name: 'a stall of 500 ms passes without a jump', loop: 60, frames: 60, stall: 0.5 },
])
  test(name, async (t) => {
    const world = new PlayWorld(t, 11);
    const { game, loop: server } = await serve(world, {}, loop);
    const one = await join(world, 0, {}, frames);
    const two = await join(world, 1);
    one.keys = wander(1, world);
    two.keys = wander(2, world);
    world.pass(3);
    const before = one.game.stats();
    const began = game.stats().tick;
    if (stall) {
      server.paused = true;
      world.pass(stall);
      server.paused = false;
    }
    let last;
    let most = 0;
    one.drawn = ({ own }) => {
      if (last !== undefined) most = Math.max(most, Math.abs(own.x - last));
      last = own.x;
    };
    world.pass(5);
    const { prediction, interpolation } = one.game.stats();
    const ticks = game.stats().tick - began;
    assert.ok(Math.abs(ticks - 60 * (5 + stall)) < 5, `${ticks} ticks`);
    const corrections = prediction.corrections - before.prediction.corrections;
    assert.ok(corrections < 10, `${corrections} corrections`);
    assert.ok(interpolation.delaySeconds < 0.5, `it is ${interpolation.delaySeconds} s behind`);
    const perFrame = Math.ceil(60 / frames);
    assert.ok(most <= (perFrame + 2) * SPEED, `it jumps by ${most / SPEED} ticks`);
  });
