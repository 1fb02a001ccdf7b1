// Waiting: each wait says what it waits for.
import { once } from 'node:events';

/**
 * The milliseconds that a test waits for what must happen. They only say when to give up on a machine that is busy with
 * other things as well: where all is well, no test waits so long.
 */
export const PATIENCE_MS = 240_000;

export const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

/** Rejects with a clear message when the promise takes too long; `what` may be a function that makes the message. */
export function patiently(promise, what) {
  let timer;
  const late = new Promise((_, reject) => {
    timer = setTimeout(() => {
      reject(new Error(`waited in vain for ${typeof what === 'function' ? what() : what}`));
    }, PATIENCE_MS);
  });
  return Promise.race([promise, late]).finally(() => clearTimeout(timer));
}

/** Calls `condition` until it returns, or resolves with, a true value, and resolves with that. */
export function until(what, condition, everyMs = 10) {
  let given = false;
  const ask = async () => {
    for (;;) {
      const value = await condition();
      if (value || given) return value;
      await sleep(everyMs);
    }
  };
  return patiently(ask(), what).finally(() => (given = true));
}

/** Resolves with the values of the next event of this type. */
export const next = (emitter, type) => patiently(once(emitter, type), `the event ${String(type)}`);
