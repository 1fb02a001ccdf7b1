// npx causeway-net init and dev, as a web developer uses them, in a real Chromium.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { once } from 'node:events';
import {
  appendFileSync,
  mkdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import http from 'node:http';
import { createServer, connect as dial } from 'node:net';
import { basename, join } from 'node:path';
import { test } from 'node:test';
import { connect, dist, generateConnectToken, generateKey } from '../support/causeway.mjs';
import { until } from '../support/patience.mjs';
import { require } from '../support/packages.mjs';
import { packedProject } from '../support/packed.mjs';
import { newPage, startChromium } from '../support/browsers.mjs';
import { own, temporaryFolder } from '../support/fixture.mjs';
import { childrenOf, isAlive, startProgram } from '../support/programs.mjs';
import { makeStarter, newGamePage, playsOverWebRtc, program } from '../support/starter.mjs';

const WebSocket = require('ws');
const { playGame } = await import(new URL('game/index.js', dist));

const { project, game, said } = makeStarter(test);
assert.match(said, /cd my-game[^]*npm run dev/);

/** Runs the program to its end, in the project. */
const causeway = (...args) =>
  spawnSync(process.execPath, [program, ...args], { cwd: project, encoding: 'utf8' });

/** Runs the command of the template's `npm run dev`, until the test is over. */
async function startDev(t, { args = ['--relay', 'none'], env = process.env } = {}) {
  const { scripts } = JSON.parse(readFileSync(join(game, 'package.json'), 'utf8'));
  const [, ...command] = scripts.dev.split(' ');
  const child = startProgram(
    t,
    process.execPath,
    [join('..', program), ...command, '--listen', '127.0.0.1:0', ...args],
    { cwd: game, env, stdio: ['ignore', 'pipe', 'pipe'] },
  );
  const lines = [];
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (text) => lines.push(...String(text).split('\n').filter(Boolean)));
  const ended = new Promise((resolve) => child.once('exit', resolve));
  own(t, async () => {
    if (child.signalCode) return;
    child.kill('SIGTERM');
    assert.equal(await ended, 0, lines.join('\n'));
  });
  const says = async (pattern) => {
    const found = () => lines.map((line) => pattern.exec(line)).find(Boolean);
    await until(
      () => `${pattern}:\n${lines.join('\n')}`,
      () => found() || child.exitCode !== null,
    );
    assert.ok(found(), lines.join('\n'));
    return found()[1];
  };
  return { says, child, address: await says(/^Open (\S+) in a browser/) };
}

test('a server that reads the environment has right types, and what is built is in .gitignore', (t) => {
  const file = join(game, 'src/server.ts');
  const whole = readFileSync(file, 'utf8');
  own(t, () => writeFileSync(file, whole));
  writeFileSync(file, `${whole}\nexport const key: string = process.env.CAUSEWAY_KEY ?? '';\n`);
  const { status, stdout } = spawnSync(process.execPath, ['../node_modules/typescript/bin/tsc'], {
    cwd: game,
    encoding: 'utf8',
  });
  assert.equal(status, 0, stdout);
  const { devDependencies } = JSON.parse(readFileSync(join(game, 'package.json'), 'utf8'));
  assert.ok(devDependencies['@types/node']);
  const ignored = readFileSync(join(game, '.gitignore'), 'utf8').split('\n');
  // README.md names these folders for what is built.
  for (const folder of ['node_modules/', 'dist/', '/server/']) assert.ok(ignored.includes(folder));
});

/** Counts the lines of a file that are neither empty nor only a comment. */
const linesOf = (name) =>
  readFileSync(join(game, 'src', name), 'utf8')
    .split('\n')
    .filter((line) => !/^\s*(\/\/.*|\/\*\*.*)?$/.test(line)).length;

test('the game of the template is small, and its types are right', () => {
  const rules = linesOf('game.ts') + linesOf('server.ts');
  assert.ok(rules <= 60, `the game has ${rules} lines`);
  const shown = linesOf('page.ts') + linesOf('controls.ts') + linesOf('drawing.ts');
  assert.ok(shown <= 135, `the page has ${shown} lines`);
  const { status, stdout } = spawnSync(process.execPath, ['../node_modules/typescript/bin/tsc'], {
    cwd: game,
    encoding: 'utf8',
  });
  assert.equal(status, 0, stdout);
  const { name, dependencies } = JSON.parse(readFileSync(join(game, 'package.json'), 'utf8'));
  assert.equal(name, 'my-game');
  assert.match(dependencies['causeway-net'], /^\^\d+\.\d+\.\d+$/);
});

const commandOf = (pid) => readFileSync(`/proc/${pid}/cmdline`, 'utf8');

/** Joins the game without a page; returns the client, the game, and what a page would draw. */
async function joinWithoutPage(t, address, options = {}) {
  const { messages, rules } = await import(await compiledGame());
  const token = async () =>
    (await fetch(new URL('/token', address), { method: 'POST' })).arrayBuffer();
  const client = await connect(address, { token, schema: messages, WebSocket, ...options });
  own(t, () => client.disconnect());
  const joined = { client };
  joined.game = await playGame(client, {
    ...rules,
    keys: () => ({ right: 0, down: 0 }),
    draw: (scene) => (joined.scene = scene),
  });
  own(t, () => joined.game.stop());
  joined.ship = (id) => joined.scene?.entities.find((entity) => entity.id === id)?.value;
  return joined;
}

/** Drags a finger on a page from one place to another, and leaves it there. */
async function drag(page, from, to) {
  const session = await page.context().newCDPSession(page);
  const touch = (type, [x, y]) =>
    session.send('Input.dispatchTouchEvent', { type, touchPoints: [{ x, y }] });
  await touch('touchStart', from);
  await touch('touchMove', to);
}

for (const relay of ['none', process.env.CAUSEWAY_RELAY])
  test(`two pages play, and play on after a change of the server (${basename(relay)})`, async (t) => {
    const { address, says } = await startDev(t, { args: ['--relay', relay] });
    const overWebRtc = relay !== 'none';
    await says(
      overWebRtc
        ? /^Pages play (over WebRTC), through \/.*\.$/
        : /^Pages play (over WebSocket only): .*--relay FILE/,
    );
    const browser = await startChromium(t);
    const phone = { hasTouch: true, isMobile: true, viewport: { width: 390, height: 844 } };
    const players = [await newGamePage(browser), await newGamePage(browser, phone)];
    const pages = players.map(({ page }) => page);
    const [one, two] = pages;
    const open = (page) => page.getByText('connected', { exact: true }).waitFor();
    for (const page of pages) {
      await page.goto(address);
      await open(page);
    }
    const watcher = await joinWithoutPage(t, address);
    await until('three ships', () => watcher.ship(2));
    const far = { right: watcher.ship(0).x < 500, down: watcher.ship(1).y < 500 };
    await one.keyboard.down(far.right ? 'ArrowRight' : 'ArrowLeft');
    await drag(two, [195, 600], [195, far.down ? 700 : 500]);
    await until('a ship at the wall', () => watcher.ship(0).x === (far.right ? 975 : 25));
    await until('a ship at the wall', () => watcher.ship(1).y === (far.down ? 975 : 25));
    assert.equal(await two.locator('#stick').isVisible(), true);
    const scores = await two.locator('#scores li').allInnerTexts();
    assert.deepEqual(scores.map((line) => line.replace(/\d+$/, 'N')).sort(), [
      'Ship 1: N',
      'Ship 3: N',
      'You: N',
    ]);
    if (process.env.SCREENSHOT) await two.screenshot({ path: process.env.SCREENSHOT });

    if (overWebRtc) await Promise.all(pages.map(playsOverWebRtc));
    for (const { seen } of players) assert.deepEqual(seen.errors, []);

    appendFileSync(join(game, 'src/server.ts'), "console.log('the second');\n");
    await says(/^(the second)$/);
    await watcher.client.closed;
    for (const page of pages) {
      await open(page);
      await page.locator('#scores li').nth(1).waitFor();
    }
    if (overWebRtc) await Promise.all(pages.map(playsOverWebRtc));
  });

test('a relay that does not run is told, and pages play without it', async (t) => {
  const { address, says } = await startDev(t, { args: ['--relay', join(game, 'package.json')] });
  await says(/package\.json does not run, so pages play (over WebSocket): .*EACCES/);
  const { client } = await joinWithoutPage(t, address);
  assert.equal(client.transport, 'websocket');
});

test('the relay is found beside the game', async (t) => {
  const relay = join(game, 'causeway-relay');
  symlinkSync(process.env.CAUSEWAY_RELAY, relay);
  own(t, () => rmSync(relay));
  const env = { ...process.env };
  delete env.CAUSEWAY_RELAY;
  const { says } = await startDev(t, { args: [], env });
  assert.equal(await says(/^Pages play over WebRTC, through (.*)\.$/), relay);
});

test('the relay is found on the PATH, and ends with the program even if that is killed', async (t) => {
  const folder = temporaryFolder(t);
  symlinkSync(process.env.CAUSEWAY_RELAY, join(folder, 'causeway-relay'));
  const env = { ...process.env, PATH: `${folder}:${process.env.PATH}` };
  delete env.CAUSEWAY_RELAY;
  const { says, child, address } = await startDev(t, { args: [], env });
  assert.equal(
    await says(/^Pages play over WebRTC, through (.*)\.$/),
    join(folder, 'causeway-relay'),
  );
  const offer = await fetch(new URL('/rtc', address), { method: 'POST', body: 'no offer' });
  assert.equal(offer.status, 400, 'the relay answers');
  const relays = childrenOf(child.pid).filter((pid) => commandOf(pid).includes('causeway-relay'));
  assert.equal(relays.length, 1);
  child.kill('SIGKILL');
  await until('the end of the relay', () => !isAlive(relays[0]));
});

test('a broken server is told, and runs again when it is mended', async (t) => {
  const { says, address } = await startDev(t);
  const file = join(game, 'src/server.ts');
  const whole = readFileSync(file, 'utf8');
  own(t, () => writeFileSync(file, whole));
  writeFileSync(file, 'export const server = await lisen({});');
  await says(/server\.ts: (lisen is not defined)/);
  await says(/^ +at .*src\/server\.ts:(1):\d+/);
  const token = () => fetch(new URL('/token', address), { method: 'POST' });
  assert.equal((await token()).status, 503);
  writeFileSync(file, 'export const other = 1;');
  await says(/(server\.ts: it exports no game server: export const server = await listen)/);
  writeFileSync(
    file,
    "console.log('stuck');\nsetInterval(() => {}, 1000);\nawait new Promise(() => {});",
  );
  await says(/^(stuck)$/);
  writeFileSync(file, whole);
  while ((await token()).status !== 200);
});

/** Returns the WebSocket of the package ws, and a list of those that were opened with it. */
function recorded() {
  const opened = [];
  class Recorded extends WebSocket {
    constructor(...args) {
      super(...args);
      opened.push(this);
    }
  }
  return { Recorded, opened };
}

test('a page whose link breaks goes on with the same player', async (t) => {
  const { address } = await startDev(t);
  const { Recorded, opened } = recorded();
  const { client, ...player } = await joinWithoutPage(t, address, { WebSocket: Recorded });
  const states = [];
  client.addEventListener('state', () => states.push(client.state));
  await until('a player', () => player.game.me !== undefined);
  opened.at(-1).terminate();
  await until('the connection', () => states.includes('connected'));
  assert.deepEqual(states, ['reconnecting', 'connected']);
  assert.equal(player.game.me, 0);
});

/** Writes what page and server of the template share as JavaScript beside this project's package. */
async function compiledGame() {
  const { build } = require('esbuild');
  const outfile = join(project, 'game.mjs');
  await build({
    entryPoints: [join(game, 'src/game.ts')],
    outfile,
    format: 'esm',
    logLevel: 'silent',
  });
  return outfile;
}

test('pages of elsewhere get neither token nor relay', async (t) => {
  const { address } = await startDev(t);
  const headers = { origin: 'https://elsewhere.example' };
  const answer = await fetch(new URL('/token', address), { method: 'POST', headers });
  assert.equal(answer.status, 403);
  const offer = await fetch(new URL('/rtc', address), { method: 'POST', headers });
  assert.equal(offer.status, 403);
  const socket = new WebSocket(address.replace('http', 'ws'), ['causeway.v1'], { headers });
  const [error] = await new Promise((resolve) => socket.once('error', (...of) => resolve(of)));
  assert.match(error.message, /403/);
  // A server of pages on this machine, such as Vite's own, may use it.
  const local = { origin: 'http://localhost:5173' };
  const token = await fetch(new URL('/token', address), { method: 'POST', headers: local });
  assert.deepEqual(
    [token.status, token.headers.get('access-control-allow-origin')],
    [200, local.origin],
  );
});

/** Returns its answers to requests for the page, for a token and for the relay that are sent to this host. */
async function answersTo(host, address) {
  const own = { host, origin: `http://${host}` };
  const ask = async (method, headers, path = '/') => {
    const asked = http.request(new URL(path, address), { method, headers: { ...own, ...headers } });
    const answered = once(asked.end(), 'response');
    const upgraded = once(asked, 'upgrade');
    const [response, socket] = await Promise.race([answered, upgraded]);
    socket?.destroy();
    const text = socket ? '' : (await response.setEncoding('utf8').toArray()).join('');
    return { status: response.statusCode, text };
  };
  const upgrade = {
    connection: 'upgrade',
    upgrade: 'websocket',
    'sec-websocket-version': '13',
    'sec-websocket-key': 'dGhlIHNhbXBsZSBub25jZQ==',
    'sec-websocket-protocol': 'causeway.v1',
  };
  return [await ask('GET'), await ask('POST', {}, '/token'), await ask('GET', upgrade)];
}

test('a name that a stranger makes resolve to this machine gets nothing', async (t) => {
  const config = join(game, 'vite.config.js');
  writeFileSync(config, "export default { server: { allowedHosts: ['.mine.example'] } };");
  own(t, () => rmSync(config));
  const { address } = await startDev(t);
  const { host, port } = new URL(address);
  for (const own of [host, `localhost:${port}`, `[::1]:${port}`, `a.mine.example:${port}`]) {
    const answers = await answersTo(own, address);
    assert.deepEqual(
      answers.map(({ status }) => status),
      [200, 200, 101],
      own,
    );
  }
  const line = /^"\S+" is not a name of this server.* server\.allowedHosts in vite\.config\.js\n$/;
  for (const strange of [`a.example:${port}`, 'localhost.example', 'notmine.example', 'a.b:c'])
    for (const { status, text } of await answersTo(strange, address)) {
      assert.equal(status, 403, strange);
      assert.match(text, line);
    }
});

test('a token of another game is told in the terminal and in the page', async (t) => {
  const { address, says } = await startDev(t);
  for (const path of ['/rtc', '/webtransport'])
    assert.equal((await fetch(new URL(path, address), { method: 'POST', body: '' })).status, 204);
  const [, port] = (await says(/(UDP port \d+)/)).split('port ');
  const browser = await startChromium(t);
  const page = await newPage(t, browser);
  const errors = [];
  page.on('console', (message) => message.type() === 'error' && errors.push(message.text()));
  await page.goto(address);
  await page.getByText('connected', { exact: true }).waitFor();
  assert.deepEqual(errors, []);

  const { messages } = await import(await compiledGame());
  const token = await generateConnectToken({
    protocolId: 0x6d792d67616d65n,
    privateKey: generateKey(),
    clientId: 5,
    timeoutSeconds: 3,
    servers: [`127.0.0.1:${port}`],
    schema: messages,
  });
  const refused = assert.rejects(connect(address, { token, schema: messages, WebSocket }), {
    code: 'REQUEST_TIMED_OUT',
    message: /another key/,
  });
  await says(/server\.ts (refuses connect tokens) \(NOT_AUTHENTIC, \d+ requests\): .*another key/);
  await page.locator('vite-error-overlay').waitFor();
  await refused;
});

test('no request ends it, not for a URL that is none nor with a datagram at once', async (t) => {
  const { address } = await startDev(t);
  const request = (url, ...headers) =>
    [`GET ${url} HTTP/1.1`, 'host: localhost', ...headers, '', ''].join('\r\n');
  const upgrade = request(
    '/',
    'connection: upgrade',
    'upgrade: websocket',
    'sec-websocket-version: 13',
    'sec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==',
    'sec-websocket-protocol: causeway.v1',
  );
  const frame = '\x82\x81\0\0\0\0A'; // a frame with a message of one byte
  for (const [bytes, status] of [
    [request('//'), 400],
    [request('http://['), 400],
    [upgrade + frame, 101],
  ]) {
    const socket = dial(new URL(address).port, '127.0.0.1');
    socket.write(bytes, 'latin1');
    assert.match(String(await once(socket, 'data')), new RegExp(`^HTTP/1.1 ${status} `));
    socket.destroy();
  }
  const token = await fetch(new URL('/token', address), { method: 'POST' });
  assert.equal(token.status, 200);
});

test('each mistake has one clear line', async (t) => {
  const taken = createServer().listen(0, '127.0.0.1');
  await once(taken, 'listening');
  own(t, () => taken.close());
  const bare = join(project, 'bare');
  mkdirSync(bare);
  writeFileSync(join(bare, 'server.mjs'), '');
  const server = ['--server', 'my-game/src/server.ts'];
  const cases = [
    [[], 2, /^causeway-net: usage: /],
    [['serve'], 2, /there is no command serve; causeway-net --help/],
    [['dev'], 2, /dev needs --server FILE/],
    [['dev', '--servers', 'x'], 2, /--servers/],
    [['dev', '--server', 'none.mjs'], 2, /--server none\.mjs: there is no such file/],
    [['dev', ...server, '--listen', '8080'], 2, /--listen takes an address and a port/],
    [['dev', ...server, '--listen', '0.0.0.0:8080'], 2, /other machines could reach it.*--expose/],
    [['dev', ...server, '--listen', '[::]:0'], 2, /other machines could reach it.*--expose/],
    [['dev', ...server, '--listen', `127.0.0.1:${taken.address().port}`], 1, /is taken/],
    [['init'], 2, /init needs the name of one new folder/],
    [['init', 'my-game'], 1, /my-game is not empty: name a new folder/],
  ];
  for (const [args, status, text] of cases) {
    const ended = causeway(...args);
    assert.match(ended.stderr, text);
    assert.equal(ended.status, status, args.join(' '));
  }
  assert.match(causeway('--help').stdout, /^usage: causeway-net init/);
});

test('it says which packages are missing', (t) => {
  const { folder } = packedProject(t);
  writeFileSync(join(folder, 'server.mjs'), '');
  const { stderr } = spawnSync(process.execPath, [program, 'dev', '--server', 'server.mjs'], {
    cwd: folder,
    encoding: 'utf8',
  });
  assert.match(stderr, /it needs the package vite: npm install --save-dev vite ws/);
});
