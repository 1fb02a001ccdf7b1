// The games in each browser: the tests emscripten.games_chromium and emscripten.games_firefox.
import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { missing, startGame } from './game_rig.mjs';
import { share } from '../support/fixture.mjs';
import { until } from '../support/patience.mjs';
import { newPage } from '../support/browsers.mjs';

const BULKS = 3;

/** The games, each with its server, and whether the page imports causeway-net/emscripten for it. */
const games = [
  { program: 'enet_client.js', server: 'enet', shim: true },
  { program: 'causeway_client.js', server: 'example', shim: true },
  { program: 'sockets_client.js', server: 'udp' },
];

const stock = (url) => ({ url: url.replace('http', 'ws'), subprotocol: 'causeway.v1' });
const ways = {
  webrtc: (url) => ({ websocket: { url: `causeway:${url}` }, blocked: true }),
  websocket: (url) => ({ websocket: { url: `causeway:${url}` }, webrtc: false }),
};

/** Returns the page of core/EMSCRIPTEN.md. */
const guidePage = () =>
  /```html\n(.*?)```/s.exec(
    readFileSync(new URL('../../core/EMSCRIPTEN.md', import.meta.url), 'utf8'),
  )[1];

const said = (page) => page.evaluate(() => document.getElementById('said').textContent);

function report(t, lines) {
  for (const what of ['echo', 'bulk']) {
    const times = lines.filter((line) => line.startsWith(`${what} `)).map((line) => +line.slice(5));
    times.sort((a, b) => a - b);
    const [p50, p95] = [0.5, 0.95].map((q) =>
      times[Math.round(q * (times.length - 1))]?.toFixed(1),
    );
    t.diagnostic(`${what}: ${times.length} came back, p50 ${p50} ms, p95 ${p95} ms`);
  }
}

/** Plays a game to its end: all messages that must arrive have, whatever the path has lost. */
async function play(t, rig, browser, program, options) {
  const game = await rig.play(browser, program, options);
  const lines = await game.until(/^done$/m);
  assert.deepEqual(
    lines.filter((line) => !/^(echo|bulk) [\d.]+$/.test(line)),
    ['done'],
  );
  assert.equal(lines.filter((line) => line.startsWith('bulk')).length, BULKS);
  assert.ok(rig.path.counts.upLost + rig.path.counts.downLost > 0);
  assert.equal((await rig.relay.stats()).sessions_opened, 1);
  report(t, lines);
  return game;
}

export const testGames = (name, start) =>
  describe(name, () => {
    const browser = share(start);

    for (const { program, server, shim } of games)
      for (const [way, options] of Object.entries(ways))
        test(`${program} over ${way}`, { skip: missing(program, server) }, async (t) => {
          const rig = await startGame(t, server);
          const game = await play(t, rig, browser(), program, { ...options(rig.relay.url), shim });
          const { transports } = await game.stats();
          assert.ok(transports.every((each) => each === way));
          assert.deepEqual(await game.complaints(), []);
        });

    for (const [way, options] of Object.entries(ways))
      test(`sockets as netcode and yojimbo use them, over ${way}`, async (t) => {
        const rig = await startGame(t, 'foreign');
        const game = await rig.play(browser(), 'foreign_client.js', options(rig.relay.url));
        // All messages and blocks are there, whole.
        assert.deepEqual(await game.until(/^(done$|failed)/m), ['done']);
        assert.ok(rig.path.counts.upLost > 0);
        assert.ok((await game.stats()).transports.every((each) => each === way));
        assert.deepEqual(await game.complaints(), []);
      });

    test("the guide's page and its program, echo_client.c", async (t) => {
      const rig = await startGame(t, 'example', { page: guidePage() });
      writeFileSync(join(rig.root, 'token'), await rig.token());
      const page = await newPage(t, browser());
      await page.goto(rig.relay.url);
      await until('the answer', async () => (await said(page)).includes('says hello'));
    });

    test('a program that waits, as native ones do', async (t) => {
      const rig = await startGame(t, 'example');
      const game = await rig.play(browser(), 'waiting.js', {});
      await game.until(/says hello$/m);
      assert.deepEqual(await game.complaints(), []);
    });

    test('a program that waits, not linked for it, stops and is told what to do', async (t) => {
      const rig = await startGame(t, 'example');
      const game = await rig.play(browser(), 'waiting_stuck.js', {});
      await game.until(/a page cannot wait for datagrams. Let cw_run call your ticks/);
    });
  });

/** Plays the same over what Emscripten has by itself, to compare with. */
export const testStock = (start) =>
  describe('without Causeway in the page', () => {
    const browser = share(start);

    for (const { program, server } of games.filter(({ shim }) => shim))
      test(program, { skip: missing(program, server) }, async (t) => {
        const rig = await startGame(t, server);
        await play(t, rig, browser(), program, { websocket: stock(rig.relay.url) });
      });
  });
