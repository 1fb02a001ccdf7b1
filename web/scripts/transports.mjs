// Writes the script that goes before the own script of programs with core/emscripten/causeway_sockets.js: node
// transports.mjs OUT. It needs nothing of the package's build, so that the build with Emscripten need not wait for
// that.
import { execFileSync } from 'node:child_process';
import { resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

const at = (path) => fileURLToPath(new URL(path, import.meta.url));
const outfile = resolve(process.argv[2]);
const generated = `${outfile}.generated.ts`;
execFileSync(process.execPath, [at('generate.mjs'), generated, at('../..')]);

await build({
  entryPoints: [at('../src/emscripten/library.ts')],
  outfile,
  bundle: true,
  minify: true,
  format: 'iife',
  target: ['chrome94', 'firefox93', 'safari15.4'],
  banner: { js: '/* causeway-net, MIT: the transports of causeway_sockets.js */' },
  logLevel: 'warning',
  plugins: [
    {
      name: 'generated',
      setup: ({ onResolve }) =>
        onResolve({ filter: /\/generated\.js$/ }, () => ({ path: generated })),
    },
  ],
});
