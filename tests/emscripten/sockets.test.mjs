// Programs that wait in poll and select, without a line of Emscripten, linked with causeway_sockets.js: in real
// browsers and in Node.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { describe, test } from 'node:test';
import { promisify } from 'node:util';
import { run, startSockets } from '../support/emscripten_page.mjs';
import { WebSocketServer } from '../../web/node_modules/ws/wrapper.mjs';
import { browsers } from '../support/browsers.mjs';
import { own, share } from '../support/fixture.mjs';
import { PATIENCE_MS, until } from '../support/patience.mjs';

const execute = promisify(execFile);
const ADDRESS = '127.0.0.1';
const BOUND = { timeout: PATIENCE_MS };
/** A port at which nobody listens. */
const NOBODY = '1';
/** The number of datagrams that a socket keeps. */
const KEPT = 256;

/** Returns the datagram as an echo, or many when it asks for a flood; a few floods are more than a socket keeps. */
const answer = (datagram) =>
  String(datagram) === 'flood' ? Array(KEPT / 4).fill(datagram) : [datagram];

const startServers = (t) => startSockets(t, { answer });

for (const [name, start] of Object.entries(browsers))
  describe(name, () => {
    const browser = share(start);

    for (const webrtc of [true, false])
      test(webrtc ? 'over webrtc' : 'over websocket', async (t) => {
        const { relay, ports } = await startServers(t);
        const game = await run(t, browser(), relay, 'blocking.js', {
          args: [ADDRESS, ...ports],
          webrtc,
        });
        assert.deepEqual(await game.until(/failures/), [`kept ${KEPT}`, '0 failures']);
        const stats = await game.stats();
        assert.ok(stats.droppedFull > 0, JSON.stringify(stats));
        assert.deepEqual(await game.complaints(), []);
        // The program has closed its sockets, which ends their sessions.
        await until('the end', async () => !(await relay.stats()).sessions_open);
        assert.equal((await relay.stats()).dropped_protocol, 0);
      });

    test('what arrives on a stream ends the wait', BOUND, async (t) => {
      const { relay } = await startServers(t);
      const streams = new WebSocketServer({ port: 0, host: ADDRESS });
      own(t, () => streams.close());
      streams.on('connection', (socket) => socket.on('message', (data) => socket.send(data)));
      await once(streams, 'listening');
      const args = ['stream', ADDRESS, String(streams.address().port)];
      const game = await run(t, browser(), relay, 'blocking.js', { args });
      assert.deepEqual(await game.until(/failures/), ['0 failures']);
    });
  });

const natively = async (...args) =>
  (await execute(process.env.CAUSEWAY_BLOCKING, args, BOUND)).stdout;

/** Runs the program in Node, with the WebSocket of ws, and returns what it prints. */
async function inNode(websocket, ...args) {
  const program = 'blocking_module.js';
  const script = `
    const { WebSocket } = await import(${JSON.stringify(import.meta.resolve('../../web/node_modules/ws/wrapper.mjs'))});
    globalThis.WebSocket ??= WebSocket;
    delete globalThis.fetch; // or Emscripten takes Node for a page
    const { default: create } = await import(${JSON.stringify(`${process.env.CAUSEWAY_EMSCRIPTEN}/${program}`)});
    await create({
      arguments: ${JSON.stringify(args)},
      websocket: ${JSON.stringify(websocket)},
      print(line) {
        console.log(line);
        if (/failures/.test(line)) process.exit();
      },
    });`;
  const { stdout } = await execute(process.execPath, ['--input-type=module', '-e', script], BOUND);
  return stdout;
}

test('natively, what the program expects of sockets is so', async (t) => {
  const { ports } = await startServers(t);
  assert.match(await natively(ADDRESS, ...ports), /^kept \d+\n0 failures\n$/);
});

test('natively, a stream is so, too', async (t) => {
  const streams = createServer((socket) => socket.pipe(socket)).listen(0, ADDRESS);
  own(t, () => streams.close());
  await once(streams, 'listening');
  assert.equal(await natively('stream', ADDRESS, String(streams.address().port)), '0 failures\n');
});

test('in Node, with the WebSocket of ws', async (t) => {
  const { relay, ports } = await startServers(t);
  const said = await inNode({ url: `causeway:${relay.url}` }, ADDRESS, ...ports);
  assert.equal(said, `kept ${KEPT}\n0 failures\n`);
});

test('without a relay, a program that waits still waits', async () => {
  assert.equal(await natively('lost', ADDRESS, NOBODY), '0 failures\n');
  const said = await inNode(
    { url: `causeway:http://${ADDRESS}:${NOBODY}/` },
    'lost',
    ADDRESS,
    NOBODY,
  );
  assert.equal(said, '0 failures\n');
});
