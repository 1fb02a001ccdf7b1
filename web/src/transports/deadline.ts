/** The most milliseconds that a timer takes; one for more is over at once. */
const LONGEST = 2 ** 31 - 1;

/** Calls `over` in so many seconds, which may be Infinity, unless the timer is cleared before. */
export const deadline = (seconds: number, over: () => void): ReturnType<typeof setTimeout> =>
  setTimeout(over, Math.min(seconds * 1000, LONGEST));
