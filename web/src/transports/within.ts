import { Abort, reasonOf, throwIfAborted } from '../abort.js';

/** A timer takes at most this many milliseconds. A timer for more fires at once. */
const LONGEST = 2 ** 31 - 1;

/** The bounds of an attempt. */
interface Bounds {
  readonly signal?: AbortSignal | undefined;
  readonly timeoutSeconds?: number;
}

/**
 * Runs an attempt until the caller aborts it or its time is over, of which its own signal tells it. The result
 * does not count then.
 * @param late makes the error that says that the time was over
 */
export async function within<Result>(
  { signal, timeoutSeconds = 10 }: Bounds,
  late: (what: string) => unknown,
  attempt: (abort: Abort) => Promise<Result>,
): Promise<Result> {
  throwIfAborted(signal);
  const abort = new Abort(signal);
  const inner = abort.signal;
  const end = (): void => abort.abort(late(`did not connect in ${timeoutSeconds} s`));
  const timer = setTimeout(end, Math.min(timeoutSeconds * 1000, LONGEST));
  try {
    const aborted = new Promise<never>((_, reject) => inner.addEventListener('abort', reject));
    return await Promise.race([attempt(abort), aborted]);
  } catch (error) {
    throw inner.aborted ? reasonOf(inner) : error;
  } finally {
    clearTimeout(timer);
    abort.release();
  }
}
