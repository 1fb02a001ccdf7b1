/**
 * The milliseconds that a test waits for what must happen. They only say when to give up on a machine that is busy with
 * other things as well: where all is well, no test waits so long.
 */
export const PATIENCE_MS = 240_000;
