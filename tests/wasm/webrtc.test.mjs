// The WebRTC transport against a peer of another stack in this process.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { after, beforeEach, test } from 'node:test';
import { ConnectError, WebRtcTransport, openTransport, require } from '../support/causeway.mjs';
import { RTCPeerConnection } from '../support/wrtc.mjs';
import { until } from '../support/patience.mjs';

const { WebSocket, WebSocketServer } = require('ws');
const options = { RTCPeerConnection, WebSocket };
const bytes = (...values) => new Uint8Array(values);

/** The server's answer to an offer; a test may put another function here. */
let answer;
let peers;
let deleted;

const complete = async (peer) => {
  if (peer.iceGatheringState !== 'complete')
    await new Promise((resolve) => {
      peer.onicegatheringstatechange = () => peer.iceGatheringState === 'complete' && resolve();
    });
};

/** Sends back every datagram. */
async function echo(offer, response) {
  const peer = new RTCPeerConnection();
  const channel = peer.createDataChannel('', {
    negotiated: true,
    id: 0,
    ordered: false,
    maxRetransmits: 0,
  });
  channel.binaryType = 'arraybuffer';
  channel.onmessage = ({ data }) => channel.readyState === 'open' && channel.send(data);
  peers.push(peer);
  await peer.setRemoteDescription({ type: 'offer', sdp: offer });
  await peer.setLocalDescription(await peer.createAnswer());
  await complete(peer);
  response.writeHead(201, { 'content-type': 'application/sdp', location: '/rtc/1' });
  response.end(peer.localDescription.sdp);
}

const server = createServer(async (request, response) => {
  if (request.method === 'DELETE') {
    deleted.push(request.url);
    response.writeHead(200).end();
    return;
  }
  assert.equal(request.method, 'POST');
  assert.equal(request.url, '/rtc');
  // With any other type a browser asks the server first.
  assert.equal(request.headers['content-type'], 'text/plain');
  let offer = '';
  for await (const chunk of request) offer += chunk;
  await answer(offer, response);
});
const sockets = new WebSocketServer({ server });
sockets.on('connection', (socket) => socket.on('message', (data) => socket.send(data)));
server.listen(0, '127.0.0.1');
await once(server, 'listening');
const url = `http://127.0.0.1:${server.address().port}/`;

beforeEach(() => {
  answer = echo;
  peers = [];
  deleted = [];
});

after(() => {
  sockets.clients.forEach((client) => client.terminate());
  server.closeAllConnections();
  server.close();
});

const closePeers = () => peers.forEach((peer) => peer.close());

const failsAt = (stage, promise, message = /./) =>
  assert.rejects(promise, (error) => {
    assert.ok(error instanceof ConnectError, String(error));
    assert.equal(error.stage, stage);
    assert.match(error.message, message);
    return true;
  });

const arrival = (transport) =>
  new Promise((resolve) => {
    transport.ondatagram = resolve;
  });

test('datagrams travel both ways, one in each message', async () => {
  const transport = await WebRtcTransport.connect(url, options);
  assert.equal(transport.kind, 'webrtc');
  for (const size of [1, 64, 1100]) {
    const datagram = Uint8Array.from({ length: size }, (_, i) => i * 5);
    assert.equal(transport.send(datagram), true);
    assert.deepEqual(await arrival(transport), datagram);
  }
  assert.throws(() => transport.send(new Uint8Array(1101)), RangeError);
  assert.equal(transport.stats().datagramsReceived, 3);
  transport.close();
  assert.deepEqual(await transport.closed, { code: 1000, reason: '' });
  assert.equal(transport.send(bytes(1)), false);
  assert.deepEqual(deleted, []);
  closePeers();
});

test('one that has all the time there is opens, and tells the end of the other side', async () => {
  const transport = await WebRtcTransport.connect(url, { ...options, timeoutSeconds: Infinity });
  closePeers();
  assert.equal((await transport.closed).code, 1006);
  assert.equal(transport.state, 'closed');
});

test('one turn of the event loop hands over a burst, and the rest of it follows', async () => {
  const how = { ...options, maxBurst: 3000, maxWaitSeconds: Infinity };
  const transport = await WebRtcTransport.connect(url, how);
  const came = [];
  transport.ondatagram = ([first]) => came.push(first);
  for (let i = 0; i < 5; i++) assert.equal(transport.send(new Uint8Array(1000).fill(i)), true);
  const { datagramsSent, datagramsWaiting } = transport.stats();
  assert.deepEqual([datagramsSent, datagramsWaiting], [3, 2]);
  await until('all have come back', () => came.length === 5);
  assert.deepEqual(came.sort(), [0, 1, 2, 3, 4]);
  assert.equal(transport.stats().droppedBacklog, 0);
  transport.close();
  closePeers();
});

test('so many bytes may wait as the page says, and by default a few', async () => {
  let waiting = 0;
  class Peer extends RTCPeerConnection {
    createDataChannel(...all) {
      const channel = super.createDataChannel(...all);
      return Object.defineProperty(channel, 'bufferedAmount', { get: () => waiting });
    }
  }
  for (const [maxBufferedAmount, most] of [
    [undefined, 4400 - 1400],
    [0, 0],
    [65536, 65536 - 1400],
  ]) {
    const transport = await WebRtcTransport.connect(url, {
      RTCPeerConnection: Peer,
      maxDatagramSize: 1400,
      maxWaitSeconds: 0,
      ...(maxBufferedAmount !== undefined && { maxBufferedAmount }),
    });
    for (const [amount, goes] of [
      [most, true],
      [most + 1, false],
    ]) {
      waiting = amount;
      assert.equal(transport.send(new Uint8Array(1400)), goes, `${amount} bytes wait`);
      await Promise.resolve(); // the end of a burst
    }
    assert.equal(transport.stats().droppedBacklog, 1);
    transport.close();
  }
  closePeers();
});

test('nothing is added when what waits in the browser is late', async (t) => {
  let left = 0;
  class Peer extends RTCPeerConnection {
    createDataChannel(...all) {
      const channel = super.createDataChannel(...all);
      let sent = 0;
      const send = channel.send.bind(channel);
      channel.send = (datagram) => {
        sent += datagram.length;
        send(datagram);
      };
      return Object.defineProperty(channel, 'bufferedAmount', { get: () => sent - left });
    }
  }
  let now = 1000;
  t.mock.method(performance, 'now', () => now);
  const transport = await WebRtcTransport.connect(url, {
    ...options,
    RTCPeerConnection: Peer,
    maxWaitSeconds: 0,
  });
  const goes = async () => {
    const taken = transport.send(new Uint8Array(10));
    await Promise.resolve(); // the end of a burst
    return taken;
  };
  // The first two leave late, and so does the news of it.
  assert.deepEqual([await goes(), await goes()], [true, true]);
  now += 60;
  assert.equal(await goes(), true);
  now += 60;
  assert.equal(await goes(), false);
  left = 20;
  assert.equal(await goes(), true);
  now += 60;
  assert.equal(await goes(), false);
  left = 30;
  assert.equal(await goes(), true);
  transport.close();
  closePeers();
});

test('a relay without WebRTC fails in the signalling, at once', async () => {
  answer = (_, response) => response.writeHead(404).end('no such thing');
  await failsAt('signalling', WebRtcTransport.connect(url, options), /404 no such thing/);
  answer = (_, response) => response.writeHead(404).end();
  await failsAt('signalling', WebRtcTransport.connect(url, options), /404$/);
});

test('a relay that is not there fails in the signalling', () =>
  failsAt(
    'signalling',
    WebRtcTransport.connect('http://127.0.0.1:9/', options),
    /cannot be reached: .* origin \(--origin\)/,
  ));

test('an answer that is none fails in the signalling', async () => {
  answer = (_, response) => response.writeHead(201, { location: '/rtc/7' }).end('hello');
  await failsAt('signalling', WebRtcTransport.connect(url, options), /no description/);
  await until('the end of the session', () => deleted.length > 0);
  assert.deepEqual(deleted, ['/rtc/7']);
});

test('a path that does not carry UDP fails in the search for one', async () => {
  answer = (offer, response) =>
    echo(offer, {
      writeHead: (...head) => response.writeHead(...head),
      end: (sdp) => response.end(sdp.replace(/a=candidate.*\r\n/g, '')),
    });
  await assert.rejects(WebRtcTransport.connect(url, { ...options, timeoutSeconds: 3 }), (error) => {
    assert.equal(error.stage, 'ice');
    assert.equal(error.timedOut, true);
    return true;
  });
  closePeers();
});

test('an aborted signal ends the attempt with its reason', async () => {
  answer = () => {};
  const reason = new Error('changed my mind');
  const controller = new AbortController();
  const attempt = WebRtcTransport.connect(url, { ...options, signal: controller.signal });
  setTimeout(() => controller.abort(reason), 20);
  await assert.rejects(attempt, reason);
});

test('the best transport that opens carries in the end', async () => {
  const transport = await openTransport(url, options);
  await until('WebRTC', () => transport.send(bytes(5)) && transport.kind === 'webrtc');
  transport.send(bytes(6));
  for (let last; last !== 6;) [last] = await arrival(transport);
  transport.close();
  closePeers();

  answer = (_, response) => response.writeHead(404).end();
  const second = await openTransport(url, options);
  assert.equal(second.kind, 'websocket');
  second.close();
});

test('a transport that hangs does not hold up the other', async () => {
  answer = () => {};
  const transport = await openTransport(url, { ...options, timeoutSeconds: 600 });
  assert.equal(transport.kind, 'websocket');
  transport.send(bytes(4));
  assert.deepEqual(await arrival(transport), bytes(4));
  transport.close();
});

test('when none opens, the error tells of each', async () => {
  await assert.rejects(openTransport('http://127.0.0.1:9/', options), (error) => {
    assert.ok(error instanceof ConnectError);
    assert.deepEqual(
      error.errors.map(({ stage }) => stage),
      ['signalling', 'handshake'],
    );
    return true;
  });
});

test("the choice of transports is the caller's", async () => {
  const transport = await openTransport(url, { ...options, transports: ['websocket'] });
  assert.equal(transport.kind, 'websocket');
  transport.close();
  await failsAt('setup', openTransport(url, { ...options, transports: [] }));
});

test('an aborted signal ends the race', async () => {
  answer = () => {};
  const controller = new AbortController();
  setTimeout(() => controller.abort(new Error('enough')), 20);
  const signal = controller.signal;
  await assert.rejects(
    openTransport(url, { ...options, transports: ['webrtc'], signal }),
    /enough/,
  );
});
