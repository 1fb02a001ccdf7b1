// shrink.mjs WASM_METADCE WASM_OPT MODULE: leaves out of a module what Emscripten exports for its own JavaScript, which
// is not there, and what only that reaches, and makes the rest smaller once more.
import { execFileSync } from 'node:child_process';
import { readFileSync, rmSync, writeFileSync } from 'node:fs';

const EMSCRIPTENS = [
  '__errno_location',
  '__indirect_function_table',
  'stackAlloc',
  'stackRestore',
  'stackSave',
];
const FEATURES = ['--enable-bulk-memory', '--enable-nontrapping-float-to-int', '--enable-sign-ext'];
/** Saves 120 bytes when gzipped: a function of so few instructions is no larger than a call of it. */
const INLINE = '--always-inline-max-function-size=4';
/** Saves 100 to 200 bytes: control flow is made anew from its parts before the rest. */
const REBUILD = ['--flatten', '--rereloop', '-Oz', '--converge', '-Oz'];
/** Saves 240 bytes: accesses without hints of their alignment, which engines ignore, look more alike. */
const ALIKE = [
  '--dealign',
  '--simplify-locals',
  '-Oz',
  '--reorder-functions',
  '--simplify-locals',
  '-Oz',
];
const PASSES = [INLINE, ...REBUILD, ...ALIKE];

const [metadce, opt, file] = process.argv.slice(2);
const module = new WebAssembly.Module(readFileSync(file));
const kept = WebAssembly.Module.exports(module)
  .map(({ name }) => name)
  .filter((name) => !EMSCRIPTENS.includes(name));
const graph = `${file}.graph.json`;
const nodes = kept.map((name) => ({ name, export: name }));
writeFileSync(graph, JSON.stringify([{ name: 'outside', root: true, reaches: kept }, ...nodes]));
try {
  execFileSync(metadce, [...FEATURES, '--graph-file', graph, file, '-o', file]);
  execFileSync(opt, [...PASSES, ...FEATURES, file, '-o', file]);
} finally {
  rmSync(graph);
}
