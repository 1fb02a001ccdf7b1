// Measures what a message costs in Node, against the native core: both in short turns, of which the fastest of each count,
// because whatever else the machine does only makes them slower. Also the bytes that it leaves to the garbage collector,
// and how long loading takes. In a round of 1/60 s two connections send each other one reliable message, which is packed,
// received and taken: a small one, and one of 400 bytes that is declared with conditions and counts. The value of the
// latter is made before, because making it is neither reading nor writing.
import { execFileSync, spawn } from 'node:child_process';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import {
  Connection,
  bits,
  bool,
  compressedFloat,
  dist,
  f32,
  fixedBytes,
  int,
  loadCore,
  message,
  relative,
  repeat,
  schema,
  struct,
  uint,
  when,
} from '../support/causeway.mjs';

const ROUNDS = 200;
const UPDATE_ROUNDS = 10;
const WARM_TURNS = 200;
const TURNS = 401;
const BODIES = 40;
const GARBAGE_TURNS = 41;
const GARBAGE_ROUNDS = 200;
const LOADS = 9;

// These types are those of tests/support/messages_native.c and tests/support/world_update.h.
const move = schema(
  message('move', {
    id: uint(0, 1023),
    x: compressedFloat(-500, 500, 0.01),
    y: compressedFloat(-500, 500, 0.01),
    yaw: f32(),
    jumping: bool(),
  }),
);
const small = int(-128, 127);
const body = struct({
  kind: bits(3),
  x: int(-4096, 4095),
  y: int(-4096, 4095),
  z: uint(0, 1000),
  yaw: bits(9),
  health: uint(0, 100),
  moves: bool(),
  velocity: when('moves', struct({ x: small, y: small, z: small })),
});
const update = schema(
  message('update', {
    tick: bits(32),
    first: bits(16),
    count: uint(1, BODIES),
    ids: repeat('count', relative('first'), BODIES),
    bodies: repeat('count', body, BODIES),
    key: fixedBytes(28),
  }),
);
const core = await loadCore();
let now = 0;

const moveOf = (i) => ({ id: 7, x: 12.5, y: -3, yaw: i, jumping: true });
const world = {
  tick: 123456,
  first: 100,
  count: BODIES,
  ids: Array.from({ length: BODIES }, (_, i) => 101 + 3 * i + (i % 2)),
  bodies: Array.from({ length: BODIES }, (_, i) => ({
    kind: i % 8,
    x: i * 100 - 2000,
    y: 7,
    z: i * 20,
    yaw: i * 9,
    health: i,
    moves: i % 2 !== 0,
    velocity: i % 2 === 0 ? undefined : { x: -i, y: i, z: 3 },
  })),
  key: new Uint8Array(28),
};

const carry = (from, to) => {
  let arrived = false;
  from.update(now);
  for (let datagram; (datagram = from.transmitView(now));) to.receive(datagram, now);
  for (let event; (event = to.next());) arrived = event.message !== undefined;
  if (!arrived) throw new Error('a message has not arrived');
};

/** Returns a function that carries messages for so many rounds and tells how many seconds that took. */
const carrier = (types, valueOf) => {
  const [{ name }] = types.types;
  const [a, b] = [new Connection(core, types), new Connection(core, types)];
  return (rounds) => {
    const begin = performance.now();
    for (let i = 0; i < rounds; i++) {
      now += 1 / 60;
      a.send(0, name, valueOf(i), now);
      b.send(0, name, valueOf(i), now);
      carry(a, b);
      carry(b, a);
    }
    return (performance.now() - begin) / 1000;
  };
};

const median = (values) => values.toSorted((x, y) => x - y)[values.length >> 1];

/** Measures a carrier against the native program, in turn. */
const ratioOf = async (name, inWasm, rounds) => {
  const native = spawn(join(process.env.CAUSEWAY_BUILD, 'tests/bench/messages_native'), [name], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const answers = createInterface(native.stdout)[Symbol.asyncIterator]();
  const natively = async () => {
    native.stdin.write(`${rounds}\n`);
    const { value, done } = await answers.next();
    if (done) throw new Error('the native program ended');
    return Number(value);
  };
  // V8 compiles functions again after they have run for a while.
  for (let i = 0; i < WARM_TURNS; i++) inWasm(rounds);
  await natively();
  const times = { wasm: [], native: [] };
  for (let i = 0; i < TURNS; i++) {
    times.wasm.push(inWasm(rounds));
    times.native.push(await natively());
  }
  native.stdin.end();
  return (Math.min(...times.wasm) / Math.min(...times.native)).toFixed(2);
};

const inWasm = carrier(move, moveOf);
console.log(`message_ratio ${await ratioOf('move', inWasm, ROUNDS)} ratio`);
console.log(
  `declared_ratio ${await ratioOf(
    'update',
    carrier(update, () => world),
    UPDATE_ROUNDS,
  )} ratio`,
);

// The rounds are few, so that hardly ever a collection comes between the two looks at the heap.
const garbage = Array.from({ length: GARBAGE_TURNS }, () => {
  const before = process.memoryUsage();
  inWasm(GARBAGE_ROUNDS);
  const after = process.memoryUsage();
  return after.heapUsed + after.arrayBuffers - before.heapUsed - before.arrayBuffers;
});
console.log(`message_garbage_bytes ${Math.round(median(garbage) / (2 * GARBAGE_ROUNDS))} bytes`);

const load = `
  import { loadCore } from ${JSON.stringify(new URL('core/index.js', dist).href)};
  const begin = performance.now();
  await loadCore();
  console.log(performance.now() - begin);`;
const loads = Array.from({ length: LOADS }, () =>
  Number(execFileSync(process.execPath, ['--input-type=module', '-e', load])),
);
console.log(`load_core_ms ${median(loads).toFixed(1)} ms`);
