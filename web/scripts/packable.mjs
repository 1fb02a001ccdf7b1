// Before the package is packed: without what the build puts into dist it would be of no use.
import { existsSync } from 'node:fs';

const missing = ['index.js', 'causeway.wasm', 'causeway.cdx.json'].filter(
  (name) => !existsSync(new URL(`../dist/${name}`, import.meta.url)),
);
if (missing.length > 0) {
  console.error(`dist/${missing[0]} is not built yet; tests/support/setup release builds it`);
  process.exit(1);
}
