// Helpers of the tests of sessions with several links.
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import * as rtc from '../support/rtc.mjs';
import { sleep } from '../support/patience.mjs';
import { workers } from '../support/relay.mjs';
import { connect } from '../support/websocket.mjs';

export const PROTOCOL = 'causeway.v1';

/** Makes a key as a page does. */
export const newKey = () => randomBytes(16).toString('base64url');

/** Returns the subprotocols that name the session with this key. */
export const protocolsOf = (key) => [PROTOCOL, `causeway.session.${key}`];

/** Opens a WebSocket for the session with this key. */
export const connectAs = (t, relay, key, options = {}) =>
  connect(t, relay, { protocols: protocolsOf(key), ...options });

/** Returns an offer that names the session with this key. */
export const withKey = (sdp, key) => `${sdp}a=x-causeway-session:${key}\r\n`;

/** Opens a data channel for the session with this key; the options are those of rtc.connect, and its `origin`. */
export const openRtcAs = (t, relay, key, { origin, ...options } = {}) =>
  rtc.open(t, `http://127.0.0.1:${relay.port}/`, {
    ...options,
    editOffer: (sdp) => withKey(sdp, key),
    headers: origin && { origin },
  });

/**
 * Sends a text over a WebSocket and returns the port from which the server got it, when its echo has come. With several
 * workers it may ask again: until the worker that had the session hears that it has moved, that worker too reads what
 * the server sends.
 */
export async function ask(server, link, text) {
  const before = link.messages.length;
  link.send(Buffer.from(text));
  for (let i = 1; workers > 1 && link.messages.length === before && i < 3000; i++) {
    await sleep(10);
    if (i % 100 === 0) link.send(Buffer.from(text));
  }
  await link.received(before + 1);
  assert.equal(link.messages[before].data.toString(), text);
  return server.received.findLast(({ data }) => data.toString() === text).port;
}
