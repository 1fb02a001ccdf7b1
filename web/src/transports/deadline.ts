import { Abort, reasonOf } from '../abort.js';

/** A timer takes at most this many milliseconds. A timer for more fires at once. */
const LONGEST = 2 ** 31 - 1;

/** Calls `over` after these seconds, which may be Infinity, unless the timer is cleared before. */
export const deadline = (seconds: number, over: () => void): ReturnType<typeof setTimeout> =>
  setTimeout(over, Math.min(seconds * 1000, LONGEST));

/**
 * Makes an attempt whose signal is aborted by the caller's or by the clock, whichever is first. The attempt then rejects
 * with the signal's reason.
 * @param over makes the reason of the clock
 */
export async function inTime<Of>(
  { signal, timeoutSeconds = 10 }: { signal?: AbortSignal; timeoutSeconds?: number },
  over: (seconds: number) => Error,
  attempt: (signal: AbortSignal) => Promise<Of>,
): Promise<Of> {
  const abort = new Abort(signal);
  const timer = deadline(timeoutSeconds, () => abort.abort(over(timeoutSeconds)));
  try {
    return await attempt(abort.signal);
  } catch (error) {
    throw abort.signal.aborted ? reasonOf(abort.signal) : error;
  } finally {
    clearTimeout(timer);
    abort.release();
  }
}
