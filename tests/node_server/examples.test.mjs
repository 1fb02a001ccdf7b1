// The bots of web/examples play on the echo server of core/examples, with tokens of the backend there.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { test } from 'node:test';
import { connect } from '../support/causeway.mjs';
import { examples, startEcho } from '../support/examples.mjs';
import { own } from '../support/fixture.mjs';
import { next, until } from '../support/patience.mjs';
import { lineOf, startProgram } from '../support/programs.mjs';
import { WebSocket } from '../support/websocket.mjs';

const program = (name) => join(examples, name);

/** Starts bots; `said` has the lines that they have printed. */
function startBots(t, backend, count) {
  const bots = startProgram(t, process.execPath, [program('bot.mjs'), backend, String(count)]);
  const said = [];
  for (const stream of [bots.stdout, bots.stderr])
    createInterface(stream).on('line', (line) => said.push(line));
  return { bots, said, ended: once(bots, 'close').then(([code]) => code) };
}

const answered = (said, number) =>
  said.some((line) => new RegExp(`^bot ${number}: [\\d.]+ ms$`).test(line));

test('bots that come before the server takes tokens get their answers, and leave when told', async (t) => {
  const { backend } = await startEcho(t);
  const { bots, said, ended } = startBots(t, backend, 2);
  await until('both answers', () => answered(said, 1) && answered(said, 2));
  bots.kill('SIGINT');
  assert.equal(await ended, 0, said.join('\n'));
  assert.ok(said.includes('bot 2 has ended: client'), said.join('\n'));
});

test('bots say that the server stops', async (t) => {
  const { server, backend } = await startEcho(t);
  const { said, ended } = startBots(t, backend, 1);
  await until('an answer', () => answered(said, 1));
  assert.equal(await server.stop(), 0);
  assert.equal(await ended, 0, said.join('\n'));
  assert.ok(said.includes('bot 1 has ended: stopping'), said.join('\n'));
});

test('bots say that there is no backend yet, and wait for it', async (t) => {
  const { said } = startBots(t, 'http://127.0.0.1:9', 1); // a port that no backend has
  await until('two lines', () => said.length >= 2);
  assert.deepEqual(new Set(said), new Set(['bot 1: no backend at http://127.0.0.1:9']));
});

test('whoever enters the lobby is told who is there, and a name is let in once', async (t) => {
  const lobby = (...args) =>
    startProgram(t, process.execPath, [program('lobby.mjs'), ...args], {
      stdio: ['ignore', 'pipe', 'pipe'],
    });
  const [, port] = await lineOf(lobby('0'), /^a lobby on port (\d+)$/);
  const enter = (name) => lobby(`127.0.0.1:${port}`, name);
  const ada = enter('ada');
  await lineOf(ada, /^ada enters, and meets nobody$/);
  await lineOf(enter('grace'), /^grace enters, and meets ada$/);
  const other = enter('ada');
  const [error] = await once(createInterface(other.stderr), 'line');
  assert.equal(error, 'ada is here already');
  assert.equal((await once(other, 'exit'))[0], 0);
  const left = once(ada, 'exit');
  ada.kill('SIGINT');
  await left;
  await lineOf(enter('ada'), /^ada enters, and meets grace$/);
});

test('one process serves the page, gives tokens and plays, until it is told to end', async (t) => {
  const { messages } = await import(program('messages.js'));
  const env = { ...process.env, PORT: '0' };
  const server = startProgram(t, process.execPath, [program('one_process.mjs'), examples], { env });
  const [, port] = await lineOf(server, /^port (\d+)$/);
  const url = `http://127.0.0.1:${port}`;
  assert.match(await (await fetch(url)).text(), /<title>Echo/);
  assert.equal((await fetch(`${url}/page.js`)).headers.get('content-type'), 'text/javascript');
  assert.equal((await fetch(`${url}/..%2f..%2fpackage.json`)).status, 404);
  assert.equal((await fetch(`${url}/rtc`, { method: 'POST' })).status, 404);
  const token = async () => (await fetch(`${url}/token`, { method: 'POST' })).arrayBuffer();
  const client = await connect(url, { token, schema: messages, WebSocket });
  own(t, () => client.disconnect());
  client.send(0, 'say', { text: 'hello' });
  assert.equal((await next(client, 'message'))[0].message.value.text, 'hello');
  const ended = once(server, 'close');
  server.kill('SIGTERM');
  assert.equal((await client.closed).reason, 'stopping');
  assert.deepEqual(await ended, [0, null]);
});

for (const name of ['bot.mjs', 'backend.mjs', 'lobby.mjs'])
  test(`${name} without arguments says how to use it`, () => {
    const { status, stderr } = spawnSync(process.execPath, [program(name)], { encoding: 'utf8' });
    assert.equal(status, 2);
    assert.match(stderr, /^usage: /);
  });
