// The path that other tests put in front of the relay: its delays, losses and breaks.
import assert from 'node:assert/strict';
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { connect, createServer } from 'node:net';
import { test } from 'node:test';
import { startDelayPath } from '../support/delay_path.mjs';
import { own } from '../support/fixture.mjs';
import { until } from '../support/patience.mjs';

const RTT = 80;
const host = '127.0.0.1';

/** Starts a path to an echo server, over TCP and UDP. */
async function start(t, options) {
  const accepted = [];
  const ports = new Set();
  const tcp = createServer((socket) => {
    accepted.push(socket);
    socket.on('error', () => {});
    socket.pipe(socket);
  });
  const udp = createSocket('udp4');
  udp.on('message', (data, from) => {
    ports.add(from.port);
    udp.send(data, from.port, from.address);
  });
  tcp.listen(0, host);
  udp.bind(0, host);
  await Promise.all([once(tcp, 'listening'), once(udp, 'listening')]);
  const path = await startDelayPath(t, options);
  path.to({ port: tcp.address().port, rtcPort: udp.address().port });
  own(t, () => {
    tcp.close();
    udp.close();
  });
  return { path, accepted, ports };
}

function stream(t, path) {
  const socket = connect({ host, port: path.port, noDelay: true });
  socket.on('error', () => {});
  own(t, () => socket.destroy());
  return {
    socket,
    /** Returns the milliseconds of a round trip. */
    trip: async () => {
      const begun = performance.now();
      socket.write('x');
      await once(socket, 'data');
      return performance.now() - begun;
    },
  };
}

async function datagrams(t, path) {
  const socket = createSocket('udp4');
  socket.connect(path.rtcPort, host);
  await once(socket, 'connect');
  own(t, () => socket.close());
  let back = 0;
  socket.on('message', () => back++);
  return {
    back: () => back,
    send: (count) => {
      for (let i = 0; i < count; i++) socket.send('x');
    },
    trip: async () => {
      const begun = performance.now();
      socket.send('x');
      await once(socket, 'message');
      return performance.now() - begun;
    },
  };
}

const wait = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

/** Resolves with whether an error closed the socket. */
const brokeOff = (socket) => new Promise((resolve) => socket.once('close', resolve));

/**
 * Checks that a trip never takes less than so many round trips, and once less than one more: a busy machine needs
 * several tries.
 */
async function takes(trips, trip) {
  let took;
  do {
    took = await trip();
    assert.ok(took > trips * RTT - 3, `${took} ms for ${trips} round trips`);
  } while (took >= (trips + 1) * RTT);
}

test('a cold TCP connection answers after two round trips, then after one', async (t) => {
  const { path } = await start(t, { rtt: RTT });
  let trip;
  await takes(2, () => {
    ({ trip } = stream(t, path));
    return trip();
  });
  await takes(1, trip);
  path.rtt = 2 * RTT;
  await takes(2, trip);
});

test('a datagram comes back after one round trip', async (t) => {
  const { path } = await start(t, { rtt: RTT });
  const { trip } = await datagrams(t, path);
  await takes(1, trip);
});

test('the same datagrams get lost with the same seed, and TCP loses nothing', async (t) => {
  const counts = [];
  for (const seed of [1, 1, 2]) {
    const { path } = await start(t, { rtt: 10, loss: 0.3, seed });
    const client = await datagrams(t, path);
    client.send(100);
    for (let before = -1; before !== client.back(); await wait(1000)) before = client.back();
    counts.push(client.back());
  }
  assert.equal(counts[0], counts[1]);
  assert.ok(counts[0] > 30 && counts[0] < 70, `${counts[0]} of 100, not about 49`);
  const { path } = await start(t, { rtt: 10, loss: 1 });
  assert.ok((await stream(t, path).trip()) > 400);
});

test('while it is paused datagrams are lost and TCP waits', async (t) => {
  const { path } = await start(t, { rtt: RTT });
  const tcp = stream(t, path);
  const udp = await datagrams(t, path);
  await tcp.trip();
  path.pause();
  const trip = tcp.trip();
  udp.send(5);
  await wait(3 * RTT);
  path.resume();
  assert.ok((await trip) > 3 * RTT - 3);
  assert.equal(udp.back(), 0);
  await takes(1, udp.trip);
});

test('a cut resets both ends, and new connections pass', async (t) => {
  const { path, accepted } = await start(t, { rtt: RTT });
  const { socket, trip } = stream(t, path);
  await trip();
  const closed = [socket, accepted[0]].map(brokeOff);
  path.cut();
  assert.deepEqual(await Promise.all(closed), [true, true]);
  await wait(0);
  assert.equal(path.connections, 0);
  await takes(2, () => stream(t, path).trip());
});

test('a connection whose end and reset arrive together is over', async (t) => {
  const { path, accepted } = await start(t, { rtt: RTT });
  const { socket, trip } = stream(t, path);
  await trip();
  // The server closes while these are on the way: they come to nobody, and it says so by a reset.
  for (let i = 0; i < 4; i++, await wait(RTT / 16)) socket.write('x');
  accepted[0].destroy();
  await wait((3 / 8) * RTT);
  // This thread looks at both only when both are due.
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 2 * RTT);
  await until('the connection is over', () => path.connections === 0);
});

test('a client that roams is cut off unheard, and has another port', async (t) => {
  const { path, accepted, ports } = await start(t, { rtt: RTT });
  const { socket, trip } = stream(t, path);
  const udp = await datagrams(t, path);
  await trip();
  await udp.trip();
  path.roam();
  socket.end('x');
  await wait(2 * RTT);
  assert.equal(accepted[0].readableEnded || accepted[0].bytesRead > 1, false);
  await udp.trip();
  assert.equal(ports.size, 2);
  await takes(2, () => stream(t, path).trip());
});

test('a server that is not there refuses after one round trip', async (t) => {
  const path = await startDelayPath(t, { rtt: RTT });
  path.to({ port: 1, rtcPort: 1 });
  await takes(1, async () => {
    const { socket } = stream(t, path);
    const begun = performance.now();
    assert.equal(await brokeOff(socket), true);
    return performance.now() - begun;
  });
});
