// Datagrams beyond those that may leave at once wait for their turn, not for long, and the sender hears of those that
// are dropped: the same on every transport. The test plays the platform, and sets the time.
import assert from 'node:assert/strict';
import { Socket } from 'node:dgram';
import { after, afterEach, beforeEach, mock, test } from 'node:test';
import { WebRtcTransport, WebSocketTransport, openTransport } from '../support/causeway.mjs';
import { FakePlatform } from '../support/fake_links.mjs';
import { UdpTransport } from '../../web/dist/server/udp_transport.js';

const turn = () => new Promise((resolve) => setImmediate(resolve));
const { fetch } = globalThis;
/** The time in milliseconds. */
let now;

beforeEach(() => {
  now = 0;
  mock.timers.enable({ apis: ['setTimeout'] });
  mock.method(performance, 'now', () => now);
});

afterEach(() => {
  mock.timers.reset();
  mock.restoreAll();
});

after(() => {
  globalThis.fetch = fetch;
});

/** Lets so many milliseconds pass. */
const pass = async (ms) => {
  for (let i = 0; i < ms; i++) {
    now++;
    mock.timers.tick(1);
    await turn();
  }
};

/** Each function opens a transport, and returns it with what has left it and functions that jam and end its link. */
const transports = {
  websocket: async (options, open = WebSocketTransport.connect) => {
    const platform = new FakePlatform();
    const transport = open('http://relay.test/', { ...options, ...platform });
    await turn();
    platform.socket.open();
    const { socket } = platform;
    const jam = (bytes) => (socket.bufferedAmount = bytes);
    return { transport: await transport, sent: socket.sent, jam, end: () => socket.end() };
  },
  webrtc: async (options) => {
    const platform = new FakePlatform();
    globalThis.fetch = platform.fetch;
    const transport = WebRtcTransport.connect('http://relay.test/', { ...options, ...platform });
    for (let i = 0; i < 8; i++) await turn();
    platform.rtc.open();
    const { channel } = platform.rtc;
    const jam = (bytes) => (channel.bufferedAmount = bytes);
    return { transport: await transport, sent: channel.sent, jam, end: () => platform.rtc.end() };
  },
  udp: async (options) => {
    const sent = [];
    let waiting = 0;
    mock.method(Socket.prototype, 'getSendQueueSize', () => waiting);
    mock.method(Socket.prototype, 'send', (datagram) => sent.push([...datagram]));
    const transport = await UdpTransport.connect('127.0.0.1', 9, options);
    return { transport, sent, jam: (bytes) => (waiting = bytes), end: () => transport.close() };
  },
  'a session': (options) =>
    transports.websocket({ ...options, transports: ['websocket'] }, openTransport),
};

const FULL = 1e9;

/** Checks that every datagram that was sent is in one counter. */
const assertCounted = (transport, count) => {
  const { datagramsSent, datagramsWaiting, droppedBacklog, droppedClosed } = transport.stats();
  assert.equal(datagramsSent + datagramsWaiting + droppedBacklog + droppedClosed, count);
};

for (const [kind, open] of Object.entries(transports)) {
  test(`${kind}: what cannot leave at once waits, and leaves in order`, async () => {
    const { transport, sent, jam } = await open();
    const datagram = new Uint8Array(100);
    jam(FULL);
    for (let i = 0; i < 5; i++) assert.equal(transport.send(datagram.fill(i)), true);
    assert.equal(transport.stats().datagramsWaiting, 5);
    await pass(50);
    assert.equal(sent.length, 0);
    jam(0);
    assert.equal(transport.send(datagram.fill(5)), true);
    await pass(10);
    assert.deepEqual(
      sent.map(([first]) => first),
      [0, 1, 2, 3, 4, 5],
    );
    assert.equal(transport.stats().datagramsSent, 6);
    assertCounted(transport, 6);
    transport.close();
  });

  test(`${kind}: what has waited for too long is dropped, counted and told`, async () => {
    const { transport, sent, jam } = await open({ maxWaitSeconds: 0.05 });
    const dropped = [];
    transport.ondrop = ([first]) => dropped.push(first);
    jam(FULL);
    transport.send(Uint8Array.of(1));
    await pass(40);
    transport.send(Uint8Array.of(2));
    await pass(20);
    assert.deepEqual(dropped, [1]);
    assert.equal(transport.stats().droppedBacklog, 1);
    // A page that did not run finds the datagrams too late, though there is room.
    jam(0);
    now += 100;
    transport.send(Uint8Array.of(3));
    assert.deepEqual(dropped, [1, 2]);
    assert.deepEqual(sent, [[3]]);
    assertCounted(transport, 3);
    transport.close();
  });

  test(`${kind}: who sends more than may wait is told at once`, async () => {
    const { transport, jam } = await open();
    jam(FULL);
    const taken = Array.from({ length: 80 }, () => transport.send(new Uint8Array(1000)));
    assert.equal(taken.indexOf(false), 65);
    assert.equal(transport.stats().droppedBacklog, 15);
    assert.equal(transport.stats().datagramsWaiting, 65);
    assertCounted(transport, 80);
    transport.close();
  });

  test(`${kind}: what still waits at the end is dropped, counted and told`, async () => {
    for (const how of ['close', 'end']) {
      const { transport, jam, end } = await open();
      const dropped = [];
      transport.ondrop = ([first]) => dropped.push(first);
      jam(FULL);
      transport.send(Uint8Array.of(1));
      if (how === 'close') transport.close();
      else end();
      await turn();
      assert.deepEqual(dropped, [1]);
      assert.equal(transport.stats().droppedClosed, 1);
      assertCounted(transport, 1);
      transport.close();
    }
  });

  test(`${kind}: with no time to wait all is as full as the platform is`, async () => {
    const { transport, jam } = await open({ maxWaitSeconds: 0 });
    jam(FULL);
    assert.equal(transport.send(Uint8Array.of(1)), false);
    assert.equal(transport.send(Uint8Array.of(1), true), true);
    assert.equal(transport.stats().droppedBacklog, 1);
    transport.close();
  });
}

test('there is no time below none to wait', async () => {
  for (const maxWaitSeconds of [-1, NaN])
    await assert.rejects(
      transports.udp({ maxWaitSeconds }),
      /^RangeError: maxWaitSeconds: .* 0 or/,
    );
});
