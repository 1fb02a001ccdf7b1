// Packets of a secure connection (netcode 1.02) in the shape that the relay checks; the rest of them is made up.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';

export const PROTOCOL = 0x1122334455667788n;
export const REQUEST_SIZE = 1078;
export const EXPIRES_AT = 1 + 13 + 8;

export const CHALLENGE = 2;
export const CHALLENGE_SIZE = 308;
export const RESPONSE = 3;
export const KEEP_ALIVE = 4;
export const PAYLOAD = 5;
export const DISCONNECT = 6;

/** Makes the connection request of a new token; the fields at these places are in both. */
export function request({ protocol = PROTOCOL } = {}) {
  const token = execFileSync(
    process.env.CAUSEWAY_TOKEN,
    // prettier-ignore
    ['--protocol-id', String(protocol), '--client-id', '1', '--server', '127.0.0.1:1', '--binary'],
    { env: { CAUSEWAY_KEY: randomBytes(32).toString('hex') } },
  );
  const [version, protocolId] = [token.subarray(0, 13), token.subarray(13, 21)];
  const rest = token.subarray(29, 29 + 8 + 24 + 1024);
  const datagram = Buffer.concat([Buffer.of(0), version, protocolId, rest]);
  assert.equal(datagram.length, REQUEST_SIZE);
  return datagram;
}

/** Makes a packet of this type. */
export const packet = (type, bodySize, { sequenceBytes = 1 } = {}) =>
  Buffer.concat([
    Buffer.of((sequenceBytes << 4) | type),
    randomBytes(sequenceBytes + bodySize + 16),
  ]);

const FORGED = Buffer.alloc(8, 0xff);

/** Makes a copy that the server of a hostile rig does not answer, as a real one does not answer a forgery. */
export const forged = (datagram) => Buffer.concat([datagram.subarray(0, -FORGED.length), FORGED]);
export const isForged = (datagram) => datagram.subarray(-FORGED.length).equals(FORGED);
