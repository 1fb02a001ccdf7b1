// A test's objects are released when it ends, also when an assertion has failed.
import { executionAsyncId } from 'node:async_hooks';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before } from 'node:test';

// When a file fails before its tests, node:test would wait for what the file has started.
process.on('uncaughtExceptionMonitor', (error, origin) => {
  if (origin !== 'unhandledRejection' || executionAsyncId() !== 0) return;
  console.error(error);
  process.exit(1);
});

/** The releases of each owner, the oldest first. */
const owners = new WeakMap();

/** Calls all of them, the newest first, even if one fails: node:test itself would leave out those behind it. */
async function releaseAll(releases) {
  const errors = [];
  for (const release of releases.splice(0).reverse()) {
    try {
      await release();
    } catch (error) {
      errors.push(error);
    }
  }
  if (errors.length > 0) throw errors.length === 1 ? errors[0] : new AggregateError(errors);
}

function addOwner(owner, whenEnded) {
  const releases = [];
  owners.set(owner, releases);
  whenEnded(() => releaseAll(releases));
}

/**
 * Has something released when the test `t` ends, or when the file does, if `t` is `test` of node:test. Nothing is
 * released for `null`, which a program that is no test gives.
 */
export function own(t, release) {
  if (!t) return;
  if (!owners.has(t)) addOwner(t, (end) => t.after(end));
  owners.get(t).push(release);
}

/**
 * Makes what the tests of a file or of a block share: `make(t)` is called before the first of them, and what `t` owns is
 * released after the last. Returns a function that returns what was made.
 */
export function share(make) {
  const owner = {};
  let made;
  addOwner(owner, after);
  before(async () => {
    made = await make(owner);
  });
  return () => made;
}

/** Makes an empty folder. */
export function temporaryFolder(t) {
  const folder = mkdtempSync(join(tmpdir(), 'causeway-'));
  own(t, () => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/** Calls `action` again and again until the test ends or the timer is cleared that is returned. */
export function repeat(t, action, everyMs) {
  const timer = setInterval(action, everyMs);
  own(t, () => clearInterval(timer));
  return timer;
}
