// Requests that never end, and connections without number, with honest players beside them.
import assert from 'node:assert/strict';
import test from 'node:test';
import { startCrowd } from './hostile_crowd.mjs';
import { startRig } from './hostile_rig.mjs';
import { statsUntil } from '../support/relay.mjs';
import { handshake } from '../support/websocket.mjs';
import { descriptorsOf } from '../support/programs.mjs';

const DRIP_MS = 500;

/** Sends the text, then its last byte again and again. */
const drip = (text) => (socket) => {
  socket.write(text);
  const timer = setInterval(() => socket.write(text.slice(-1)), DRIP_MS);
  socket.once('close', () => clearInterval(timer));
};
const half = (text) => (socket) => socket.write(text);

const endless = {
  'nothing at all': () => {},
  'half a request': half('GET / HTTP/1.1\r\n'),
  'a request whose header drips': drip('GET / HTTP/1.1\r\nHost: a\r\nX-Long: a'),
  'a handshake that drips': drip(handshake.slice(0, -4) + '\r\nX-Long: a'),
  'a body that drips': drip('POST /rtc HTTP/1.1\r\nHost: a\r\nContent-Length: 5000\r\n\r\nv'),
};

test('requests that never end keep nobody waiting, and are not waited for', async (t) => {
  const rig = await startRig(t, { rtcSessions: 2 });
  const count = 100;
  const crowds = Object.values(endless).map((begin) =>
    startCrowd(t, rig.relay, { count, addresses: 4, begin }),
  );
  await Promise.all(crowds.map(({ reached }) => reached()));
  for (const rtc of [false, true]) await rig.newcomer({ rtc });
  // Another connection is opened for each that the relay has ended.
  await Promise.all(crowds.map(({ reached }) => reached(2 * count)));
  await rig.newcomer();
  const { connections_refused, connections_evicted } = await rig.relay.stats();
  assert.equal(connections_refused, 0);
  assert.equal(connections_evicted, 0);
  crowds.forEach(({ stop }) => stop());
  await rig.check();
});

const passers = {
  'come and go': (socket) => socket.end(),
  'come and are cut': (socket) => socket.resetAndDestroy(),
  'become sessions and go': (socket) => {
    socket.write(handshake);
    socket.once('data', () => socket.destroy());
  },
  'become sessions and are cut before they know': (socket) => {
    socket.write(handshake, () => socket.resetAndDestroy());
  },
};
for (const [name, begin] of Object.entries(passers)) {
  test(`thousands of connections that ${name} leave nothing behind`, async (t) => {
    const rig = await startRig(t);
    const descriptors = () => descriptorsOf(rig.relay.pid);
    const before = descriptors();
    const flood = { count: 100, addresses: 4, perSecond: 2000, begin };
    const crowd = startCrowd(t, rig.relay, flood);
    for (let reached = 1000; reached <= 3000; reached += 1000) {
      await crowd.reached(reached);
      await rig.newcomer();
    }
    crowd.stop();
    await statsUntil(rig.relay, () => descriptors() === before);
    await rig.check();
  });
}
