import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import test from 'node:test';
import { Headers } from '../../wasm/headers.mjs';

const read = (name) => readFileSync(new URL(`../../${name}`, import.meta.url), 'utf8');

test('the package has the version of the library', () => {
  const headers = new Headers();
  const parts = ['MAJOR', 'MINOR', 'PATCH'].map((part) => `CAUSEWAY_VERSION_${part}`);
  const version = parts.map((part) => headers.number(part)).join('.');
  assert.equal(JSON.parse(read('web/package.json')).version, version);
  assert.equal(JSON.parse(read('web/package-lock.json')).version, version);
});
