import { DATAGRAM_MAX } from '../../generated.js';
import { Bucket } from './bucket.js';

/** A datagram of the greatest size takes this many bytes as a WebSocket's frame. */
const FRAME_MAX = DATAGRAM_MAX + 8;

/** The frames and bytes that a session may still send. */
export interface Allowance {
  readonly frames: Bucket;
  readonly bytes: Bucket;
}

/**
 * Returns what a stranger may send, which is enough for a handshake: 20 frames, then 2 a second. The bytes are those of
 * the requests that a client repeats ten times a second while a server does not answer. More is not read at all.
 */
export const strangersAllowance = (): Allowance => ({
  frames: new Bucket(2, 20),
  bytes: new Bucket(10 * FRAME_MAX, 40 * FRAME_MAX),
});

/** Returns what a client of the server may send: this many datagrams a second, a quarter of them at once. */
export const clientsAllowance = (datagramsPerSecond: number): Allowance => {
  const burst = Math.max(1, datagramsPerSecond / 4);
  return {
    frames: new Bucket(datagramsPerSecond, burst),
    bytes: new Bucket(datagramsPerSecond * FRAME_MAX, burst * FRAME_MAX),
  };
};
