/** Returns the time of this machine's clock in seconds. It may stop while the machine sleeps. */
export const seconds = (): number => performance.now() / 1000;

/** Returns Unix time in seconds. It goes on while the machine sleeps. */
export const worldSeconds = (): number => Date.now() / 1000;
