// The game kit of the npm package: the same modules as in C, with plain objects.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { before, test } from 'node:test';
import {
  array,
  bool,
  dist,
  f32,
  int,
  message,
  schema,
  string,
  uint,
} from '../support/causeway.mjs';

const {
  ClockEcho,
  ClockSync,
  History,
  InputReceiver,
  InputSender,
  Interest,
  Interpolation,
  Prediction,
  SnapshotClient,
  SnapshotServer,
  loadGame,
} = await import(new URL('game/index.js', dist));

const world = schema(
  message('player', { x: int(-1000, 1000), speed: int(-10, 10), name: string(16) }),
  message('crate', { x: f32(), open: bool(), items: array(uint(0, 99), 4) }),
);
const play = schema(
  message('press', { way: int(-1, 1) }),
  message('walker', { x: int(-1000, 1000), speed: int(-10, 10) }),
);

let kit;
before(async () => {
  kit = await loadGame();
});

test('the module imports nothing', () => {
  const bytes = readFileSync(new URL('causeway-game.wasm', dist));
  assert.deepEqual(WebAssembly.Module.imports(new WebAssembly.Module(bytes)), []);
});

test('a page has the parts of clients, and is told where those of servers are', async () => {
  const wasm = readFileSync(new URL('causeway-game.wasm', dist));
  const page = await loadGame({ wasm });
  new ClockSync(page).destroy();
  new SnapshotClient(page, world).destroy();
  for (const part of [
    () => new ClockEcho(page),
    () => new History(page, play, 'walker'),
    () => new InputReceiver(page, play, 'press'),
    () => new Interest(page),
    () => new SnapshotServer(page, world),
  ])
    assert.throws(part, { name: 'MisuseError', message: /causeway-game-server\.wasm/ });
});

test('the kit has a sentence for each error that it gives', () => {
  for (const code of [
    'NO_MEMORY',
    'MALFORMED',
    'STALE',
    'DUPLICATE',
    'MESSAGE_TYPE',
    'SCHEMA_BYTES',
  ])
    assert.notEqual(kit.error(code).message, 'unknown error', code);
});

test('another module is refused', async () => {
  const wasm = readFileSync(new URL('causeway.wasm', dist));
  await assert.rejects(loadGame({ wasm }), { name: 'ConnectError', code: 'LOAD' });
});

test('a client has the world of the server, through loss and whatever the order', () => {
  const server = new SnapshotServer(kit, world, { maxEntities: 32, maxClients: 2 });
  const client = new SnapshotClient(kit, world, { maxEntities: 32 });
  const states = new Map();
  let whole = 0;
  server.join(1);
  for (let tick = 1; tick <= 200; tick++) {
    const id = (tick * 7) % 20;
    const value = { x: tick, speed: (tick % 21) - 10, name: `tick ${tick}` };
    server.set(id, 'player', value);
    states.set(id, { type: 'player', value });
    if (tick % 50 === 0) {
      server.set(25, 'crate', { x: tick / 4, open: tick % 100 === 0, items: [tick % 99, 1] });
      server.remove(id);
      states.delete(id);
      states.set(25, {
        type: 'crate',
        value: { x: tick / 4, open: tick % 100 === 0, items: [tick % 99, 1] },
      });
    }
    server.tick(tick);
    const { number, data } = server.transmit(1);
    if (tick % 3 === 0) continue; // this one is lost
    assert.equal(client.receive(data), 'ok');
    assert.equal(client.receive(data), 'duplicate');
    assert.equal(client.tick(), tick);
    if (tick % 5 > 0) server.acked(1, number);
    whole = Math.max(whole, data.length);
    for (const [entity, state] of states) assert.deepEqual(client.state(entity), state);
    assert.equal(client.state(31), undefined);
  }
  const { snapshots, entities } = client.stats();
  assert.equal(entities, states.size);
  assert.equal(snapshots, 200 - Math.floor(200 / 3));
  assert.ok(server.stats().bytes < 200 * whole, 'nothing is left out of a snapshot');
});

test('the events of snapshots tell what became of each entity', () => {
  const server = new SnapshotServer(kit, world);
  const client = new SnapshotClient(kit, world);
  server.join(0);
  const pass = (tick) => {
    server.tick(tick);
    const { number, data } = server.transmit(0);
    assert.equal(client.receive(data), 'ok');
    server.acked(0, number);
    return [...client.events()];
  };
  const value = { x: 5, speed: 1, name: 'A' };
  server.set(3, 'player', value);
  assert.deepEqual(pass(1), [
    { type: 'created', entity: 3, tick: 1, state: { type: 'player', value } },
  ]);
  server.set(3, 'player', { ...value, x: 6 });
  assert.deepEqual(pass(2), [
    { type: 'updated', entity: 3, tick: 2, state: { type: 'player', value: { ...value, x: 6 } } },
  ]);
  assert.deepEqual(pass(3), []);
  server.remove(3);
  assert.deepEqual(pass(4), [{ type: 'removed', entity: 3, tick: 4 }]);
});

test('a client of a large world has what is near to it', () => {
  const config = { maxEntities: 5000, maxInterest: 8, maxClients: 1 };
  const server = new SnapshotServer(kit, world, config);
  const client = new SnapshotClient(kit, world, config);
  const grid = new Interest(kit, { maxEntities: 5000, radius: 10, fullRadius: 5 });
  server.join(0);
  for (let i = 0; i < 5000; i++) {
    grid.set(i, i * 4, -1e6);
    server.set(i, 'crate', { x: i, open: false, items: [] });
  }
  for (const [tick, x] of [400, 408, 12000].entries()) {
    const near = grid.find(x, -1e6, 8);
    assert.deepEqual(new Set(near.map(({ priority }) => priority)), new Set([1, (5 / 8) ** 2]));
    server.setInterest(0, near);
    server.tick(tick);
    const { number, data } = server.transmit(0);
    assert.equal(client.receive(data), 'ok');
    server.acked(0, number);
    for (let i = 0; i < 5000; i++)
      assert.equal(client.state(i) !== undefined, Math.abs(i * 4 - x) <= 10);
  }
  grid.remove(3000);
  assert.equal(grid.find(12000, -1e6, 8).length, 4);
  assert.throws(() => grid.set(5000, 0, 0), { code: 'INVALID_ARGUMENT' });
  assert.throws(
    () =>
      server.setInterest(
        0,
        grid.find(0, -1e6, 8).flatMap((one) => Array(9).fill(one)),
      ),
    {
      code: 'INVALID_ARGUMENT',
    },
  );
});

test('bytes that are no snapshot change nothing', () => {
  const client = new SnapshotClient(kit, world);
  assert.equal(client.receive(new Uint8Array()), 'malformed');
  for (let size = 1; size < 300; size += 7)
    assert.notEqual(
      client.receive(Uint8Array.from({ length: size }, (_, i) => (i * size) % 251)),
      'ok',
    );
  assert.equal(client.tick(), undefined);
  assert.equal(client.newest(), undefined);
  assert.equal(client.stats().entities, 0);
});

test('a coding is chosen by its name, and costs what it says', () => {
  const bytesOf = (coding) => {
    const server = new SnapshotServer(kit, play, { coding });
    const client = new SnapshotClient(kit, play, { coding });
    server.join(0);
    let bytes = 0;
    for (let tick = 1; tick <= 60; tick++) {
      for (let entity = 0; entity < 20; entity++)
        server.set(entity, 'walker', { x: 7 * tick - entity, speed: 7 });
      server.tick(tick);
      const { number, data } = server.transmit(0);
      assert.equal(client.receive(data), 'ok');
      server.acked(0, number);
      bytes += data.length;
    }
    assert.deepEqual(client.state(3), { type: 'walker', value: { x: 417, speed: 7 } });
    return bytes;
  };
  const [plain, differences, predicted, coded] = [
    undefined,
    'DIFFERENCES',
    'PREDICTED',
    'RANGE_CODED',
  ].map(bytesOf);
  assert.equal(plain, differences);
  assert.ok(predicted < differences / 2 && coded < predicted, `${[differences, predicted, coded]}`);
  for (const coding of ['predicted', 'LOUD', 3])
    assert.throws(() => new SnapshotServer(kit, play, { coding }), {
      code: 'CONFIG',
      field: 'coding',
    });
});

test('values that do not fit are refused by name', () => {
  const server = new SnapshotServer(kit, world);
  assert.throws(() => server.set(0, 'player', { x: 1001, speed: 0, name: '' }), /player\.x/);
  assert.throws(() => server.set(0, 'nobody', {}), /nobody/);
  assert.throws(() => new SnapshotServer(kit, world, { window: 1 }), {
    code: 'CONFIG',
    field: 'window',
    message: 'window must be a power of two from 2 to 128',
  });
});

const step = ({ x, speed }, { way }) => {
  const next = Math.max(-10, Math.min(10, speed + way));
  return { x: Math.max(-1000, Math.min(1000, x + next)), speed: next };
};

test('a prediction that is wrong is put right by playing the inputs again', () => {
  const prediction = new Prediction(
    kit,
    play,
    { input: 'press', state: 'walker' },
    { smoothLimits: { x: 100 } },
  );
  assert.equal(prediction.stats().errorField, undefined);
  assert.equal(prediction.stats().wrongField, undefined);
  const way = (tick) => ({ way: (tick % 3) - 1 });
  let here = { x: 0, speed: 0 };
  let there = { x: 0, speed: 0 };
  const behind = 6;
  for (let tick = 1; tick <= 60; tick++) {
    here = step(here, way(tick));
    prediction.add(tick, way(tick), here);
    if (tick <= behind) continue;
    there = step(there, way(tick - behind));
    if (tick - behind === 20) there = { ...there, x: there.x + 50 }; // only the server knows of this push
    const wrong = prediction.correct(tick - behind, there);
    assert.equal(wrong, tick - behind === 20);
    const before = here;
    here = prediction.replay(here, step);
    assert.equal(here.x, before.x + (wrong ? 50 : 0));
    if (!wrong) continue;
    const now = prediction.smooth(here, 1);
    assert.equal(now.x, before.x, 'what is shown jumps');
    assert.ok(Math.abs(prediction.smooth(here, 1.1).x - here.x) < 20, 'what is shown stays behind');
  }
  const { compared, corrections, depth, error, errorField, wrongField } = prediction.stats();
  assert.deepEqual([compared, corrections, depth, error, errorField], [54, 1, behind, 50, 'x']);
  assert.equal(wrongField, 'x');
});

test('ticks that arrive unevenly are shown evenly', () => {
  const interpolation = new Interpolation(kit, { ticksPerSecond: 60 });
  assert.equal(interpolation.view(0), undefined);
  const arrivals = [];
  for (let tick = 0; tick < 600; tick += 3)
    arrivals.push([tick / 60 + ((tick * 7919) % 40) / 1000, tick]);
  arrivals.sort(([a], [b]) => a - b);
  let last = -Infinity;
  for (let frame = 0; frame < 600; frame++) {
    const now = frame / 60;
    while (arrivals.length > 0 && arrivals[0][0] <= now) {
      const [, tick] = arrivals.shift();
      interpolation.receive(tick, { x: tick }, now);
    }
    const view = interpolation.view(now);
    if (!view) continue;
    const [from, to] = view.entries;
    assert.deepEqual([from, to], [{ x: view.from }, { x: view.to }]);
    const x = from.x + (to.x - from.x) * view.fraction;
    assert.ok(x >= last, 'it goes back');
    if (frame > 120) assert.ok(x - last < 2.5, `it jumps by ${x - last} ticks`);
    last = x;
  }
  const { delaySeconds, received } = interpolation.stats();
  assert.equal(received, 200);
  assert.ok(delaySeconds > 0.04 && delaySeconds < 0.2, `it is ${delaySeconds} s behind`);
});

test('what is shown is there, whatever the ticks', () => {
  for (const step of [1, 601, 0x40000001, 0x7fffffff, -1, -601]) {
    const interpolation = new Interpolation(kit, { ticksPerSecond: 60, maxEntries: 8 });
    for (let i = 0; i < 200; i++) {
      const tick = (i * step) >>> 0;
      interpolation.receive(tick, { tick }, i / 60);
      const { from, to, entries } = interpolation.view(i / 60);
      assert.deepEqual(entries, [{ tick: from }, { tick: to }], `step ${step}, ${i}`);
    }
  }
});

test('a shot is judged by what its shooter saw', () => {
  const history = new History(kit, play, 'walker', { maxTicks: 32 });
  assert.equal(history.rewind({ from: 1, to: 2, fraction: 0 }), undefined);
  for (let tick = 100; tick < 150; tick++) {
    history.begin(tick);
    history.add(4, { x: tick, speed: 1 });
    if (tick >= 140) history.add(9, { x: -tick, speed: 0 });
    assert.throws(() => history.add(4, { x: 0, speed: 0 }), { code: 'DUPLICATE' });
  }
  const view = history.rewind({ from: 141, to: 143, fraction: 0.25 });
  assert.deepEqual(view, { from: 141, to: 143, fraction: 0.25 });
  assert.deepEqual(history.entities(141), [4, 9]);
  assert.deepEqual(history.find(view, 4), [
    { x: 141, speed: 1 },
    { x: 143, speed: 1 },
  ]);
  assert.equal(history.find(history.rewind({ from: 130, to: 131, fraction: 0 }), 9), undefined);
  assert.equal(history.rewind({ from: 3, to: 4, fraction: 0 }).from, 118, 'too far back');
});

test('what is between two states', () => {
  assert.equal(kit.lerp(2, 4, 0.25), 2.5);
  assert.ok(Math.abs(kit.lerpAngle(3, -3, 0.5) - Math.PI) < 1e-5);
  const [from, to] = [
    { value: 0, velocity: 1 },
    { value: 1, velocity: 1 },
  ];
  assert.equal(kit.hermite(from, to, 1, 0.5), 0.5);
  const half = kit.slerp([0, 0, 0, 1], [0, 0, 1, 0], 0.5);
  assert.ok(Math.abs(half[2] - Math.SQRT1_2) < 1e-3 && Math.abs(half[3] - Math.SQRT1_2) < 1e-3);
});

test('a client knows the time of the server, and runs ahead of it', () => {
  const clock = new ClockSync(kit, { ticksPerSecond: 60 });
  const echo = new ClockEcho(kit);
  assert.equal(clock.stats(0).synced, false);
  const [way, began] = [0.04, 1000];
  const tickTime = (now) => began + now * 60;
  const up = [];
  const down = [];
  const ticks = [];
  assert.equal(clock.receive(new Uint8Array(3), 0), 'malformed');
  for (let frame = 0; frame < 300; frame++) {
    const now = frame / 60;
    for (; up.length > 0 && up[0].due <= now; up.shift())
      assert.equal(echo.receive(up[0].data, up[0].due), 'ok');
    for (; down.length > 0 && down[0].due <= now; down.shift()) clock.receive(down[0].data, now);
    up.push({ due: now + way, data: clock.transmit(now) });
    down.push({ due: now + way, data: echo.transmit(tickTime(now), now) });
    clock.update(now);
    for (const event of clock.events()) ticks.push(event);
    if (frame < 120) continue;
    const wrong = Math.abs(clock.serverTime(now) - tickTime(now)) / 60;
    assert.ok(wrong < 0.02, `it is ${wrong} s off`);
    assert.ok(clock.clientTime(now) - tickTime(now) > way * 60, 'inputs come too late');
  }
  assert.equal(ticks.filter(({ type }) => type === 'restart').length, 1);
  const numbers = ticks.filter(({ type }) => type === 'tick').map(({ tick }) => tick);
  numbers.slice(1).forEach((tick, i) => assert.equal(tick, numbers[i] + 1));
  assert.equal(clock.stats(5).synced, true);
});

test('each tick of the server gets its input, through loss', () => {
  const sender = new InputSender(kit, play, 'press');
  const receiver = new InputReceiver(kit, play, 'press');
  const way = (tick) => ({ way: ((tick * tick) % 3) - 1 });
  const lead = 10;
  let own = 0;
  assert.equal(receiver.transmit(), undefined);
  assert.equal(receiver.receive(Uint8Array.of(1), 1), 'malformed');
  for (let tick = 1000; tick < 1300; tick++) {
    assert.deepEqual(sender.add(tick + lead, way(tick + lead)), way(tick + lead));
    const data = sender.transmit(400);
    if (tick % 3 > 0) assert.equal(receiver.receive(data, tick), 'ok');
    const taken = receiver.take(tick);
    if (tick < 1000 + lead) continue;
    assert.deepEqual(taken, { input: way(tick), own: true });
    own++;
    if (tick % 4 > 0) continue;
    const { acked, earlyTicks } = sender.receive(receiver.transmit());
    assert.ok(acked >= tick && acked <= tick + lead, `acked is ${acked} in tick ${tick}`);
    assert.ok(earlyTicks > 0 && earlyTicks <= lead, `the inputs are ${earlyTicks} ticks early`);
  }
  const { taken, starved } = receiver.stats();
  assert.deepEqual([taken, starved], [own, lead]);
  assert.equal(sender.receive(new Uint8Array(2)), undefined);
  assert.throws(() => sender.add(2000, { way: 2 }), /press\.way/);
});
