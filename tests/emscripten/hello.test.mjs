// The program of core/EMSCRIPTEN.md natively. The tests emscripten.games_* run it in pages.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { test } from 'node:test';
import { startGame } from './game_rig.mjs';

test('it says hello, with a token that comes later', async (t) => {
  const { token } = await startGame(t, 'readme');
  const cwd = mkdtempSync(join(tmpdir(), 'causeway-hello-'));
  const hello = spawn('stdbuf', ['-oL', process.env.CAUSEWAY_HELLO], {
    cwd,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  t.after(() => {
    hello.kill();
    rmSync(cwd, { recursive: true });
  });
  const line = once(createInterface(hello.stdout), 'line');
  writeFileSync(join(cwd, 'token'), await token());
  assert.deepEqual(await line, ['the server says hello']);
  assert.ok(!existsSync(join(cwd, 'token')), 'a token is used once');
});
