// shrink.mjs WASM_METADCE WASM_OPT MODULE: removes what Emscripten exports for its own JavaScript, which these modules
// do without, and everything that only these exports reach, and optimises the rest for size once more.
import { execFileSync } from 'node:child_process';
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { order } from './order.mjs';

const EMSCRIPTENS = [
  '__errno_location',
  '__indirect_function_table',
  'stackAlloc',
  'stackRestore',
  'stackSave',
];
const FEATURES = ['--enable-bulk-memory', '--enable-nontrapping-float-to-int', '--enable-sign-ext'];
/** Inlining saves 120 bytes when gzipped: a function of so few instructions is no larger than a call of it. */
const INLINE = '--always-inline-max-function-size=4';
/** Rebuilding the control flow before the other passes saves 100 to 200 bytes. */
const REBUILD = ['--flatten', '--rereloop', '-Oz', '--converge', '-Oz'];
/** Dropping the hints of alignment, which engines ignore, saves 240 bytes: then more memory accesses look alike. */
const ALIKE = [
  '--dealign',
  '--simplify-locals',
  '-Oz',
  '--reorder-functions',
  '--simplify-locals',
  '-Oz',
];
/** Going through all of it again, and then merging locals that are copies, saves 150 bytes. */
const AGAIN = [...REBUILD, ...ALIKE, '--merge-locals', '-Oz'];
/** No code of ours relies on traps, so that loads whose values are not used may go: 60 bytes. */
const TRAPS = '--ignore-implicit-traps';
const PASSES = [TRAPS, INLINE, ...REBUILD, ...ALIKE, ...AGAIN];

/** Writes the module without a change, but for the last step of the passes, which text does not keep. */
const WRITE = ['-ol', '2', '-s', '2', '--generate-stack-ir', '--optimize-stack-ir'];

/** Returns a module's text with its functions in another order, which is given by their numbers. */
const sorted = (text, numbers) => {
  const end = text.lastIndexOf('\n)');
  const [head, ...functions] = text.slice(0, end).split(/\n(?= \(func )/);
  return [head, ...numbers.map((number) => functions[number])].join('\n') + text.slice(end);
};

const [metadce, opt, file] = process.argv.slice(2);
const module = new WebAssembly.Module(readFileSync(file));
const kept = WebAssembly.Module.exports(module)
  .map(({ name }) => name)
  .filter((name) => !EMSCRIPTENS.includes(name));
const graph = `${file}.graph.json`;
const text = `${file}.wat`;
const nodes = kept.map((name) => ({ name, export: name }));
writeFileSync(graph, JSON.stringify([{ name: 'outside', root: true, reaches: kept }, ...nodes]));
try {
  execFileSync(metadce, [...FEATURES, '--graph-file', graph, file, '-o', file]);
  execFileSync(opt, [...PASSES, ...FEATURES, file, '-S', '-o', text]);
  const write = () => execFileSync(opt, [...WRITE, ...FEATURES, text, '-o', file]);
  write();
  writeFileSync(text, sorted(readFileSync(text, 'utf8'), order(readFileSync(file))));
  write();
} finally {
  rmSync(graph);
  rmSync(text, { force: true });
}
