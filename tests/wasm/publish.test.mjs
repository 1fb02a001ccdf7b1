// The package is ready to be published: npm has nothing to say against it, and its origin can be proved.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { cpSync, existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { temporaryFolder } from '../support/fixture.mjs';
import { web } from '../support/packed.mjs';

const read = (folder) => JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
/** Nothing is ever published by a test: no registry is asked, and this is none. */
const NOWHERE = ['--offline', '--registry', 'http://127.0.0.1:9/'];
const npm = (t, folder, ...args) => {
  const { status, stdout, stderr } = spawnSync('npm', [...args, ...NOWHERE], {
    cwd: folder,
    encoding: 'utf8',
    env: { ...process.env, npm_config_cache: temporaryFolder(t) },
  });
  return { status, stdout, stderr };
};

test('npm publish has nothing to say against it', (t) => {
  const { status, stderr } = npm(t, web, 'publish', '--dry-run');
  assert.equal(status, 0, stderr);
  const warnings = stderr.match(/^npm (warn|error).*/gm) ?? [];
  assert.deepEqual(
    warnings.filter((line) => !/requires you to be logged in/.test(line)),
    [],
  );
});

test('what it says of itself is true', () => {
  const { engines, files, license, publishConfig, sideEffects, type } = read(web);
  assert.equal(license, 'MIT');
  assert.match(readFileSync(join(web, 'LICENSE'), 'utf8'), /^MIT License/);
  assert.equal(type, 'module');
  assert.deepEqual(publishConfig, { access: 'public', provenance: true });
  assert.match(engines.node, /^>=\d+\.\d+$/);
  for (const file of [...files, ...sideEffects]) assert.ok(existsSync(join(web, file)), file);
});

test('without the repository that proves its origin it is not published', (t) => {
  const copy = temporaryFolder(t);
  for (const file of ['package.json', 'scripts', 'dist'])
    cpSync(join(web, file), join(copy, file), { recursive: true });
  const named = read(copy);
  delete named.repository;
  writeFileSync(join(copy, 'package.json'), JSON.stringify(named));
  const { status, stderr } = npm(t, copy, 'publish');
  assert.notEqual(status, 0);
  assert.match(stderr, /package\.json names no repository: npm pkg set/);
  assert.equal(npm(t, copy, 'pack').status, 0, 'packing needs none');

  const repository = { type: 'git', url: 'git+https://example.org/a.git', directory: 'web' };
  writeFileSync(join(copy, 'package.json'), JSON.stringify({ ...named, repository }));
  assert.doesNotMatch(npm(t, copy, 'publish').stderr, /names no repository/);
});
