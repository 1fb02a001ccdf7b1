// Subflows and the watch for stalls, with a clock and WebSockets of the test's.
import assert from 'node:assert/strict';
import { beforeEach, test } from 'node:test';
import { StallWatch } from '../../web/dist/transports/stall_watch.js';
import { Subflows } from '../../web/dist/transports/subflows.js';

const FRAME = 1 / 60;
const settle = () => new Promise((resolve) => setImmediate(resolve));

/** A WebSocket that keeps what is sent: the sequence number, and the datagram or with a plus what brings parity. */
class Link {
  state = 'open';
  sent = [];

  constructor(number) {
    this.number = number;
    this.closed = new Promise((resolve) => (this.end = resolve));
  }

  send([low, high, , , , , ...rest]) {
    this.sent.push(`${low}${high & 128 ? '+' : ''}:${rest}`);
    return true;
  }

  close() {
    this.state = 'closed';
    this.end();
  }

  /** Lets a message come that confirms the datagrams with these numbers. */
  confirm(confirmed, { sequence = 1, rest = [] } = {}) {
    this.ondatagram(Uint8Array.of(sequence & 255, sequence >> 8, ...confirmed, ...rest));
  }
}

const PARITY = 0x8000;
/** The relay sends parity when something was late on its way to the page. */
const tellsOfLate = { sequence: 1 | PARITY, rest: [1, 0, 0, 0, 9, 9] };
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
  assert.deepEqual(sent(), ['1:1', '2:2 5:5', '3:3', '4:4']);
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

test('a late subflow rests until it confirms, and parity goes for a while', async () => {
  await openAll();
  put(1, 2, 3, 4);
  sent();
  links[1].confirm([0, 2, 3, 4]);
  put(5, 6, 7, 8);
  assert.deepEqual(sent(), ['', '5+:1,0,0,0,5,7 8:8', '6:6', '7+:1,0,0,0,7,3']);
  links[2].confirm([1, 8, 6, 7]);
  put(9);
  assert.deepEqual(sent(), ['9+:1,0,0,0,9,15', '', '', '']);
  for (let sequence = 9; sequence <= 9 + 128; sequence++) {
    links[0].confirm(Array(4).fill(sequence));
    put(1);
  }
  sent();
  put(1, 2);
  assert.ok(!sent().some((text) => text.includes('+')));
});

test('parity brings either of a pair that has not come', async () => {
  await openAll();
  // The pair is 5, 7 and 6, and 9 comes with its parity.
  const rest = [1, 0, 2 ^ 1, 0, 9, 5 ^ 6, 7];
  links[0].confirm([0, 0, 0, 0], { sequence: 1, rest: [5, 7] });
  links[2].confirm([0, 0, 0, 0], { sequence: 3 | PARITY, rest });
  assert.deepEqual(brought.splice(0), [5, 7, 6, 9]);
  links[1].confirm([0, 0, 0, 0], { sequence: 6, rest: [6] });
  links[2].confirm([0, 0, 0, 0], { sequence: 7 | PARITY, rest });
  assert.deepEqual(brought.splice(0), [6, 5, 7, 9]);
  links[0].confirm([0, 0, 0, 0], { sequence: 5, rest: [5, 7] });
  links[2].confirm([0, 0, 0, 0], { sequence: 7 | PARITY, rest });
  links[2].confirm([0, 0, 0, 0], { sequence: 11 | PARITY, rest });
  assert.deepEqual(brought, [5, 7, 9, 9]); // both of the pair have come, or neither
});

test('datagrams that come are handed on, and confirmed without one the other way', async () => {
  await openAll();
  for (let i = 1; i <= 4; i++) links[0].confirm([0, 0, 0, 0], { sequence: i, rest: [i] });
  assert.deepEqual(brought, [1, 2, 3, 4]);
  assert.deepEqual(sent(), ['0:', '', '', '']);
  links[0].ondatagram(Uint8Array.of(1, 2));
  assert.equal(brought.length, 4);
});

test('subflows are closed when nothing has been late for 30 s', async () => {
  await openAll();
  now += 29;
  links[3].confirm([0, 0, 0, 0], tellsOfLate);
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
  assert.deepEqual(sent().slice(1, 3), ['1:1', '2:2']);
  now += 5;
  links[3].confirm([0, 0, 0, 0], tellsOfLate);
  await settle();
  put(3);
  assert.equal(sent()[3], '3:3');
});
