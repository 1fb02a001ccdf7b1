// From `npx causeway-net init` to two players in browsers, who come to one TCP port of a reverse proxy.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { startChromium } from '../support/browsers.mjs';
import { freePort } from '../support/free_port.mjs';
import { childrenOf } from '../support/programs.mjs';
import { proxies, startProxy } from '../support/proxies.mjs';
import {
  makeStarter,
  openGame,
  playsOverWebSocket,
  runScript,
  startGame,
} from '../support/starter.mjs';

/** The commands from nothing to a game that others play. */
const COMMANDS_MAX = 6;

const { game, said } = makeStarter(test);

test('what init says is short, and its last commands are those of production', () => {
  const printed = [...said.matchAll(/^ {2}(\S.*)$/gm)].map(([, command]) => command);
  const production = printed.filter((command) => command !== 'npm run dev');
  assert.deepEqual(production, ['cd my-game', 'npm install', 'npm run build', 'npm start']);
  assert.ok(['npx causeway-net init my-game', ...production, 'haproxy'].length <= COMMANDS_MAX);
  const { dependencies } = JSON.parse(readFileSync(join(game, 'package.json'), 'utf8'));
  assert.deepEqual(Object.keys(dependencies), ['causeway-net', 'ws'], 'production needs no other');
});

test(
  'two pages play in one process, over one port',
  { skip: proxies.haproxy.missing },
  async (t) => {
    runScript(game, 'build');
    const app = await freePort('tcp');
    const server = await startGame(t, game, { PORT: String(app), PROXIES: '127.0.0.1' });
    const port = await freePort('tcp');
    await startProxy(t, 'haproxy', { port, app });
    const browser = await startChromium(t);
    const url = `https://localhost:${port}/`;
    const players = [await openGame(browser, url), await openGame(browser, url)];
    for (const { seen } of players) {
      await playsOverWebSocket(seen);
      assert.deepEqual([...seen.hosts], [`localhost:${port}`]);
      assert.deepEqual(seen.errors, []);
    }
    assert.deepEqual(childrenOf(server.pid), []);

    const answer = async (path) => {
      const { status, headers } = await fetch(`http://127.0.0.1:${app}${path}`);
      return [status, headers.get('content-type'), headers.get('cache-control')];
    };
    const html = await (await fetch(`http://127.0.0.1:${app}/?x=/y`)).text();
    const [script] = /\/assets\/[\w-]+\.js/.exec(html);
    assert.deepEqual(await answer(script), [200, 'text/javascript', 'max-age=31536000, immutable']);
    assert.deepEqual(await answer('/'), [200, 'text/html; charset=utf-8', 'no-cache']);
    for (const path of ['/package.json', '/..%2fpackage.json', '//', '/assets'])
      assert.equal((await answer(path))[0], 404);

    const ended = once(server, 'exit');
    server.kill('SIGTERM');
    for (const { page } of players) await page.getByText('ended: stopping').waitFor();
    assert.deepEqual(await ended, [0, null]);
  },
);
