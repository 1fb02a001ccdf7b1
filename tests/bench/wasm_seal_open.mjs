// Measures what a packet costs to seal and open in WebAssembly, in Node, against the native core: both in turn, and the
// median of the ratios.
import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';

const build = process.env.CAUSEWAY_BUILD;
const ROUNDS = 2000;
const TURNS = 101;

const module = new WebAssembly.Module(readFileSync(join(build, 'wasm/wasm/seal_open.wasm')));
const imports = { causeway: { random: () => {} } };
const { exports } = new WebAssembly.Instance(module, imports);
exports._initialize();

const native = spawn(join(build, 'tests/bench/seal_open_native'), {
  stdio: ['pipe', 'pipe', 'inherit'],
});
const answers = createInterface(native.stdout)[Symbol.asyncIterator]();

const inWasm = (size) => {
  const begin = performance.now();
  if (!exports.seal_open(size, ROUNDS)) throw new Error('a packet did not come out as it went in');
  return (performance.now() - begin) / 1000;
};

const natively = async (size) => {
  native.stdin.write(`${size} ${ROUNDS}\n`);
  const { value, done } = await answers.next();
  if (done) throw new Error('the native program ended');
  return Number(value);
};

const median = (values) => values.toSorted((a, b) => a - b)[values.length >> 1];

for (const size of [64, 1200]) {
  // V8 compiles functions again after they have run for a while.
  for (let i = 0; i < 20; i++) inWasm(size);
  await natively(size);
  const turns = [];
  for (let i = 0; i < TURNS; i++) turns.push([inWasm(size), await natively(size)]);
  console.log(`seal_open_${size}_ratio ${median(turns.map(([a, b]) => a / b)).toFixed(3)} ratio`);
}
native.stdin.end();
