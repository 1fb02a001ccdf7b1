// The teardown of the tests themselves: a test that fails leaves nothing behind, and says what its relay has logged.
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { temporaryFolder } from '../support/fixture.mjs';
import { until } from '../support/patience.mjs';
import { isAlive, runProgram } from '../support/programs.mjs';

const support = (name) => new URL(`../support/${name}.mjs`, import.meta.url);

/** Runs a file that holds one test, and returns what it prints. */
async function runTest(t, ...lines) {
  const file = `${temporaryFolder(t)}/one.test.mjs`;
  const imports = [
    "import assert from 'node:assert/strict';",
    "import test from 'node:test';",
    `import { own } from '${support('fixture')}';`,
    `import { startRelay } from '${support('relay')}';`,
  ];
  writeFileSync(file, [...imports, ...lines].join('\n'));
  const cwd = fileURLToPath(new URL('.', import.meta.url));
  const env = { ...process.env, NODE_TEST_CONTEXT: '' };
  return runProgram(process.execPath, ['--test-force-exit', file], { cwd, env });
}

const relay = "const relay = await startRelay(t, { upstream: '127.0.0.1:9' });";

test('what a failed test has made is released, and its relay is heard', async (t) => {
  const { code, stdout } = await runTest(
    t,
    "test('it', async (t) => {",
    relay,
    'console.log(`pid ${relay.pid}.`);',
    "assert.fail('as it should');",
    '});',
  );
  assert.equal(code, 1);
  assert.match(stdout, /as it should/);
  assert.match(stdout, /the relay's log ends with[^]*listening on/);
  const pid = Number(/pid (\d+)\./.exec(stdout)[1]);
  await until('the end of the relay', () => !isAlive(pid));
});

test('a file that fails before its tests leaves no process behind', async (t) => {
  const { code, stdout, stderr } = await runTest(
    t,
    relay.replace('(t,', '(test,'),
    'console.log(`pid ${relay.pid}.`);',
    "throw new Error('as it should');",
  );
  assert.equal(code, 1);
  assert.match(stderr, /as it should/);
  const pid = Number(/pid (\d+)\./.exec(stdout)[1]);
  await until('the end of the relay', () => !isAlive(pid));
});

test('a file that crashes takes the programs with it that it has started', async (t) => {
  // The run ends only when nobody has its output open any more.
  const { stdout } = await runTest(
    t,
    relay.replace('(t,', '(test,'),
    'console.log(`pid ${relay.pid}.`);',
    "process.kill(process.pid, 'SIGSEGV');",
  );
  const pid = Number(/pid (\d+)\./.exec(stdout)[1]);
  await until('the end of the relay', () => !isAlive(pid));
});

test('all is released, the newest first, even if one release fails, and that fails the test', async (t) => {
  const { code, stdout } = await runTest(
    t,
    "test('it', (t) => {",
    "own(t, () => console.log('oldest'));",
    "own(t, () => assert.fail('in the middle'));",
    "own(t, () => console.log('newest'));",
    '});',
  );
  assert.equal(code, 1);
  assert.match(stdout, /newest\noldest\n/);
  assert.match(stdout, /in the middle/);
});
