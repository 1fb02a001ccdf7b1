// One transport over links that come and go. The test plays the links, and sets the time.
import assert from 'node:assert/strict';
import { afterEach, beforeEach, mock, test } from 'node:test';
import { ConnectError, openTransport } from '../support/causeway.mjs';
import { FakePlatform } from '../support/fake_links.mjs';
import { randomFrom } from '../support/random.mjs';

const turn = setImmediate;
const { fetch } = globalThis;
let platform;
let page;
/** The time in milliseconds. */
let now;
/** The transports of the test that runs. */
const transports = [];

beforeEach(() => {
  now = 0;
  platform = new FakePlatform();
  globalThis.fetch = platform.fetch;
  page = new EventTarget();
  for (const name of ['addEventListener', 'removeEventListener'])
    globalThis[name] = page[name].bind(page);
  globalThis.document = Object.assign(new EventTarget(), { visibilityState: 'visible' });
  mock.timers.enable({ apis: ['setTimeout'] });
  mock.method(performance, 'now', () => now);
  mock.method(Math, 'random', randomFrom(1));
});

afterEach(() => {
  for (const transport of transports.splice(0)) transport.close();
  mock.timers.reset();
  mock.restoreAll();
  globalThis.fetch = fetch;
  for (const name of ['addEventListener', 'removeEventListener', 'document'])
    delete globalThis[name];
});

/** Lets everything happen that is due now. */
const settle = async () => {
  for (let i = 0; i < 8; i++) await new Promise((resolve) => turn(resolve));
};

/** Lets so many seconds pass. */
const pass = async (seconds) => {
  for (let i = 0; i < seconds * 20; i++) {
    now += 50;
    mock.timers.tick(50);
    await settle();
  }
};

/** Lets time pass until the next attempt with WebRTC, which comes within so many seconds. */
const passToRtc = async (seconds) => {
  const { length } = platform.rtcs;
  for (let i = 0; i < seconds && platform.rtcs.length === length; i++) await pass(1);
  assert.equal(platform.rtcs.length, length + 1);
};

/** Begins to open a transport. */
const begin = (options = {}) => {
  const { WebSocket, RTCPeerConnection } = platform;
  const opening = openTransport('https://relay.example/', {
    ...{ WebSocket, RTCPeerConnection },
    ...options,
  });
  opening.then(
    (transport) => transports.push(transport),
    () => {},
  );
  return opening;
};

const openSocket = async () => {
  platform.socket.open();
  await settle();
};

const openRtc = async () => {
  platform.rtc.open();
  await settle();
};

const loseSocket = async (...how) => {
  platform.socket.end(...how);
  await settle();
};

/** Has the page's network come back. */
const online = async () => {
  page.dispatchEvent(new Event('online'));
  await settle();
};

const onlyWebSocket = { transports: ['websocket'] };
const bytes = (...values) => Uint8Array.from(values);

/** Starts a transport over a WebSocket, with the events that it reported, while WebRTC is still being opened. */
const start = async (options = {}) => {
  const opening = begin(options);
  await settle();
  platform.socket.open();
  const transport = await opening;
  const events = [];
  transport.addEventListener('transport', () => events.push(transport.kind));
  transport.addEventListener('state', () => events.push(transport.state));
  const received = [];
  transport.ondatagram = (datagram) => received.push([...datagram]);
  return { transport, events, received };
};

/** Starts the same and lets it move to WebRTC. */
const startUpgraded = async () => {
  const started = await start();
  await openRtc();
  platform.rtc.channel.deliver(0);
  await settle();
  assert.equal(started.transport.kind, 'webrtc');
  started.events.length = 0;
  started.received.length = 0;
  return started;
};

const keyOf = (socket) => /^causeway\.session\.(.*)$/.exec(socket.protocols[1])[1];

test('both kinds start at once, with the same key', async () => {
  await start();
  assert.equal(platform.sockets.length, 1);
  assert.equal(platform.rtcs.length, 1);
  const [socket] = platform.sockets;
  assert.equal(socket.url, 'wss://relay.example/');
  assert.equal(socket.protocols.length, 2);
  assert.equal(socket.protocols[0], 'causeway.v1');
  assert.match(keyOf(socket), /^[\w-]{22}$/);
  const [offer] = platform.offers;
  assert.match(offer, /^v=0\r\ns=-\r\na=x-causeway-session:[\w-]{22}\r\nm=application\r\n/);
  assert.ok(offer.includes(`:${keyOf(socket)}\r\n`));
  await start();
  assert.notEqual(keyOf(platform.socket), keyOf(socket));
});

test('what opens first carries, and the better kind takes over when it brings something', async () => {
  const { transport, events, received } = await start();
  assert.equal(transport.kind, 'websocket');
  transport.send(bytes(1));
  await openRtc();
  // An open link need not carry this session yet.
  assert.equal(transport.kind, 'websocket');
  transport.send(bytes(2));
  platform.socket.deliver(3);
  platform.rtc.channel.deliver(4);
  transport.send(bytes(5));
  await settle();
  assert.deepEqual(events, ['webrtc']);
  assert.deepEqual(platform.socket.sent, [[1], [2]]);
  assert.deepEqual(platform.rtc.channel.sent, [[2], [5]]);
  assert.deepEqual(received, [[3], [4]]);
  assert.equal(platform.socket.closedWith, 1000);
  assert.equal(transport.state, 'open');
  assert.equal(transport.stats().datagramsSent, 4);
  assert.equal(transport.stats().datagramsReceived, 2);
  await pass(120);
  assert.equal(platform.sockets.length + platform.rtcs.length, 2);
});

test('the relay learns of the better link by what goes over it, ten times a second', async () => {
  const { transport, events } = await start();
  await openRtc();
  const { channel } = platform.rtc;
  for (let i = 0; i < 10; i++) {
    transport.send(bytes(i));
    await pass(0.05);
  }
  assert.equal(platform.socket.sent.length, 10);
  assert.deepEqual(channel.sent.slice(0, 2), [[0], [2]]);
  assert.equal(channel.sent.length, 5);
  assert.deepEqual(events, []);
  channel.deliver(1);
  assert.deepEqual(events, ['webrtc']);
});

test('as long as nothing comes at all, both links stay', async () => {
  const { transport, events } = await start();
  platform.rtc.open();
  await pass(5);
  assert.deepEqual(events, []);
  assert.equal(platform.rtc.closed, false);
  transport.send(bytes(1));
  // The answer may be faster than the relay's message about the new link.
  platform.socket.deliver(2);
  await pass(5);
  assert.equal(platform.rtc.closed, false);
  platform.rtc.channel.deliver(3);
  assert.deepEqual(events, ['webrtc']);
});

test('a better kind of another session is given up, and tried again in a minute', async () => {
  const { transport, events } = await start();
  platform.rtc.open();
  for (let i = 0; i < 12; i++) {
    assert.equal(platform.rtc.closed, false);
    transport.send(bytes(i));
    platform.socket.deliver(1);
    await pass(0.1);
  }
  assert.deepEqual(events, []);
  assert.equal(transport.kind, 'websocket');
  assert.equal(platform.socket.closedWith, undefined);
  assert.equal(platform.rtc.closed, true);
  await pass(28);
  assert.equal(platform.rtcs.length, 1);
  await passToRtc(62);
  await openRtc();
  platform.rtc.channel.deliver(2);
  assert.deepEqual(events, ['webrtc']);
});

test('a better kind that is far away has the time that its opening took, and a second', async () => {
  const { transport, events } = await start();
  await pass(8);
  platform.rtc.open();
  const talk = async (seconds) => {
    for (let i = 0; i < seconds * 10; i++) {
      transport.send(bytes(i));
      platform.socket.deliver(1);
      await pass(0.1);
    }
  };
  await talk(8.8);
  assert.equal(platform.rtc.closed, false);
  await talk(0.4);
  assert.equal(platform.rtc.closed, true);
  await passToRtc(91);
  await pass(8);
  platform.rtc.open();
  await talk(5);
  platform.rtc.channel.deliver(2);
  assert.deepEqual(events, ['webrtc']);
});

test('WebRTC that is too far away to connect in ten seconds has half a minute later', async () => {
  const { events } = await start();
  await pass(9.9);
  assert.equal(platform.rtc.closed, false);
  await pass(0.2);
  assert.equal(platform.rtc.closed, true);
  await passToRtc(91);
  await pass(28);
  assert.equal(platform.rtc.closed, false);
  await openRtc();
  platform.rtc.channel.deliver(1);
  assert.deepEqual(events, ['webrtc']);
});

test('WebRTC that opens first leaves no WebSocket', async () => {
  const opening = begin();
  await settle();
  platform.rtc.open();
  const transport = await opening;
  assert.equal(transport.kind, 'webrtc');
  assert.equal(platform.socket.closedWith, 1000);
});

test('WebRTC that fails is tried again after a minute, and when the network changes', async () => {
  const { transport, events } = await start();
  platform.rtc.fail();
  await pass(29);
  assert.equal(platform.rtcs.length, 1);
  await passToRtc(62);
  platform.rtc.fail();
  await settle();
  await online();
  assert.equal(platform.rtcs.length, 3);
  await openRtc();
  platform.rtc.channel.deliver(1);
  assert.equal(transport.kind, 'webrtc');
  assert.deepEqual(events, ['webrtc']);
});

test('when no kind opens, each tells why', async () => {
  const opening = begin();
  await settle();
  platform.rtc.fail();
  platform.socket.end(1006);
  const rejected = assert.rejects(opening, (error) => {
    assert.ok(error instanceof ConnectError);
    assert.deepEqual(
      error.errors.map(({ stage }) => stage),
      ['ice', 'handshake'],
    );
    return true;
  });
  await pass(0.2);
  await rejected;
  assert.equal(platform.sockets.length + platform.rtcs.length, 2);
});

test('a lost link is replaced with the same key, and what was sent meanwhile is lost', async () => {
  const { transport, events, received } = await start();
  const [first] = platform.sockets;
  transport.send(bytes(1));
  first.deliver(2);
  first.end();
  await settle();
  assert.deepEqual(events, ['reconnecting']);
  assert.equal(transport.state, 'reconnecting');
  assert.equal(transport.send(bytes(3)), false);
  assert.equal(platform.sockets.length, 2);
  assert.equal(keyOf(platform.socket), keyOf(first));
  assert.ok(platform.offers.at(-1).includes(keyOf(first)));
  await openSocket();
  transport.send(bytes(4));
  platform.socket.deliver(5);
  assert.deepEqual(events, ['reconnecting', 'open']);
  assert.deepEqual(received, [[2], [5]]);
  assert.deepEqual(platform.socket.sent, [[4]]);
  const { datagramsSent, datagramsReceived, droppedClosed } = transport.stats();
  assert.deepEqual(
    { datagramsSent, datagramsReceived, droppedClosed },
    {
      datagramsSent: 2,
      datagramsReceived: 2,
      droppedClosed: 1,
    },
  );
});

test('a lost WebRTC link is replaced by what opens first', async () => {
  const { events } = await startUpgraded();
  platform.rtc.end();
  await settle();
  assert.deepEqual([platform.sockets.length, platform.rtcs.length], [2, 2]);
  await openSocket();
  await openRtc();
  platform.rtc.channel.deliver(1);
  await settle();
  assert.deepEqual(events, ['reconnecting', 'websocket', 'open', 'webrtc']);
});

test('attempts to replace a link come at growing, uneven times', async () => {
  await start(onlyWebSocket);
  let at = 0;
  const times = [];
  let known = platform.sockets.length;
  platform.socket.end();
  for (; at < 14; at += 0.05) {
    await pass(0.05);
    if (platform.sockets.length > known) {
      known = platform.sockets.length;
      times.push(at);
      platform.socket.end();
    }
  }
  const gaps = times.slice(1).map((time, i) => time - times[i]);
  assert.ok(times[0] < 0.1, String(times));
  // Pages that lost a relay at the same time do not come back at the same time.
  assert.ok(
    gaps.some((gap, i) => i > 0 && gap < gaps[i - 1]),
    String(gaps),
  );
  assert.ok(gaps[0] < 0.4 && Math.max(...gaps) < 4.6, String(gaps));
  assert.ok(gaps.length >= 5 && gaps.length <= 14, String(gaps));
});

for (const [asked, waited] of [
  ['7', 7],
  ['100000', 60],
  ['-5', 60],
])
  test(`a relay that asks for ${asked} s with Retry-After is left alone for ${waited}, by this kind of link`, async () => {
    const { transport } = await start();
    transport.keep();
    platform.rtc.fail();
    await settle();
    let posts = 0;
    globalThis.fetch = async () => {
      posts++;
      return new Response('later', { status: 503, headers: { 'retry-after': asked } });
    };
    await loseSocket();
    await pass(1);
    assert.equal(posts, 1);
    const { length } = platform.sockets;
    platform.socket.end();
    await pass(waited - 1.1);
    assert.equal(posts, 1);
    assert.ok(platform.sockets.length > length);
    await pass(0.5);
    assert.equal(posts, 2);
  });

for (const [what, begin] of Object.entries({
  'a lost link': () => platform.socket.end(),
  'a silent link': (transport) => transport.renew(),
}))
  test(`${what} is replaced a second after a relay is back that was gone for three`, async () => {
    const { transport } = await start(onlyWebSocket);
    mock.method(Math, 'random', () => 0.5); // so that no pause is longer or shorter
    begin(transport);
    const times = [];
    for (let at = 0; at < 5; at += 0.05) {
      await pass(0.05);
      if (platform.socket.readyState !== 0) continue;
      times.push(at);
      platform.socket.end();
    }
    for (let gone = 0; gone <= 3; gone += 0.05) {
      const next = times.find((time) => time >= gone);
      assert.ok(next - gone <= 1.1, `${gone}: ${times}`);
    }
  });

test('nothing replaces a silent link that brings something again', async () => {
  const { transport } = await start(onlyWebSocket);
  const [first] = platform.sockets;
  transport.renew();
  await settle();
  platform.socket.end();
  first.deliver(1); // may have been on the way when the link fell silent
  await pass(0.3);
  assert.equal(platform.sockets.length, 3);
  platform.socket.end();
  first.deliver(2);
  first.deliver(3);
  await pass(60);
  assert.equal(platform.sockets.length, 3);
});

test('a session that is closed while its link is silent stays closed, whatever the link still brings', async () => {
  const { transport } = await start(onlyWebSocket);
  const [first] = platform.sockets;
  transport.renew();
  platform.socket.end();
  await settle();
  transport.close();
  for (let i = 0; i < 4; i++) first.deliver(i);
  assert.notEqual(transport.state, 'open');
  await pass(60);
  assert.equal(transport.state, 'closed');
  assert.equal(platform.sockets.length, 2);
});

test('links that open and bring nothing come at growing times', async () => {
  const { transport } = await start(onlyWebSocket);
  transport.keep();
  platform.socket.deliver(1);
  await loseSocket(1012);
  for (let i = 0; i < 14 * 20; i++) {
    if (platform.socket.closedWith === undefined) {
      await openSocket();
      platform.socket.end(1012);
    }
    await pass(0.05);
  }
  const count = platform.sockets.length;
  assert.ok(count >= 6 && count <= 16, String(count));
  while (platform.socket.closedWith !== undefined) await pass(0.05);
  await openSocket();
  platform.socket.deliver(2);
  const before = platform.sockets.length;
  await loseSocket(1012);
  assert.equal(platform.sockets.length, before + 1, 'one that has brought something');
});

test('a session that no link takes up for 15 s is over', async () => {
  const { transport, events } = await start(onlyWebSocket);
  const closed = transport.closed;
  platform.socket.end(1006, 'gone');
  await pass(14.8);
  assert.equal(transport.state, 'reconnecting');
  await pass(0.4);
  assert.deepEqual(events, ['reconnecting', 'closed']);
  assert.deepEqual(await closed, { code: 1006, reason: 'gone' });
  const attempts = platform.sockets.length;
  await pass(100);
  assert.equal(platform.sockets.length, attempts);
});

test('an attempt that hangs is given up for the next one', async () => {
  const { transport } = await start(onlyWebSocket);
  platform.socket.end();
  await pass(1);
  const hanging = platform.sockets.length;
  assert.equal(hanging, 2);
  await pass(5);
  assert.equal(platform.sockets.length, 3);
  await openSocket();
  assert.equal(transport.state, 'open');
});

test('an attempt to replace a link has twice the time that the last one took', async () => {
  const opening = begin({ transports: ['websocket'], timeoutSeconds: 60 });
  await pass(5);
  platform.socket.open();
  const transport = await opening;
  platform.socket.end();
  await pass(9.9);
  assert.equal(platform.sockets.length, 2);
  await openSocket();
  assert.equal(transport.state, 'open');
});

for (const [what, say] of Object.entries({
  'the network comes back': () => page.dispatchEvent(new Event('online')),
  'the page is looked at': () => document.dispatchEvent(new Event('visibilitychange')),
}))
  test(`a lost link is replaced at once when ${what}`, async () => {
    const { transport } = await start(onlyWebSocket);
    platform.socket.end();
    for (let i = 0; i < 12; i++) {
      await pass(0.5);
      if (platform.socket.closedWith === undefined) platform.socket.end();
    }
    const before = platform.sockets.length;
    say();
    await settle();
    assert.equal(platform.sockets.length, before + 1);
    // The transport opens another one, also instead of one that may hang.
    say();
    await settle();
    assert.equal(platform.sockets.length, before + 2);
    await openSocket();
    assert.equal(transport.state, 'open');
  });

test('a page that is hidden changes nothing', async () => {
  await start(onlyWebSocket);
  await loseSocket();
  document.visibilityState = 'hidden';
  document.dispatchEvent(new Event('visibilitychange'));
  await settle();
  assert.equal(platform.sockets.length, 2);
});

test('a link that is open on a network that changed gets one beside it', async () => {
  const { transport, events } = await start(onlyWebSocket);
  const relinks = [];
  transport.addEventListener('relink', () => relinks.push(platform.sockets.length));
  const [first] = platform.sockets;
  await online();
  await openSocket();
  transport.send(bytes(1));
  assert.deepEqual(platform.socket.sent, [[1]]);
  platform.socket.deliver(2);
  await settle();
  assert.equal(first.closedWith, 1000);
  assert.deepEqual(events, []);
  assert.deepEqual(relinks, [2]);
});

test('a link that only seemed silent stays when the new one is of another session', async () => {
  const { transport } = await start(onlyWebSocket);
  const [first] = platform.sockets;
  transport.renew();
  await settle();
  await openSocket();
  first.deliver(1);
  first.deliver(2);
  first.deliver(3);
  await pass(1.2);
  assert.equal(platform.socket.closedWith, 1000);
  transport.send(bytes(2));
  assert.deepEqual(first.sent, [[2]]);
});

test('a link that only seemed silent carries again while a far one of another session is tried', async () => {
  const { transport, events } = await start(onlyWebSocket);
  const relinks = [];
  transport.addEventListener('relink', () => relinks.push(platform.socket.sent.length));
  const [first] = platform.sockets;
  transport.renew();
  await pass(4);
  await openSocket();
  transport.send(bytes(1));
  assert.deepEqual([first.sent, platform.socket.sent], [[], [[1]]]);
  first.deliver(1);
  first.deliver(2);
  transport.send(bytes(2));
  assert.deepEqual(first.sent, []);
  first.deliver(3);
  // Some of these also go over the new link, to see whether it still brings something.
  for (let i = 0; i < 4; i++) {
    transport.send(bytes(3 + i));
    await pass(0.05);
  }
  assert.deepEqual(first.sent, [[3], [4], [5], [6]]);
  assert.deepEqual(platform.socket.sent, [[1], [2], [3], [5]]);
  assert.deepEqual(relinks, [0]);
  await pass(6);
  assert.equal(platform.socket.closedWith, 1000);
  assert.equal(first.closedWith, undefined);
  assert.deepEqual(events, []);
});

test('the loss of one of two links interrupts nothing', async () => {
  const { transport, events } = await start();
  await openRtc();
  await loseSocket();
  transport.send(bytes(1));
  assert.deepEqual(platform.rtc.channel.sent, [[1]]);
  assert.deepEqual(events, ['webrtc']);
  assert.equal(transport.state, 'open');
  const second = await start();
  await openRtc();
  platform.rtc.end();
  await settle();
  second.transport.send(bytes(2));
  assert.deepEqual(platform.socket.sent, [[2]]);
  assert.deepEqual(second.events, []);
});

test('a link whose place a newer one takes is no loss', async () => {
  const { transport, events } = await start(onlyWebSocket);
  const [first] = platform.sockets;
  transport.renew();
  await settle();
  // The relay knows of the new link before this side does.
  first.end(4003, 'another link took its place');
  await settle();
  await openSocket();
  assert.equal(platform.sockets.length, 2);
  assert.equal(keyOf(platform.socket), keyOf(first));
  assert.deepEqual(events, ['reconnecting', 'open']);
  transport.renew();
  await settle();
  const second = platform.sockets[1];
  await openSocket();
  second.end(4003, 'another link took its place');
  await settle();
  assert.equal(platform.sockets.length, 3);
  assert.deepEqual(events, ['reconnecting', 'open']);
});

test('what the relay ends for a reason of its own is over', async () => {
  const { transport, events } = await start();
  platform.socket.end(4000, 'idle');
  assert.deepEqual(await transport.closed, { code: 4000, reason: 'idle' });
  assert.deepEqual(events, ['closed']);
  await settle();
  assert.equal(platform.rtc.closed, true);
});

test('closing ends every link and every attempt', async () => {
  const { transport, events } = await start();
  transport.close();
  transport.close();
  assert.equal(transport.state, 'closing');
  assert.equal((await transport.closed).code, 1000);
  assert.deepEqual(events, ['closing', 'closed']);
  assert.equal(platform.socket.closedWith, 1000);
  assert.equal(platform.rtc.closed, true);
  platform.rtc.open();
  await pass(100);
  assert.equal(platform.sockets.length + platform.rtcs.length, 2);
  assert.equal(transport.send(bytes(1)), false);
});

test('closing while there is no link ends at once', async () => {
  const { transport } = await start(onlyWebSocket);
  await loseSocket();
  transport.close();
  assert.equal(transport.state, 'closed');
  assert.equal((await transport.closed).code, 1000);
  await openSocket();
  assert.equal(platform.socket.closedWith, 1000);
});

test('a page that goes closes its bare transport', async () => {
  const { transport } = await start();
  page.dispatchEvent(new Event('pagehide'));
  await settle();
  assert.equal(transport.state, 'closed');
  assert.equal(platform.socket.closedWith, 1000);
});

test('an aborted signal ends the attempt with its reason', async () => {
  const controller = new AbortController();
  const opening = begin({ signal: controller.signal });
  await settle();
  const reason = new Error('enough');
  controller.abort(reason);
  await assert.rejects(opening, reason);
  assert.equal(platform.socket.closedWith, 1000);
  assert.equal(platform.rtc.closed, true);
});

test('what is no address of a relay is one clear error', async () => {
  for (const url of [undefined, null, '/relay', 'relay.example'])
    await assert.rejects(openTransport(url), (error) => {
      assert.ok(error instanceof ConnectError, String(error));
      assert.equal(error.code, 'TRANSPORT');
      assert.equal(error.stage, 'setup');
      assert.match(error.message, /is no address of a relay; outside of pages it must be whole/);
      return true;
    });
});
