import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  Connection,
  MisuseError,
  Simulator,
  array,
  bits,
  bool,
  bytes,
  compressedFloat,
  f32,
  f64,
  fingerprint,
  int,
  int64,
  loadCore,
  loadServer,
  message,
  optional,
  reliable,
  reliableUnordered,
  schema,
  string,
  struct,
  uint,
  uint64,
  unreliable,
  unreliableSequenced,
} from '../support/causeway.mjs';

const core = await loadCore();
const server = await loadServer();

const point = struct({ known: bool(), x: f64(), note: optional(string(3)) });

const everything = message('everything', {
  flag: bool(),
  small: int(-3, 4),
  wide: int(-(2 ** 31), 2 ** 31 - 1),
  count: uint(0, 2 ** 32 - 1),
  nibble: bits(4),
  low: int64(-(2n ** 63n), 2n ** 63n - 1n),
  high: uint64(0n, 2n ** 64n - 1n),
  single: f32(),
  double: f64(),
  angle: compressedFloat(-180, 180, 0.5),
  raw: bytes(9),
  name: string(13),
  flags: array(bool(), 5),
  path: array(int(0, 100), 4),
  far: array(int64(0n, 1n << 40n), 3),
  names: array(string(6), 3),
  blobs: array(bytes(5), 3),
  maybe: optional(bool()),
  target: optional(bits(12)),
  big: optional(uint64(0n, 1n << 60n)),
  nick: optional(string(7)),
  tail: optional(bytes(3)),
  place: point,
  places: array(point, 3),
  goal: optional(struct({ at: point, way: array(struct({ step: int(0, 9) }), 4) })),
});

const types = schema(
  everything,
  message('say', { text: string(200) }),
  message('ping', {}),
  message('file', { name: string(30) }, { block: true }),
);

const pair = (config, path) => {
  const ends = [new Connection(core, types, config), new Connection(core, types, config)];
  const paths = [1, 2].map((seed) => new Simulator(server, { seed, ...path }));
  let now = 0;
  return {
    ends,
    destroy: () => [...ends, ...paths].forEach((object) => object.destroy()),
    /** Lets so many ticks pass, sixty a second. */
    run(ticks, each = () => {}) {
      for (let i = 0; i < ticks; i++) {
        ends.forEach((end, side) => {
          const inward = paths[1 - side];
          for (let d = inward.transmit(now); d; d = inward.transmit(now)) end.receive(d, now);
          each(end, side);
          end.update(now);
          for (let d = end.transmit(now); d; d = end.transmit(now)) paths[side].receive(d, now);
        });
        now += 1 / 60;
      }
    },
  };
};

const take = (end) => {
  const taken = [];
  for (let event = end.next(); event; event = end.next()) {
    assert.equal(event.type, 'message');
    taken.push(event.message);
  }
  return taken;
};

const full = {
  flag: true,
  small: -3,
  wide: -(2 ** 31),
  count: 2 ** 32 - 1,
  nibble: 15,
  low: -(2n ** 63n),
  high: 2n ** 64n - 1n,
  single: Math.fround(1.1),
  double: Math.PI,
  angle: -17.5,
  raw: new Uint8Array([0, 1, 255]),
  name: 'Grüße 🎈',
  flags: [true, false, true],
  path: [0, 100, 50, 7],
  far: [1n << 40n, 0n],
  names: ['', 'äöü', 'abcdef'],
  blobs: [new Uint8Array(0), new Uint8Array([1, 2, 3, 4, 5])],
  maybe: false,
  target: 4095,
  big: 1n << 60n,
  nick: '\uFEFFnick',
  tail: new Uint8Array([9]),
  place: { known: true, x: 0.1, note: 'abc' },
  places: [
    { known: false, x: -1 },
    { known: true, x: 1e300, note: '' },
  ],
  goal: { at: { known: true, x: 2 }, way: [{ step: 9 }, { step: 0 }] },
};

const empty = {
  flag: false,
  small: 0,
  wide: 0,
  count: 0,
  nibble: 0,
  low: 0n,
  high: 0n,
  single: 0,
  double: 0,
  angle: 0,
  raw: new Uint8Array(0),
  name: '',
  flags: [],
  path: [],
  far: [],
  names: [],
  blobs: [],
  place: { known: false, x: 0 },
  places: [],
};

test('every kind of field arrives as it was sent', () => {
  const { ends, run } = pair();
  ends[0].send(0, 'everything', full, 0);
  ends[0].send(0, 'everything', empty, 0);
  run(2);
  assert.deepEqual(take(ends[1]), [
    { type: 'everything', value: full, channel: 0 },
    { type: 'everything', value: empty, channel: 0 },
  ]);
});

test('random messages arrive, in order, over a bad path', () => {
  let state = 12345;
  const random = (below) => {
    state = (Math.imul(state, 1103515245) + 12345) >>> 0;
    return (state >>> 8) % below;
  };
  const list = (most, item) => Array.from({ length: random(most + 1) }, item);
  const make = () => ({
    ...full,
    small: random(8) - 3,
    count: random(2 ** 24),
    raw: new Uint8Array(list(9, () => random(256))),
    name: list(6, () => 'aé'[random(2)]).join(''),
    path: list(4, () => random(101)),
    names: list(3, () => 'x'.repeat(random(7))),
    blobs: list(3, () => new Uint8Array(list(5, () => random(256)))),
    target: random(4096),
  });
  const sent = Array.from({ length: 300 }, make);
  const { ends, run } = pair(
    {},
    { latencySeconds: 0.03, jitterSeconds: 0.03, loss: 0.2, duplicate: 0.1 },
  );
  let next = 0;
  const received = [];
  run(1200, (end, side) => {
    if (side === 0 && next < sent.length) end.send(0, 'everything', sent[next++], next / 60);
    if (side === 1) received.push(...take(end).map(({ value }) => value));
  });
  assert.deepEqual(received, sent);
  assert.ok(ends[0].channelStats(0).resent > 0);
  assert.equal(ends[0].channelStats(0).delivered, sent.length);
  assert.equal(ends[0].stats().messagesInUse, 0);
});

test('a block goes along', () => {
  const { ends, run } = pair({ channels: [reliable({ blocks: true })] });
  const block = Uint8Array.from({ length: 100_000 }, (_, i) => i * 31);
  ends[0].send(0, 'file', { name: 'map' }, 0, block);
  run(120);
  assert.deepEqual(take(ends[1]), [{ type: 'file', value: { name: 'map' }, channel: 0, block }]);
});

test('statistics tell what is in flight, what may be, and what holds back', () => {
  const { ends, run } = pair({ channels: [reliable({ blocks: true })] }, { latencySeconds: 0.1 });
  const figures = () => {
    const { congestionWindowBytes, bytesInFlight, limited } = ends[0].stats();
    return { window: congestionWindowBytes, inFlight: bytesInFlight, limited };
  };
  const { window, ...rest } = figures();
  assert.ok(window > 0);
  assert.deepEqual(rest, { inFlight: 0, limited: 'NONE' });
  ends[0].send(0, 'file', { name: 'map' }, 0, new Uint8Array(100_000));
  const limits = new Set();
  let most = 0;
  run(12, (_, side) => {
    if (side > 0) return;
    const now = figures();
    limits.add(now.limited);
    most = Math.max(most, now.inFlight);
    // The packet that fills the window may be longer than the rest of the window.
    assert.ok(now.inFlight <= now.window + 1064, JSON.stringify(now));
  });
  assert.ok(most > 0);
  assert.ok(limits.has('WINDOW'), [...limits].join());
  run(400);
  assert.equal(take(ends[1]).length, 1);
  assert.ok(figures().window > window);
  assert.equal(figures().inFlight, 0);
  assert.equal(figures().limited, 'NONE');
});

test('unreliable messages come once or not at all', () => {
  const { run } = pair({ channels: [unreliable()] }, { loss: 0.5 });
  let received = 0;
  run(400, (end, side) => {
    if (side === 0) end.send(0, 'ping', {}, 0);
    else received += take(end).length;
  });
  assert.ok(received > 100 && received < 300, `${received}`);
});

test('a receipt tells whether a message arrived', () => {
  const { ends, run } = pair({}, { loss: 0.3 });
  const fates = new Map();
  let sent = 0;
  let arrived = 0;
  run(400, (end, side) => {
    if (side === 1) {
      arrived += take(end).filter(({ channel }) => channel === 1).length;
      return;
    }
    if (sent < 300) end.send(++sent % 3 === 0 ? 0 : 1, 'ping', {}, 0, undefined, sent);
    for (let event = end.next(); event; event = end.next()) {
      assert.ok(!fates.has(event.receipt));
      fates.set(event.receipt, event.type);
    }
  });
  assert.equal(fates.size, 300);
  const acked = [...fates].filter(([, fate]) => fate === 'acked').map(([receipt]) => receipt);
  assert.equal(acked.filter((receipt) => receipt % 3 === 0).length, 100);
  const unreliable = acked.length - 100;
  assert.ok(unreliable <= arrived && unreliable > arrived - 10, `${unreliable} of ${arrived}`);
  assert.ok([...fates.values()].filter((fate) => fate === 'lost').length > 30);
  ends[0].send(0, 'ping', {}, 0, undefined, 2 ** 32 - 1);
  run(60);
  assert.deepEqual(ends[0].next(), { type: 'acked', receipt: 2 ** 32 - 1 });
});

test('news that is not taken is not lost, and then no more receipts are given', () => {
  const { ends, run } = pair();
  for (let receipt = 1; receipt <= 256; receipt++) {
    ends[0].send(0, 'ping', {}, 0, undefined, receipt);
    run(1, (end, side) => side === 1 && take(end));
  }
  assert.throws(() => ends[0].send(1, 'ping', {}, 0, undefined, 257), { code: 'RECEIPTS_FULL' });
  ends[0].send(1, 'ping', {}, 0);
  run(10);
  for (let receipt = 1; receipt <= 256; receipt++)
    assert.deepEqual(ends[0].next(), { type: 'acked', receipt });
  assert.equal(ends[0].next(), undefined);
});

test('a value that does not fit is refused, and the error names the field', () => {
  const [end] = pair().ends;
  const refuses = (change, kind, text) =>
    assert.throws(
      () => end.send(0, 'everything', { ...full, ...change }, 0),
      (error) => {
        assert.ok(error instanceof kind, String(error));
        assert.match(error.message, text);
        return true;
      },
    );
  refuses({ small: 5 }, RangeError, /^everything\.small: 5 is not a whole number from -3 to 4$/);
  refuses({ small: 0.5 }, RangeError, /everything\.small/);
  refuses({ small: NaN }, RangeError, /everything\.small/);
  refuses({ count: 2 ** 32 }, RangeError, /everything\.count/);
  refuses({ nibble: 16 }, RangeError, /everything\.nibble/);
  refuses({ high: 2n ** 64n }, RangeError, /everything\.high/);
  refuses({ high: 1 }, TypeError, /everything\.high: 1 is not a bigint/);
  refuses({ angle: NaN }, RangeError, /everything\.angle/);
  refuses({ raw: new Uint8Array(10) }, RangeError, /everything\.raw: 10 bytes are more than 9/);
  refuses({ name: 'ä'.repeat(7) }, RangeError, /everything\.name: 14 bytes are more than 13/);
  refuses({ name: 'a\0b' }, RangeError, /everything\.name/);
  refuses({ path: [1, 2, 3, 4, 5] }, RangeError, /everything\.path: 5 items/);
  refuses({ path: [1, 101] }, RangeError, /everything\.path\[1\]: 101/);
  refuses({ target: 4096 }, RangeError, /everything\.target/);
  refuses({ flag: 1 }, TypeError, /everything\.flag/);
  refuses({ name: undefined }, TypeError, /everything\.name/);
  refuses({ place: undefined }, TypeError, /^everything\.place: undefined is not an object$/);
  refuses({ place: null }, MisuseError, /everything\.place: null is not an object/);
  refuses({ name: null }, MisuseError, /^everything\.name: null is not a string$/);
  assert.throws(() => end.send(0, 'everything', null, 0), {
    name: 'MisuseError',
    code: 'INVALID_ARGUMENT',
    message: 'everything: null is not an object',
  });
  refuses({ place: { known: true } }, TypeError, /everything\.place\.x: undefined is not a number/);
  refuses({ places: Array(4).fill(full.place) }, RangeError, /everything\.places: 4 items/);
  refuses(
    { places: [full.place, { ...full.place, note: 'four' }] },
    RangeError,
    /^everything\.places\[1\]\.note: 4 bytes are more than 3$/,
  );
  refuses(
    { goal: { at: full.place, way: [{ step: 0 }, { step: 10 }] } },
    RangeError,
    /^everything\.goal\.way\[1\]\.step: 10 is not a whole number from 0 to 9$/,
  );
  assert.equal(end.stats().messagesInUse, 0);
});

test('memory beyond what an address reaches is none, not what is left of the sum', () => {
  // A little more than 4 GB is needed for 49,153 messages of 87,384 bytes.
  const large = schema(message('large', { raw: bytes(87_380) }));
  assert.throws(() => new Connection(core, large, { maxMessages: 32_768 }), { code: 'NO_MEMORY' });
});

test('what is no schema is named', () => {
  for (const none of [undefined, [], message('ping', {})])
    assert.throws(() => new Connection(core, none), { name: 'TypeError', message: /^schema: / });
});

test('a send that cannot be carried out throws an error and leaves nothing behind', () => {
  const [end] = pair({ maxMessages: 8, channels: [reliable({ sendQueueSize: 4 })] }).ends;
  for (let i = 0; i < 4; i++) end.send(0, 'ping', {}, 0);
  assert.throws(() => end.send(0, 'ping', {}, 0), { code: 'QUEUE_FULL' });
  for (const channel of [1, -1, 0.5, 'ping', undefined]) {
    const refused = { name: 'RangeError', message: `${channel} is no channel; there are 0 to 0` };
    assert.throws(() => end.send(channel, 'ping', {}, 0), refused);
    assert.throws(() => end.channelStats(channel), refused);
  }
  assert.throws(() => end.send(0, 'file', { name: '' }, 0, new Uint8Array(1)), {
    code: 'BLOCK_NOT_ALLOWED',
  });
  assert.throws(() => end.send(0, 'pong', {}, 0), RangeError);
  assert.equal(end.stats().messagesInUse, 4);
});

test('who takes no messages holds the sender back, and loses none', () => {
  const { ends, run } = pair({ channels: [reliable({ receiveQueueSize: 8, sendQueueSize: 64 })] });
  for (let i = 0; i < 40; i++) ends[0].send(0, 'say', { text: String(i) }, 0);
  run(120);
  const received = [];
  run(240, (end, side) => side === 1 && received.push(...take(end).map(({ value }) => value.text)));
  assert.deepEqual(
    received,
    Array.from({ length: 40 }, (_, i) => String(i)),
  );
});

test('who takes nothing for eight seconds sends as before', () => {
  const { run } = pair();
  let [asked, answered, replies, taken] = [0, 0, 0, 0];
  run(480, (end, side) => {
    if (side === 1) {
      end.send(0, 'say', { text: String(answered++) }, 0);
      end.send(1, 'ping', {}, 0);
    } else {
      if (asked < 200) end.send(0, 'say', { text: String(asked++) }, 0);
      end.send(1, 'ping', {}, 0);
      end.send(1, 'ping', {}, 0);
      for (const { channel, value } of take(end))
        if (channel === 0) assert.equal(value.text, String(replies++));
    }
  });
  assert.ok(replies > 400, `${replies} of ${answered}`);
  run(240, (end, side) => {
    for (const { channel, value } of take(end))
      if (channel === 0) assert.equal(value.text, String(side === 1 ? taken++ : replies++));
  });
  assert.deepEqual([taken, replies], [asked, answered]);
});

test('bytes off the wire are judged, not thrown', () => {
  const { ends } = pair();
  for (const size of [0, 1, 9, 100, 5000])
    assert.equal(ends[0].receive(new Uint8Array(size).fill(0x5a), 0), false);
});

test('the fingerprint is that of types and channels', () => {
  const own = fingerprint(core, types);
  assert.equal(typeof own, 'bigint');
  assert.equal(fingerprint(core, schema(...types.types)), own);
  assert.notEqual(fingerprint(core, schema(message('say', { text: string(201) }))), own);
  assert.notEqual(fingerprint(core, types, [reliable()]), own);
  assert.notEqual(fingerprint(core, types, [reliable({ recovery: 'CODED' }), unreliable()]), own);
  // Options that are only the sender's own are not part of the fingerprint.
  for (const channel of [reliable({ recovery: 'COPIES' }), reliable({ extraBytes: 20 })])
    assert.equal(fingerprint(core, types, [channel, unreliable()]), own);
});

test('declarations that cannot work are refused', () => {
  assert.throws(() => int(5, 4), RangeError);
  assert.throws(() => int(0, 2 ** 31), RangeError);
  assert.throws(() => uint(-1, 4), RangeError);
  assert.throws(() => bits(33), RangeError);
  assert.throws(() => compressedFloat(1, 1, 0.1), RangeError);
  assert.throws(() => array(array(bool(), 2), 2), TypeError);
  assert.throws(() => array(bool(), 0), RangeError);
  assert.throws(() => optional(array(bool(), 2)), TypeError);
  assert.throws(() => schema(), RangeError);
  assert.throws(() => schema(message('a', {}), message('a', {})), RangeError);
  const refused = (declare, name, text) => assert.throws(declare, { name, message: text });
  refused(() => string(), 'RangeError', /^string: 0 to undefined is no range/);
  refused(() => int(0.5, 4), 'RangeError', /^int: 0.5 to 4 is no range/);
  for (const none of [int, 'int', undefined, { kind: 'text' }, array(int, 4), optional(bool)])
    refused(() => message('a', { x: none }), 'TypeError', /^a\.x: this is no field/);
  for (const none of [undefined, null])
    refused(() => message('a', none), 'TypeError', /^a: the fields/);
  refused(() => struct({}), 'TypeError', /^a struct needs at least one field$/);
  refused(() => struct(), 'TypeError', /^struct: the fields are missing/);
  refused(() => struct({ x: int }), 'TypeError', /^struct\.x: this is no field/);
  let deep = bool();
  for (let i = 0; i < 8; i++) deep = struct({ deep });
  new Connection(core, schema(message('deep', { deep }))).destroy();
  refused(() => struct({ deep: array(deep, 2) }), 'RangeError', /^structs can be 8 deep in one/);
  for (const none of [[message('a', {})], undefined])
    refused(() => schema(none), 'TypeError', /^a schema is made of messages/);
  const huge = schema(message('huge', { text: string(2 ** 21) }));
  assert.throws(() => new Connection(core, huge), { code: 'SCHEMA_FIELD' });
  assert.throws(() => new Connection(core, types, { channels: [reliable({ weight: 0 })] }), {
    code: 'CONFIG',
    field: 'weight',
  });
});

test('all memory comes back', () => {
  const size = () => core.memory.bytes.length;
  const use = () => {
    const { ends, run, destroy } = pair({ channels: [reliable({ blocks: true }), unreliable()] });
    ends[0].send(0, 'file', { name: 'x' }, 0, new Uint8Array(50_000));
    run(10);
    destroy();
  };
  for (let i = 0; i < 5; i++) use();
  const before = size();
  for (let i = 0; i < 50; i++) use();
  assert.equal(size(), before);
});

test('the mode of congestion control decides what holds packets back', () => {
  const after = (congestion) => {
    const connection = new Connection(core, types, { congestion });
    let datagrams = 0;
    for (let tick = 0; tick < 60; tick++) {
      connection.send(1, 'say', { text: 'x' }, tick / 60);
      connection.update(tick / 60);
      while (connection.transmit(tick / 60)) datagrams++;
    }
    const { limited, congestionWindowBytes } = connection.stats();
    connection.destroy();
    return { limited, hasWindow: congestionWindowBytes > 0, datagrams };
  };
  const all = { limited: 'NONE', datagrams: 60 };
  assert.deepEqual(after(undefined), { ...all, hasWindow: true });
  assert.deepEqual(after({ mode: 'DELAY', targetSeconds: 0.1 }), { ...all, hasWindow: true });
  assert.deepEqual(after({ mode: 'NONE' }), { ...all, hasWindow: false });
  const { limited, datagrams } = after({ mode: 'BINARY', badPacketsPerSecond: 5 });
  assert.equal(limited, 'RATE');
  assert.ok(datagrams >= 5 && datagrams <= 7, `${datagrams} at five in a second`);
});

test('statistics tell the good and the bad mode, and the penalty clock', () => {
  const { ends, run } = pair({ congestion: { mode: 'BINARY' } }, { latencySeconds: 0.05 });
  const is = () => ends[0].stats();
  const { congestionState, congestionReason, packetsPerSecond, rttThresholdSeconds } = is();
  assert.deepEqual(
    [congestionState, congestionReason, packetsPerSecond, rttThresholdSeconds],
    ['BAD', 'NO_RTT', 10, 0.25],
  );
  run(120);
  assert.equal(is().congestionReason, 'PENALTY');
  assert.equal(is().penaltySeconds, 4);
  assert.ok(is().goodSeconds > 1 && is().goodSeconds < 2, `${is().goodSeconds} s`);
  assert.ok(is().judgedRtt > 0.05 && is().judgedRtt < 0.25, `${is().judgedRtt} s`);
  run(180);
  assert.equal(is().congestionState, 'GOOD');
  assert.equal(is().congestionReason, 'RECOVERED');
  assert.equal(is().packetsPerSecond, 30);
  assert.equal(pair({}).ends[0].stats().congestionState, 'NONE');
});

test('an idle connection is silent but for a datagram each interval', () => {
  const datagramsOf = (config) => {
    const connection = new Connection(core, types, config);
    let datagrams = 0;
    for (let tick = 0; tick < 180; tick++) {
      connection.update(tick / 60);
      while (connection.transmit(tick / 60)) datagrams += tick >= 90;
    }
    connection.destroy();
    return datagrams;
  };
  assert.ok(datagramsOf({}) <= 15);
  assert.equal(datagramsOf({ idleIntervalSeconds: 0 }), 90);
  assert.ok(datagramsOf({ idleIntervalSeconds: 1 }) <= 2);
});

/** Makes two ends, and gives the second one packets in this order; returns the texts that come out. */
const reordered = (channel, order) => {
  const config = { channels: [channel] };
  const [from, to] = [new Connection(core, types, config), new Connection(core, types, config)];
  const packets = order.map((_, i) => {
    from.send(0, 'say', { text: `${i}` }, i / 60);
    from.update(i / 60);
    return from.transmit(i / 60).slice();
  });
  const texts = order.flatMap((i) => {
    to.receive(packets[i], 1);
    return take(to).map(({ value }) => value.text);
  });
  [from, to].forEach((end) => end.destroy());
  return texts;
};

test('each kind of channel does its own with packets out of order', () => {
  const order = [2, 0, 1, 3];
  assert.deepEqual(reordered(reliable(), order), ['0', '1', '2', '3']);
  assert.deepEqual(reordered(reliableUnordered(), order), ['2', '0', '1', '3']);
  assert.deepEqual(reordered(unreliable(), order), ['2', '0', '1', '3']);
  assert.deepEqual(reordered(unreliableSequenced(), order), ['2', '3']);
});

test('a kind that there is not is refused', () => {
  const channels = [{ kind: 'unordered' }];
  assert.throws(() => new Connection(core, types, { channels }), { code: 'CONFIG', field: 'kind' });
});

test('every kind of channel has a fingerprint of its own', () => {
  const kinds = [reliable(), unreliable(), reliableUnordered(), unreliableSequenced()];
  const prints = kinds.map((kind) => fingerprint(core, types, [kind]));
  assert.equal(new Set(prints).size, kinds.length);
});
