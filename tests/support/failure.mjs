import assert from 'node:assert/strict';

/** Resolves with the error with which a promise rejects. */
export const failure = (promise) =>
  promise.then(
    () => assert.fail('it did not reject'),
    (error) => error,
  );

/** Checks that a promise rejects with this code at this stage, and resolves with its error. */
export async function refusedAs(code, stage, promise) {
  const error = await failure(promise);
  assert.deepEqual({ code: error.code, stage: error.stage }, { code, stage }, String(error.stack));
  return error;
}
