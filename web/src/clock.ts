/** Returns the time of this machine's clock in seconds, which may stand while the machine sleeps. */
export const seconds = (): number => performance.now() / 1000;

/** Returns the time of the world's clock in seconds, which goes on. */
export const worldSeconds = (): number => Date.now() / 1000;
