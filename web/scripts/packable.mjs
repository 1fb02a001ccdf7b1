// Checks before the package is packed that dist has the files of the build, without which the package would be of no
// use, and before it is published that it names its repository, which the proof of its origin is checked against.
import { existsSync, readFileSync } from 'node:fs';
import { BUILT } from './built.mjs';

const { npm_command: command, npm_config_dry_run: dry } = process.env;
const missing = ['index.js', ...BUILT].filter(
  (name) => !existsSync(new URL(`../dist/${name}`, import.meta.url)),
);
if (missing.length > 0) {
  console.error(`dist/${missing[0]} is not built yet; tests/support/setup release builds it`);
  process.exit(1);
}
const { repository } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url)));
if (command === 'publish' && !dry && !repository?.url) {
  console.error(
    'package.json names no repository: npm pkg set repository.type=git repository.directory=web ' +
      'repository.url=git+https://...',
  );
  process.exit(1);
}
