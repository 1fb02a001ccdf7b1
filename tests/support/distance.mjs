// How soon a player at a distance is to be heard.
import assert from 'node:assert/strict';

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
export function assertSoon(t, rtt, { answered, moved }) {
  const trips = ((answered - WORK) / rtt).toFixed(1);
  t.diagnostic(
    `answered after ${answered.toFixed(0)} ms (${trips} RTT and ${WORK} ms), on WebRTC after ${moved.toFixed(0)} ms`,
  );
  assert.ok(answered < 3 * (TRIPS * rtt + WORK), `answered after ${answered} ms`);
}
