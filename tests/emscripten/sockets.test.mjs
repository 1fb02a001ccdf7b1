// Programs that wait in poll and select, without a line of Emscripten, linked with causeway_sockets.js: in real
// browsers and in Node.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { after, before, describe, test } from 'node:test';
import { promisify } from 'node:util';
import { startChromium } from '../support/chromium.mjs';
import { run, startSockets } from '../support/emscripten_page.mjs';
import { startFirefox } from '../support/firefox.mjs';
import { counters, until } from '../support/rtc.mjs';

const execute = promisify(execFile);
const ADDRESS = '127.0.0.1';
const BOUND = { timeout: 30_000 };
/** Datagrams that a socket keeps. */
const KEPT = 256;

/** An echo, but for what asks for many, several of which are more than a socket keeps. */
const answer = (datagram) =>
  String(datagram) === 'flood' ? Array(KEPT / 4).fill(datagram) : [datagram];

const startServers = (t) => startSockets(t, { answer });

for (const [name, start] of Object.entries({ Chromium: startChromium, Firefox: startFirefox }))
  describe(name, () => {
    let browser;

    before(async () => {
      browser = await start();
    });

    after(() => browser?.close());

    for (const webrtc of [true, false])
      test(webrtc ? 'over webrtc' : 'over websocket', { timeout: 60_000 }, async (t) => {
        const { relay, ports } = await startServers(t);
        const game = await run(browser, relay, 'blocking.js', {
          args: [ADDRESS, ...ports],
          webrtc,
        });
        assert.deepEqual(await game.until(/failures/), [`kept ${KEPT}`, '0 failures']);
        const stats = await game.stats();
        assert.ok(stats.droppedFull > 0, JSON.stringify(stats));
        assert.deepEqual(await game.complaints(), []);
        // The program has closed its sockets, which ends their sessions.
        await until('the end', async () => !(await counters(relay)).sessions_open);
        assert.equal((await counters(relay)).dropped_protocol, 0);
        await game.close();
      });
  });

test('natively, what the program expects of sockets is so', async (t) => {
  const { ports } = await startServers(t);
  const { stdout } = await execute(process.env.CAUSEWAY_BLOCKING, [ADDRESS, ...ports], BOUND);
  assert.match(stdout, /^kept \d+\n0 failures\n$/);
});

test('in Node, with the WebSocket of ws', async (t) => {
  const { relay, ports } = await startServers(t);
  const [ws, program] = [
    import.meta.resolve('../../web/node_modules/ws/wrapper.mjs'),
    'blocking_module.js',
  ];
  const script = `
    const { WebSocket } = await import(${JSON.stringify(ws)});
    globalThis.WebSocket ??= WebSocket;
    delete globalThis.fetch; // or Emscripten takes Node for a page
    const { default: create } = await import(${JSON.stringify(`${process.env.CAUSEWAY_EMSCRIPTEN}/${program}`)});
    await create({
      arguments: ${JSON.stringify([ADDRESS, ...ports])},
      websocket: { url: ${JSON.stringify(`causeway:${relay.url}`)} },
      print(line) {
        console.log(line);
        if (/failures/.test(line)) process.exit();
      },
    });`;
  const { stdout } = await execute(process.execPath, ['--input-type=module', '-e', script], BOUND);
  assert.equal(stdout, `kept ${KEPT}\n0 failures\n`);
});
