// The client of web/README.md as it stands there, with a server of the kit on a bad path, in virtual time.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import {
  copyFileSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { before, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { dist } from '../support/causeway.mjs';
import { randomFrom } from '../support/random.mjs';
import { temporaryFolder } from '../support/fixture.mjs';

const { ClockEcho, History, InputReceiver, SnapshotServer, loadGame } = await import(
  new URL('game/index.js', dist)
);
const root = fileURLToPath(new URL('../../', import.meta.url));
const [RATE, SLOT, OTHER] = [60, 3, 9];
const folder = temporaryFolder(test);
let guide;

before(async () => {
  const run = (program, ...parameters) => execFileSync(program, parameters, { cwd: folder });
  const blocks = join(folder, 'blocks');
  run(join(root, 'tests/guides/blocks'), 'ts', blocks, 'web/README.md');
  const client = readdirSync(blocks).find((name) =>
    readFileSync(join(blocks, name), 'utf8').includes('function play('),
  );
  renameSync(join(blocks, client), join(blocks, 'play.ts'));
  copyFileSync(join(root, 'tests/guides/game.d.ts'), join(blocks, 'game.d.ts'));
  mkdirSync(join(folder, 'node_modules'));
  symlinkSync(join(root, 'web'), join(folder, 'node_modules/causeway-net'));
  writeFileSync(join(folder, 'package.json'), '{ "type": "module" }');
  run(
    process.execPath,
    join(root, 'web/node_modules/typescript/bin/tsc'),
    ...['--ignoreConfig', '--module', 'nodenext', '--target', 'es2022', '--lib', 'es2022,dom'],
    ...['--types', '', '--strict', '--outDir', 'out', 'blocks/play.ts', 'blocks/game.d.ts'],
  );
  const load = (name) => import(join(folder, 'out', name));
  guide = { ...(await load('fast_game.js')), ...(await load('play.js')) };
});

/** Returns a path that loses and delays; it gives datagrams in the order in which they arrived. */
const path = (random, loss) => {
  let way = [];
  return {
    send: (value, now) => {
      if (random() >= loss()) way.push({ value, due: now + 0.04 + 0.02 * random() });
    },
    arrived: (now) => {
      const here = way.filter(({ due }) => due <= now).sort((a, b) => a.due - b.due);
      way = way.filter(({ due }) => due > now);
      return here.map(({ value }) => value);
    },
  };
};

const step = (player, { right, up }) => ({
  ...player,
  x: player.x + 80 * right,
  y: player.y + 80 * up,
});
const otherAt = (tick) => ({ x: 10 * tick, y: 0, hits: 0 });

/** The server of one player, and of a second one who walks to the right. */
class Server {
  tick = 500;
  player = { x: 0, y: 0, hits: 0 };
  /** The place where the player saw the other one at each hit, and the place where it was. */
  hits = [];

  constructor(kit, { entities }) {
    this.echo = new ClockEcho(kit);
    this.inputs = new InputReceiver(kit, entities, 'press');
    this.snapshots = new SnapshotServer(kit, entities, { maxEntities: 256, maxBytes: 900 });
    this.history = new History(kit, entities, 'player');
    this.snapshots.join(SLOT);
  }

  receive({ stamp, inputs }, now) {
    this.echo.receive(stamp, now);
    this.inputs.receive(inputs, this.tick);
  }

  /** Plays a tick, and returns the message for the player. */
  play(now) {
    const { input } = this.inputs.take(++this.tick);
    this.player = step(this.player, input);
    this.history.begin(this.tick);
    this.history.add(OTHER, otherAt(this.tick));
    if (input.hit) this.#hit(input);
    this.snapshots.set(SLOT, 'player', this.player);
    this.snapshots.set(OTHER, 'player', otherAt(this.tick));
    this.snapshots.tick(this.tick);
    const { number, data } = this.snapshots.transmit(SLOT);
    const report = this.inputs.transmit() ?? new Uint8Array();
    return { number, value: { echo: this.echo.transmit(this.tick, now), report, snapshot: data } };
  }

  #hit(seen) {
    const view = this.history.rewind(seen);
    const found = view && this.history.find(view, OTHER);
    if (!found) return;
    const [from, to] = found;
    this.hits.push({ x: from.x + (to.x - from.x) * view.fraction, now: otherAt(this.tick).x });
  }
}

test('the client of the guide plays through loss, sees others move, and hits what it sees', async (t) => {
  const kit = await loadGame();
  const server = new Server(kit, guide);
  const random = randomFrom(11);
  let [now, frame, drawn, receive] = [0, undefined, undefined, undefined];
  const loss = () => (now < 20 ? 0.2 : 0);
  const [up, down, acks] = [path(random, loss), path(random, loss), path(random, loss)];
  t.mock.method(performance, 'now', () => now * 1000);
  const walk = () => (now < 25 ? (Math.floor(now * 2) % 3) - 1 : 0);
  const shots = [];
  let keys = { right: 0, up: 0, hit: false };
  Object.assign(globalThis, {
    step,
    keys: () => keys,
    draw: (own, [from, to], fraction) => {
      const [a, b] = [from.get(OTHER).value.x, to.get(OTHER).value.x];
      drawn = { own, other: a + (b - a) * fraction };
    },
    requestAnimationFrame: (call) => (frame = call),
  });
  await guide.play(
    {
      state: 'connected',
      addEventListener: (_, listener) => (receive = listener),
      send: (channel, type, value) => {
        assert.deepEqual([channel, type], [1, 'up']);
        up.send(value, now);
      },
    },
    SLOT,
  );
  let sent;
  let last;
  for (; now < 30; now += 1 / RATE) {
    for (const value of up.arrived(now)) server.receive(value, now);
    for (const number of acks.arrived(now)) server.snapshots.acked(SLOT, number);
    sent = server.play(now);
    down.send(sent, now);
    for (const { number, value } of down.arrived(now)) {
      acks.send(number, now);
      receive({ message: { value } });
    }
    keys = { right: walk(), up: 0, hit: now > 2 && now < 25 && random() < 0.1 };
    if (drawn && keys.hit) shots.push(drawn.other);
    frame();
    if (now < 2) continue;
    const moved = drawn.other - (last ?? drawn.other);
    assert.ok(moved >= 0 && moved < 41, `the other one jerks by ${moved}`);
    last = drawn.other;
  }
  const { taken, starved } = server.inputs.stats();
  assert.ok(starved < taken / 50, `${starved} ticks of ${taken} had no input`);
  assert.ok(server.hits.length > 50, `${server.hits.length} hits`);
  for (const { x, now: there } of server.hits) {
    assert.ok(
      shots.some((shot) => Math.abs(shot - x) < 12),
      'a hit is not where it was seen',
    );
    assert.ok(there - x > 20, 'what is seen is behind');
  }
  const { snapshot } = sent.value;
  assert.ok(snapshot.length < 30, `a snapshot has ${snapshot.length} bytes`);
  assert.equal(drawn.own.x, server.player.x);
});
