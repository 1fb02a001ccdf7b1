// A relay is upgraded under a thousand sessions, of transports that go on by themselves. They carry plain datagrams, so
// that all of them fit into one process; upgrade_players.test.mjs has players.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openTransport } from '../support/causeway.mjs';
import { reportGap } from '../support/player.mjs';
import { patiently, sleep } from '../support/patience.mjs';
import { startServed } from '../support/served.mjs';
import { WebSocket } from '../support/websocket.mjs';
import { own } from '../support/fixture.mjs';

const SESSIONS = 1000;
/** The number of sessions that speak often, and show how long the gap is. */
const SPEAKERS = 20;

test(`an upgrade loses none of ${SESSIONS} sessions`, async (t) => {
  const ports = new Map();
  const moved = [];
  const { relay } = await startServed(t, {
    answer: (data, { port }) => {
      const number = data.readUInt16LE();
      if (ports.has(number) && ports.get(number) !== port) moved.push(number);
      ports.set(number, port);
      return data;
    },
    // The first sessions say nothing until the last has come, and a busy machine takes long to link them all again.
    args: [
      ...['--max-sessions-per-address', '0', '--max-sessions', String(2 * SESSIONS)],
      ...['--request-timeout', '600', '--resume-seconds', '600'],
    ],
  });
  class Plain extends WebSocket {
    constructor(url, protocols) {
      super(url, protocols, { perMessageDeflate: false });
    }
  }
  const open = async (number) => {
    const transport = await openTransport(`http://127.0.0.1:${relay.port}/`, {
      transports: ['websocket'],
      WebSocket: Plain,
    });
    // As for a client, only its owner ends it: a busy machine takes longer to link all again than it waits by itself.
    transport.keep();
    const session = { transport, received: 0, last: performance.now(), gap: 0 };
    transport.ondatagram = () => {
      session.gap = Math.max(session.gap, performance.now() - session.last);
      session.last = performance.now();
      session.received++;
    };
    session.say = () => transport.send(new Uint8Array(Uint16Array.of(number).buffer));
    return session;
  };
  const sessions = [];
  while (sessions.length < SESSIONS)
    sessions.push(
      ...(await Promise.all(Array.from({ length: 50 }, (_, i) => open(sessions.length + i)))),
    );
  own(t, () => sessions.forEach(({ transport }) => transport.close()));
  const allHeard = async () => {
    for (const session of sessions) session.received = 0;
    while (sessions.some(({ received }) => received === 0)) {
      for (const session of sessions) if (session.received === 0) session.say();
      await sleep(200);
    }
  };
  await patiently(allHeard(), 'all before the upgrade');
  assert.equal(new Set(ports.values()).size, SESSIONS);
  const speakers = sessions.slice(0, SPEAKERS);
  for (const speaker of speakers) Object.assign(speaker, { gap: 0, last: performance.now() });
  const timer = setInterval(() => speakers.forEach((speaker) => speaker.say()), 50);

  await relay.upgrade();
  await patiently(allHeard(), 'all after the upgrade');
  clearInterval(timer);
  assert.deepEqual(moved, []);
  assert.ok(sessions.every(({ transport }) => transport.state === 'open'));
  const { sessions_adopted, sessions_opened } = await relay.stats();
  assert.deepEqual(
    { sessions_adopted, sessions_opened },
    { sessions_adopted: SESSIONS, sessions_opened: 0 },
  );
  const gap = Math.max(...speakers.map((speaker) => speaker.gap));
  reportGap(t, { gap }, 1500);
});
