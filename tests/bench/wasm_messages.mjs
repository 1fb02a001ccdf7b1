// Measures what a message costs in Node, against the native core, both in turn and the median of the ratios; the bytes
// that it leaves to the garbage collector; and how long loading takes. In a round of 1/60 s two connections send each
// other one reliable message, which is packed, received and taken.
import { execFileSync, spawn } from 'node:child_process';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import {
  Connection,
  bool,
  compressedFloat,
  dist,
  f32,
  loadCore,
  message,
  schema,
  uint,
} from '../support/causeway.mjs';

const ROUNDS = 2000;
const TURNS = 41;
const GARBAGE_ROUNDS = 200;
const LOADS = 9;

// These types are those of tests/support/messages_native.c.
const types = schema(
  message('move', {
    id: uint(0, 1023),
    x: compressedFloat(-500, 500, 0.01),
    y: compressedFloat(-500, 500, 0.01),
    yaw: f32(),
    jumping: bool(),
  }),
);
const core = await loadCore();
const a = new Connection(core, types);
const b = new Connection(core, types);
let now = 0;

const send = (from, i) =>
  from.send(0, 'move', { id: 7, x: 12.5, y: -3, yaw: i, jumping: true }, now);

const carry = (from, to) => {
  let arrived = false;
  from.update(now);
  for (let datagram; (datagram = from.transmit(now));) to.receive(datagram, now);
  for (let event; (event = to.next());) arrived = event.message.value.id === 7;
  if (!arrived) throw new Error('a message has not arrived');
};

const inWasm = (rounds) => {
  const begin = performance.now();
  for (let i = 0; i < rounds; i++) {
    now += 1 / 60;
    send(a, i);
    send(b, i);
    carry(a, b);
    carry(b, a);
  }
  return (performance.now() - begin) / 1000;
};

const median = (values) => values.toSorted((x, y) => x - y)[values.length >> 1];

const native = spawn(join(process.env.CAUSEWAY_BUILD, 'tests/bench/messages_native'), {
  stdio: ['pipe', 'pipe', 'inherit'],
});
const answers = createInterface(native.stdout)[Symbol.asyncIterator]();
const natively = async () => {
  native.stdin.write(`${ROUNDS}\n`);
  const { value, done } = await answers.next();
  if (done) throw new Error('the native program ended');
  return Number(value);
};

// V8 compiles functions again after they have run for a while.
for (let i = 0; i < 20; i++) inWasm(ROUNDS);
await natively();
const turns = [];
for (let i = 0; i < TURNS; i++) turns.push([inWasm(ROUNDS), await natively()]);
native.stdin.end();
console.log(`message_ratio ${median(turns.map(([x, y]) => x / y)).toFixed(2)} ratio`);

// The rounds are few, so that hardly ever a collection comes between the two looks at the heap.
const garbage = Array.from({ length: TURNS }, () => {
  const before = process.memoryUsage();
  inWasm(GARBAGE_ROUNDS);
  const after = process.memoryUsage();
  return after.heapUsed + after.arrayBuffers - before.heapUsed - before.arrayBuffers;
});
console.log(`message_garbage_bytes ${Math.round(median(garbage) / (2 * GARBAGE_ROUNDS))} bytes`);

const load = `
  import { loadCore } from ${JSON.stringify(new URL('index.js', dist).href)};
  const begin = performance.now();
  await loadCore();
  console.log(performance.now() - begin);`;
const loads = Array.from({ length: LOADS }, () =>
  Number(execFileSync(process.execPath, ['--input-type=module', '-e', load])),
);
console.log(`load_core_ms ${median(loads).toFixed(1)} ms`);
