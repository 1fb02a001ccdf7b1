// Several relays lead to one server: the nearest carries a player, counted through to the server, and another when it is lost.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { MisuseError, connect, dist, openSecureTransport, require } from '../support/causeway.mjs';
import { startDelayPath } from '../support/delay_path.mjs';
import { own } from '../support/fixture.mjs';
import { freePort } from '../support/free_port.mjs';
import { until as eventually } from '../support/patience.mjs';
import { reportGap, startPlayer, until } from '../support/player.mjs';
import { startRelay } from '../support/relay.mjs';
import { messages, startGameServer, startGate } from '../support/secure.mjs';
import { startUdpServer } from '../support/udp_server.mjs';
import { RTCPeerConnection } from '../support/wrtc.mjs';

const { WebSocket } = require('ws');

/** Starts a relay so many milliseconds, there and back, from the page, and from the server. */
async function startRelayAt(t, server, [fromPage, fromServer]) {
  const far = await startDelayPath(t, { rtt: fromServer });
  far.to({ rtcPort: server.port });
  const way = await startDelayPath(t, { rtt: fromPage });
  const start = async () => {
    const relay = await startGate(t, { upstream: `127.0.0.1:${far.rtcPort}` }, way.relayOptions);
    way.to(relay);
    return relay;
  };
  return { way, url: way.url, relay: await start(), start };
}

/** Starts relays at these distances, and a player who has been told of them all. */
async function play(t, distances, options = { transports: ['websocket'] }) {
  const server = await startGameServer(t);
  const relays = [];
  for (const each of distances) relays.push(await startRelayAt(t, server, each));
  const client = await connect(
    relays.map(({ url }) => url),
    {
      token: await server.token({ timeoutSeconds: 10 }),
      schema: messages,
      WebSocket,
      RTCPeerConnection,
      ...options,
    },
  );
  own(t, () => client.disconnect());
  const player = startPlayer(client);
  /** Waits until this relay alone carries the player. */
  player.goesBy = (relay) =>
    eventually('the relays', () =>
      relays.every((each) => each.way.connections === Number(each === relay)),
    );
  /** Resolves with the relay that alone carries the player, and the other; a slow machine may not tell the nearer one. */
  player.relays = async () => {
    const sessions = ({ relay }) => relay.stats().then(({ sessions_open }) => sessions_open);
    const one = await eventually('one relay', async () => {
      const open = await Promise.all(relays.map(sessions));
      return open.filter(Boolean).length === 1 && relays[open.findIndex(Boolean)];
    });
    return [one, relays.find((each) => each !== one)];
  };
  return { server, relays, player };
}

for (const [what, distances, nearest] of [
  [
    'the nearest',
    [
      [300, 0],
      [10, 0],
    ],
    1,
  ],
  [
    'not the one that is near, but far from the server',
    [
      [10, 300],
      [60, 0],
    ],
    1,
  ],
  [
    'the first of two that are as far',
    [
      [20, 0],
      [20, 200],
    ],
    0,
  ],
])
  test(`a player goes by ${what}`, async (t) => {
    const { relays, player } = await play(t, distances);
    await player.goesBy(relays[nearest]);
    await player.rest();
    assert.deepEqual(player.states, []);
  });

const ends = {
  'is killed': ({ relay, way }) => relay.kill('SIGKILL') && way.cut(),
  'is cut off': ({ way }) => way.pause(),
};

for (const [what, end] of Object.entries(ends))
  test(`a player stays when a relay ${what}, and later the other`, async (t) => {
    const { player } = await play(t, [
      [10, 0],
      [40, 0],
    ]);
    const [first, second] = await player.relays();
    await player.goesBy(first);
    end(first);
    await until(player.client, 'state', 'reconnecting');
    await until(player.client, 'state', 'connected');
    first.way.resume();
    await player.goesBy(second);
    if (!first.relay.running()) await first.start();
    end(second);
    await until(player.client, 'state', 'reconnecting');
    await until(player.client, 'state', 'connected');
    second.way.resume();
    await player.goesBy(first);
    await player.rest();
    reportGap(t, player, 1000);
    assert.deepEqual(player.transports, []);
  });

test('WebRTC comes back too', async (t) => {
  const { player } = await play(
    t,
    [
      [10, 0],
      [40, 0],
    ],
    {},
  );
  await until(player.client, 'transport', 'webrtc');
  const [first] = await player.relays();
  ends['is killed'](first);
  await until(player.client, 'state', 'reconnecting');
  await until(player.client, 'state', 'connected');
  await until(player.client, 'transport', 'webrtc');
  await player.rest();
});

test('relays that are not there are left out', async (t) => {
  const server = await startGameServer(t);
  const { url } = await startRelayAt(t, server, [0, 0]);
  const gone = `http://127.0.0.1:${await freePort()}/`;
  const options = { schema: messages, WebSocket, transports: ['websocket'] };
  const client = await connect([gone, url], { ...options, token: await server.token() });
  client.disconnect();
  const transport = await openSecureTransport([gone, url], {
    ...options,
    token: await server.token(),
  });
  transport.close();
  await assert.rejects(
    connect([gone, gone], { ...options, token: await server.token() }),
    ({ name, code, errors }) => {
      assert.deepEqual([name, code, errors.length], ['ConnectError', 'CONNECT', 2]);
      return true;
    },
  );
});

test('the backend tells the relays, in place of those that the page knows', async (t) => {
  const server = await startGameServer(t);
  const { url, way } = await startRelayAt(t, server, [0, 0]);
  const token = async () => ({ token: await server.token(), relays: [url, url] });
  const options = { schema: messages, WebSocket, transports: ['websocket'], token };
  const client = await connect('http://127.0.0.1:1/', options);
  assert.ok(way.connections > 0);
  client.disconnect();
  const worse = {
    ...options,
    token: async () => ({ token: await server.token(), relays: ['?:'] }),
  };
  await assert.rejects(connect(url, worse), /no address of a relay/);
});

test('a list without an address is refused', async () => {
  await assert.rejects(connect([], { token: new Uint8Array(2048), schema: messages }), (error) => {
    assert.ok(error instanceof MisuseError);
    assert.match(error.message, /no address of a relay/);
    return true;
  });
});

test('a UDP socket of Emscripten goes by one of two relays, and by the other when that dies', async (t) => {
  const { DatagramSocket } = await import(new URL('emscripten/datagram_socket.js', dist));
  globalThis.WebSocket = WebSocket; // Node 20 has none of its own
  t.after(() => delete globalThis.WebSocket);
  const server = await startUdpServer(t);
  const relays = [];
  for (const rtt of [10, 40]) {
    const way = await startDelayPath(t, { rtt });
    const { upstream } = server;
    const relay = await startRelay(t, { upstream, args: way.relayOptions });
    way.to(relay);
    relays.push({ way, relay });
  }
  const socket = new DatagramSocket({ relay: relays.map(({ way }) => way.url).join(' ') });
  own(t, () => socket.close());
  let echoes = 0;
  socket.onmessage = () => echoes++;
  /** Returns the relay that carries the socket alone, when it has brought an echo. */
  const echoed = async () => {
    const before = echoes;
    const carrying = () => relays.filter(({ way }) => way.connections === 1);
    await eventually('an echo by one relay', () => {
      socket.send(Uint8Array.of(1));
      return echoes > before && carrying().length === 1;
    });
    return carrying()[0];
  };
  const first = await echoed();
  first.relay.kill('SIGKILL');
  first.way.cut();
  assert.notEqual(await echoed(), first);
});
