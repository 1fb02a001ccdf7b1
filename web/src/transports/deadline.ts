/** A timer takes at most this many milliseconds. A timer for more fires at once. */
const LONGEST = 2 ** 31 - 1;

/** Calls `over` after these seconds, which may be Infinity, unless the timer is cleared before. */
export const deadline = (seconds: number, over: () => void): ReturnType<typeof setTimeout> =>
  setTimeout(over, Math.min(seconds * 1000, LONGEST));
