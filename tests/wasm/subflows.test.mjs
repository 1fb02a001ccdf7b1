// Subflows and the watch for stalls, with a clock and WebSockets of the test's.
import assert from 'node:assert/strict';
import { beforeEach, test } from 'node:test';
import { StallWatch } from '../../web/dist/transports/stall_watch.js';
import { Subflows } from '../../web/dist/transports/subflows.js';

const FRAME = 1 / 60;
const settle = () => new Promise((resolve) => setImmediate(resolve));

/** A WebSocket that keeps what is sent: the sequence number, a star if it goes again, and the datagram. */
class Link {
  state = 'open';
  sent = [];

  constructor(number) {
    this.number = number;
    this.closed = new Promise((resolve) => (this.end = resolve));
  }

  send([first, , , , , ...datagram]) {
    this.sent.push(`${first & 127}${first & 128 ? '*' : ''}:${datagram}`);
    return true;
  }

  close() {
    this.state = 'closed';
    this.end();
  }

  /** Lets a message come that confirms so much of each subflow. */
  confirm(confirmed, { sequence = 1, again = false, datagram = [] } = {}) {
    this.ondatagram(Uint8Array.of(sequence | (again ? 128 : 0), ...confirmed, ...datagram));
  }
}

let now, links, refused, brought, subflows;

beforeEach(() => {
  now = 100;
  links = [];
  refused = false;
  brought = [];
  const carrier = {
    closed: new Promise(() => {}),
    bring: (data) => brought.push(...new Uint8Array(data)),
  };
  const open = async (number) => {
    if (refused) throw new Error('refused');
    return (links[number - 1] = new Link(number));
  };
  subflows = new Subflows(carrier, open, () => now);
});

/** Lets datagrams come and go for so many frames; during a stall none comes, and then all at once. */
function play(frames, { stalls = false, busy = false } = {}) {
  for (let i = 0; i < frames; i++) {
    now += FRAME;
    if (!busy) subflows.put(Uint8Array.of(7));
    if (!stalls) subflows.came();
  }
  if (stalls) for (let i = 0; i < frames; i++) subflows.came();
}

async function openAll() {
  play(30);
  for (let i = 0; i < 2; i++) {
    play(9, { stalls: true });
    play(9);
  }
  await settle();
  assert.equal(links.length, 4);
}

const put = (...datagrams) => {
  for (const datagram of datagrams) {
    now += FRAME;
    assert.equal(subflows.put(Uint8Array.of(datagram)), true);
  }
};
const sent = () => links.map(({ sent }) => sent.splice(0).join(' '));

test('subflows are opened at the second stall, and carry what is sent', async () => {
  play(30);
  play(9, { stalls: true });
  play(9);
  await settle();
  assert.equal(links.length, 0);
  assert.equal(subflows.put(Uint8Array.of(1)), false);
  play(9, { stalls: true });
  await settle();
  put(1, 2, 3, 4, 5);
  assert.deepEqual(sent(), ['1:1 2:5', '1:2', '1:3', '1:4']);
});

test('a page that was busy has seen no stall', async () => {
  play(30);
  for (let i = 0; i < 5; i++) {
    play(9, { stalls: true, busy: true });
    play(9);
  }
  await settle();
  assert.equal(links.length, 0);
});

test('neither bursts of a server nor jitter are stalls', () => {
  const watch = new StallWatch();
  let time = 0;
  for (let tick = 0; tick < 200; tick++) {
    for (let i = 0; i < 6; i++) watch.sent((time += FRAME + (i % 2 ? 0.01 : -0.01)));
    for (let i = 0; i < 4; i++) assert.equal(watch.came(time + i / 1000), false);
  }
});

test('what is late goes again over another, and the late one rests until it is confirmed', async () => {
  await openAll();
  put(1, 2, 3, 4);
  sent();
  links[1].confirm([0, 1, 0, 0]);
  assert.deepEqual(sent(), ['', '2*:1', '', '']);
  links[2].confirm([0, 2, 1, 1]);
  put(5, 6, 7, 8, 9, 10);
  assert.deepEqual(sent(), ['', '3:5 4:8', '2:6 3:9', '2:7 3:10']);
  links[2].confirm([1, 4, 3, 3]);
  put(11);
  assert.deepEqual(sent(), ['2:11', '', '', '']);
});

test('datagrams that come are handed on, and confirmed without one the other way', async () => {
  await openAll();
  for (let i = 1; i <= 4; i++) links[0].confirm([0, 0, 0, 0], { sequence: i, datagram: [i] });
  assert.deepEqual(brought, [1, 2, 3, 4]);
  assert.deepEqual(sent(), ['0:', '', '', '']);
  links[0].ondatagram(Uint8Array.of(1, 2));
  assert.equal(brought.length, 4);
});

test('an answer goes where something came first', async () => {
  await openAll();
  for (const number of [3, 2, 3]) {
    now += FRAME;
    links[number - 1].confirm([0, 0, 0, 0], { datagram: [number] });
  }
  put(1, 2, 3, 4, 5);
  assert.deepEqual(sent(), ['1:3 2:5', '1:2', '1:1', '1:4']);
});

test('subflows are closed when nothing has been late for 30 s', async () => {
  await openAll();
  now += 29;
  links[3].confirm([0, 0, 0, 0], { again: true }); // the relay tells that something was late
  now += 29;
  put(1);
  now += 2;
  assert.equal(subflows.put(Uint8Array.of(2)), false);
  assert.ok(links.every(({ state }) => state === 'closed'));
  await openAll();
});

test('those that are refused or end are tried again, and the others carry all meanwhile', async () => {
  refused = true;
  play(30);
  for (let i = 0; i < 3; i++) play(9, { stalls: true });
  await settle();
  assert.equal(subflows.put(Uint8Array.of(1)), false);
  refused = false;
  play(300);
  play(9, { stalls: true });
  await settle();
  links[0].close();
  await settle();
  put(1, 2);
  assert.deepEqual(sent().slice(1, 3), ['1:1', '1:2']);
  now += 5;
  links[3].confirm([0, 0, 0, 0], { again: true });
  await settle();
  put(3);
  assert.equal(sent()[3], '1:3');
});
