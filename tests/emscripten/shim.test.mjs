// Programs that Emscripten has compiled already, over the package's shim, in real browsers.
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { run, startSockets } from '../support/emscripten_page.mjs';
import { browsers, newPage, startChromium, startFirefox } from '../support/browsers.mjs';
import { share } from '../support/fixture.mjs';
import { sleep, until } from '../support/patience.mjs';

const ADDRESS = '127.0.0.1';
const COUNT = 100;
const DONE = new RegExp(`received ${COUNT} of ${COUNT}, 0 wrong`);

/** Returns the arguments of a program that sends this to one of the servers. */
const sending = (port, size = 1400) => [ADDRESS, port, String(COUNT), String(size)];

for (const [name, start] of Object.entries(browsers))
  describe(name, () => {
    const browser = share(start);

    for (const [program, webrtc] of [
      ['echo_loop.js', true],
      ['echo_module.mjs', false],
    ]) {
      const kind = webrtc ? 'webrtc' : 'websocket';

      test(`${program} over ${kind}`, async (t) => {
        const { relay, servers, ports } = await startSockets(t);
        const game = await run(t, browser(), relay, program, {
          args: sending(ports[1]),
          shim: true,
          // With this URL the shim learns from Emscripten which address the program sends to.
          websocket: { url: 'ws://', subprotocol: `causeway:${relay.url}` },
          webrtc,
        });
        await game.until(/received/);
        assert.match((await game.lines()).join('\n'), DONE);
        const { datagramsSent, datagramsReceived, droppedBacklog } = await game.stats();
        assert.ok(datagramsSent >= COUNT && datagramsReceived >= COUNT);
        assert.equal(droppedBacklog, 0);
        // All links have one session, and none of them has carried the bound socket's port message.
        assert.equal(servers[0].received.length, 0);
        assert.equal(new Set(servers[1].received.map(({ port }) => port)).size, 1);
        assert.ok(servers[1].received.every(({ data }) => data.length === 1400));
        assert.equal((await relay.stats()).dropped_protocol, 0);
        assert.deepEqual(await game.complaints(), []);
        await game.page.close();
        await until('the end of the session', async () => !(await relay.stats()).sessions_open);
      });
    }
  });

test('a game in Firefox that is left for another page ends its session', async (t) => {
  const { relay, servers, ports } = await startSockets(t);
  const browser = await startFirefox(t);
  const game = await run(t, browser, relay, 'echo_loop.js', {
    args: [ADDRESS, ports[1], '100000', '100'],
    shim: true,
    websocket: { url: 'ws://', subprotocol: `causeway:${relay.url}` },
    webrtc: false,
  });
  await until('the game', () => servers[1].received.length > COUNT);
  // Firefox closes the WebSocket before the page can, and the page may begin to open another.
  await game.page.goto(relay.url);
  await until('the end of the session', async () => !(await relay.stats()).sessions_open);
});

describe('in Chromium', () => {
  const browser = share(startChromium);

  test('it moves to WebRTC', async (t) => {
    const { relay, ports } = await startSockets(t);
    const game = await run(t, browser(), relay, 'echo_loop.js', {
      args: [ADDRESS, ports[1], '100000', '100'],
      shim: true,
      websocket: { url: 'ws://', subprotocol: `causeway:${relay.url}` },
    });
    await until('WebRTC', async () => (await game.stats()).transports.join() === 'webrtc');
  });

  test('a relay with one server needs no address', async (t) => {
    const { relay, servers } = await startSockets(t, { upstreams: 1 });
    const game = await run(t, browser(), relay, 'echo_loop.js', {
      args: sending('9', 64),
      shim: true,
      websocket: { url: `causeway:${relay.url}` },
    });
    await game.until(DONE);
    assert.ok(servers[0].received.length >= COUNT);
  });

  test('other WebSockets do not notice', async (t) => {
    const { relay, servers } = await startSockets(t, { upstreams: 1 });
    const page = await newPage(t, browser());
    await page.goto(relay.url);
    const seen = await page.evaluate(async () => {
      const Native = globalThis.WebSocket;
      const earlier = new Native(`ws://${location.host}/`, 'causeway.v1');
      await import('/causeway-net/emscripten/index.js');
      class Own extends WebSocket {}
      const socket = new WebSocket(`ws://${location.host}/`, ['causeway.v1']);
      const own = new Own(`ws://${location.host}/`, ['causeway.v1']);
      socket.binaryType = 'arraybuffer';
      await new Promise((resolve, reject) => {
        socket.onopen = resolve;
        socket.onerror = reject;
      });
      const echo = new Promise((resolve) => {
        socket.onmessage = ({ data }) => resolve([...new Uint8Array(data)]);
      });
      socket.send(new Uint8Array([1, 2, 3]));
      let refused;
      try {
        void new WebSocket('ftp://no.relay/');
      } catch ({ name }) {
        refused = name;
      }
      return {
        echo: await echo,
        kinds: [earlier, socket, own].map((each) => [
          each instanceof WebSocket,
          each instanceof Native,
          each instanceof Own,
        ]),
        tags: [socket, own].map(String),
        same: [socket.constructor === WebSocket, own.constructor === Own, WebSocket.OPEN === 1],
        refused,
      };
    });
    assert.deepEqual(seen, {
      echo: [1, 2, 3],
      kinds: [
        [true, true, false],
        [true, true, false],
        [true, true, true],
      ],
      tags: ['[object WebSocket]', '[object WebSocket]'],
      same: [true, true, true],
      refused: 'SyntaxError',
    });
    assert.equal(servers[0].received.length, 1);
  });

  const troubles = {
    'a server that the relay does not allow': {
      address: '127.0.0.9',
      line: /^causeway: no datagrams get through to 127\.0\.0\.9:\d+ over http.*does not allow this game server \(--upstream\)/,
    },
    'a relay that is not there': {
      relay: 'http://127.0.0.1:9/',
      line: /^causeway: no datagrams get through to 127\.0\.0\.1:\d+ over http:\/\/127\.0\.0\.1:9\/: the relay .* is not there/,
    },
    'datagrams that are too long': {
      size: 1401,
      line: /1401 bytes was dropped: relays take 1 to 1400/,
    },
  };
  for (const [name, { address = ADDRESS, relay: other, size = 100, line }] of Object.entries(
    troubles,
  ))
    test(`${name}: one line on the console`, async (t) => {
      const { relay, ports } = await startSockets(t);
      const game = await run(t, browser(), relay, 'echo_loop.js', {
        args: [address, ports[1], String(COUNT), String(size)],
        shim: true,
        websocket: { url: 'ws://', subprotocol: `causeway:${other ?? relay.url}` },
      });
      await until('a line', async () => (await game.complaints()).length > 0);
      await sleep(1500); // time in which other datagrams would come
      const complaints = await game.complaints();
      assert.equal(complaints.length, 1, complaints.join('\n'));
      assert.match(complaints[0], line);
    });
});
