import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import test from 'node:test';

const read = (name) => readFileSync(new URL(`../../${name}`, import.meta.url), 'utf8');

test('the package has the version of the library', () => {
  const header = read('core/include/causeway/version.h');
  const numbers = [...header.matchAll(/#define CAUSEWAY_VERSION_(?:MAJOR|MINOR|PATCH) (\d+)/g)];
  const version = numbers.map(([, number]) => number).join('.');
  assert.match(version, /^\d+\.\d+\.\d+$/);
  assert.equal(JSON.parse(read('web/package.json')).version, version);
  assert.equal(JSON.parse(read('web/package-lock.json')).version, version);
});
