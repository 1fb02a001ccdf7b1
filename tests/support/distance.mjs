// Reports how soon a player at a distance is heard. It depends on what else the machine runs, so
// tests/wasm/distance.test.mjs has the bounds, in virtual time.

/** Round trips in milliseconds. */
export const RTTS = [20, 60, 100, 180, 300];
/** The number of times that each of them is tried. */
export const TIMES = 3;

/**
 * Round trips until what a client says first has come back: two for the WebSocket (one for TCP, one for HTTP), two for
 * the handshake with the server, one for the message.
 */
const TRIPS = 5;
/** The milliseconds that the ticks and the work of both ends may add. */
const WORK = 100;

/** Reports the milliseconds until the first message came back (`answered`) and until WebRTC carried (`moved`). */
export function reportSoon(t, rtt, { answered, moved }) {
  const goal = TRIPS * rtt + WORK;
  t.diagnostic(
    `answered after ${answered.toFixed(0)} ms, the goal is ${goal}; on WebRTC after ${moved.toFixed(0)} ms`,
  );
}
