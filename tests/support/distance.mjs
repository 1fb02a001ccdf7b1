// How soon a player at a distance is heard, which is reported: it depends on what else runs. In the test's own time
// tests/wasm/distance.test.mjs has the bounds.

/** Round trips in milliseconds. */
export const RTTS = [20, 60, 100, 180, 300];
/** How often each of them is tried. */
export const TIMES = 3;

/**
 * Round trips until what a client says first has come back: two for the WebSocket (of TCP and of HTTP), two for
 * the handshake with the server, one for itself.
 */
const TRIPS = 5;
/** What the ticks and the work of both ends may add, in milliseconds. */
const WORK = 100;

/** `answered` and `moved`: milliseconds until what was said first came back, and until WebRTC carried. */
export function reportSoon(t, rtt, { answered, moved }) {
  const goal = TRIPS * rtt + WORK;
  t.diagnostic(
    `answered after ${answered.toFixed(0)} ms, the goal is ${goal}; on WebRTC after ${moved.toFixed(0)} ms`,
  );
}
