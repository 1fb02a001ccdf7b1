// The memory that a module lends: blocks keep apart, and what comes back becomes one piece again.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { dist, loadCore } from '../support/causeway.mjs';
import { SEED, choicesFrom } from '../support/random.mjs';

const PAGE = 65536;
const freshCore = () => loadCore({ wasm: readFileSync(new URL('causeway.wasm', dist)) });

test('blocks in use keep their bytes and are aligned, whatever comes and goes', async (t) => {
  t.diagnostic(`seed ${SEED}`);
  const core = await freshCore();
  const { below, chance } = choicesFrom(SEED);
  const blocks = [];
  for (let i = 1; i <= 20_000; i++) {
    if (blocks.length > 100 || (blocks.length > 0 && chance(0.5))) {
      const [{ at, size, value }] = blocks.splice(below(blocks.length), 1);
      const bytes = core.memory.bytes.subarray(at, at + size);
      assert.ok(bytes.every((byte) => byte === value));
      core.exports.release(at);
    } else {
      const size = chance(0.1) ? below(3 * PAGE) : below(200);
      const at = core.allocate(size);
      assert.equal(at % 8, 0);
      core.memory.bytes.fill(i % 256, at, at + size);
      blocks.push({ at, size, value: i % 256 });
    }
  }
  const size = core.memory.bytes.length;
  assert.ok(size < 100 * 3 * PAGE, `${size} bytes`);
});

test('what was given back in any order is one piece', async () => {
  const core = await freshCore();
  core.exports.release(core.allocate(4 * PAGE));
  const size = core.memory.bytes.length;
  for (const order of ['012', '021', '102', '120', '201', '210']) {
    const blocks = [0, 1, 2].map(() => core.allocate(PAGE));
    for (const place of order) core.exports.release(blocks[place]);
    core.exports.release(core.allocate(4 * PAGE));
    assert.equal(core.memory.bytes.length, size, order);
  }
});

test('a size beyond all memory is refused at once', async () => {
  const core = await freshCore();
  const size = core.memory.bytes.length;
  for (const huge of [2 ** 32 - 1, 2 ** 32 - 16, 2 ** 31])
    assert.throws(() => core.allocate(huge), { code: 'NO_MEMORY' });
  assert.equal(core.memory.bytes.length, size);
});
