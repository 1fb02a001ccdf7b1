// The script web/demo/run, with the build that is there in place of the one that it would make.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdirSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { connect, dist, require } from '../support/causeway.mjs';
import { BODY_METRE, METRE, messages } from '../../web/demo/schema.js';
import { startDemo } from '../support/demo.mjs';
import { lineOf, startProgram } from '../support/programs.mjs';
import { temporaryFolder } from '../support/fixture.mjs';

const { WebSocket } = require('ws');
const web = fileURLToPath(new URL('..', dist));
const folder = temporaryFolder(test);
for (const name of ['build', 'tests/support']) mkdirSync(join(folder, name), { recursive: true });
symlinkSync(web, join(folder, 'web'));
symlinkSync(process.env.CAUSEWAY_BUILD, join(folder, 'build/release'));
symlinkSync('/bin/true', join(folder, 'tests/support/setup'));
const run = join(folder, 'web/demo/run');

test('a claim of an impossible place and speed changes nothing', async (t) => {
  const demo = await startDemo(t);
  const backend = new URL(demo.page()).searchParams.get('backend');
  const token = await (
    await fetch(`http://127.0.0.1:${backend}/token`, { method: 'POST' })
  ).arrayBuffer();
  const client = await connect(demo.relay.url, {
    token,
    schema: messages,
    transports: ['websocket'],
    WebSocket,
  });
  const next = (type) =>
    new Promise((resolve) =>
      client.addEventListener('message', function take({ message }) {
        if (message.type !== type) return;
        client.removeEventListener('message', take);
        resolve(message.value);
      }),
    );
  const far = { at: { x: 31 * METRE, y: 9 * METRE }, speed: { x: -1023, y: 0 } };
  const answers = [];
  for (let i = 0; i < 3; i++) {
    client.send(0, 'claim', far);
    answers.push(await next('answer'));
  }
  // The player stands where it joined, apart from the bots that push it a little.
  for (const { at, speed } of answers) {
    assert.ok(at.x < 8 * METRE, `the server has it at ${at.x / METRE} m`);
    assert.ok(Math.abs(speed.x) < 200, `the server has it at a speed of ${speed.x}`);
  }
  client.disconnect();
});

test('port 0 takes free ones, and the address of the page says which', async (t) => {
  const demo = startProgram(t, run, ['--listen', '127.0.0.1:0'], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const exited = new Promise((resolve) => demo.on('exit', resolve));
  const [, page] = await lineOf(demo, /^Open (\S+) in a browser/);
  assert.match(await (await fetch(page)).text(), /<title>/);
  const backend = new URL('/token', page);
  backend.port = new URL(page).searchParams.get('backend');
  const token = await (await fetch(backend)).arrayBuffer();
  const client = await connect(page, {
    token,
    schema: messages,
    transports: ['websocket'],
    WebSocket,
  });
  const shots = [];
  await new Promise((resolve) =>
    client.addEventListener('message', ({ message }) => {
      if (message.type === 'shot' && shots.push(message.value.from) === 5) resolve();
    }),
  );
  client.disconnect();
  const isWhole = ({ x, y }) => x % BODY_METRE === 0 && y % BODY_METRE === 0;
  assert.ok(!shots.every(isWhole), 'shots start at whole metres, not where the bots are');
  demo.kill('SIGINT');
  assert.equal(await exited, 0);
  await assert.rejects(fetch(backend));
  await assert.rejects(fetch(page));
});

for (const listen of ['127.0.0.1', '127.0.0.1:', ':8080', '127.0.0.1:65535', '127.0.0.1:x', '1:8o'])
  test(`--listen ${listen} is refused at once`, () => {
    const { status, stdout, stderr } = spawnSync(run, ['--listen', listen], { encoding: 'utf8' });
    assert.equal(status, 2);
    assert.equal(stdout, '');
    assert.match(stderr, /^web\/demo\/run: --listen takes an address and a port.*\n$/);
  });
