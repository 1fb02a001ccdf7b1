// Checks before the package is packed that dist has the files of the build, without which the package would be of no
// use.
import { existsSync } from 'node:fs';
import { BUILT } from './built.mjs';

const missing = ['index.js', ...BUILT].filter(
  (name) => !existsSync(new URL(`../dist/${name}`, import.meta.url)),
);
if (missing.length > 0) {
  console.error(`dist/${missing[0]} is not built yet; tests/support/setup release builds it`);
  process.exit(1);
}
