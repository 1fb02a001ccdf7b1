/** The shortest and the longest pause after an attempt that fails, in milliseconds. */
const FIRST = 500;
const LONGEST = 8000;

const pauses = new Map<string, number>();

/**
 * Resolves when it is time to try this destination. A game goes on sending to a server that cannot be
 * reached, and each of its datagrams begins another attempt.
 */
export async function turn(destination: string): Promise<void> {
  const pause = pauses.get(destination);
  if (pause) await new Promise((resolve) => setTimeout(resolve, pause));
}

/** Notes that an attempt has failed, so that the next one waits. */
export function failed(destination: string): void {
  const pause = pauses.get(destination);
  pauses.set(destination, pause ? Math.min(2 * pause, LONGEST) : FIRST);
}

/** Notes that something has arrived from a destination, so that its next attempt needs no pause. */
export function succeeded(destination: string): void {
  pauses.delete(destination);
}
