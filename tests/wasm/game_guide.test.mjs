// The game of web/README.md as it stands there, page and server, on a bad path in virtual time.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { copyFileSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { before, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { own, temporaryFolder } from '../support/fixture.mjs';
import { PlayWorld } from '../support/play_rig.mjs';

const root = fileURLToPath(new URL('../../', import.meta.url));
const folder = temporaryFolder(test);
const blocks = join(folder, 'blocks');
/** The most lines that either end may have in the guide. */
const MOST_LINES = 25;
let guide;

before(async () => {
  const run = (program, ...parameters) => execFileSync(program, parameters, { cwd: folder });
  run(join(root, 'tests/guides/blocks'), 'ts', blocks, 'web/README.md');
  copyFileSync(join(root, 'tests/guides/game.d.ts'), join(blocks, 'game.d.ts'));
  mkdirSync(join(folder, 'node_modules'));
  symlinkSync(join(root, 'web'), join(folder, 'node_modules/causeway-net'));
  writeFileSync(join(folder, 'package.json'), '{ "type": "module" }');
  run(
    process.execPath,
    join(root, 'web/node_modules/typescript/bin/tsc'),
    ...['--ignoreConfig', '--module', 'nodenext', '--target', 'es2022', '--lib', 'es2022,dom'],
    ...['--types', '', '--strict', '--outDir', 'out'],
    ...['blocks/play.ts', 'blocks/serve.ts', 'blocks/game.d.ts'],
  );
  const load = (name) => import(join(folder, 'out', name));
  guide = { ...(await load('play.js')), ...(await load('serve.js')) };
});

test('page and server are short', () => {
  for (const name of ['play.ts', 'serve.ts']) {
    const lines = readFileSync(join(blocks, name), 'utf8').trimEnd().split('\n');
    assert.ok(lines.length - 1 <= MOST_LINES, `${name} has ${lines.length - 1} lines`);
  }
});

test('the game of the guide plays through loss, and its players hit what they see', async (t) => {
  const world = new PlayWorld(t, 11);
  world.path.loss = 0.1;
  const game = await guide.serve(world.server);
  world.serve();
  const drawn = [];
  const held = {};
  const { requestAnimationFrame } = globalThis;
  Object.assign(globalThis, {
    held: (key) => Number(held[key] ?? false),
    context: {
      clearRect: () => drawn.splice(0),
      fillRect(x, y) {
        drawn.push({ x, y, color: this.fillStyle });
      },
    },
    requestAnimationFrame: world.frames(),
  });
  own(t, () => Object.assign(globalThis, { requestAnimationFrame }));
  const one = world.connect(0);
  const page = await guide.play(one.page);
  world.connect(1);
  world.pass(1);
  assert.deepEqual(drawn, [
    { x: 500, y: 500, color: 'white' },
    { x: 500, y: 500, color: 'gray' },
  ]);
  Object.assign(held, { ' ': true, ArrowUp: true });
  world.pass(0.1);
  Object.assign(held, { ' ': false });
  world.pass(2);
  const [player, other] = game.players;
  assert.ok(player.state.hits >= 5 && player.state.hits <= 7, `${player.state.hits} hits`);
  assert.equal(other.state.hits, 0);
  assert.ok(player.state.y > 80 * 110 && player.state.x === 0, `y is ${player.state.y}`);
  const [{ y }] = drawn;
  assert.ok(500 - y > player.state.y / 100, 'the page is not ahead');
  Object.assign(held, { ArrowUp: false });
  world.path.loss = 0;
  world.pass(1);
  assert.equal(drawn[0].y, 500 - player.state.y / 100);
  assert.equal(page.stats().prediction.corrections < 10, true);
});
