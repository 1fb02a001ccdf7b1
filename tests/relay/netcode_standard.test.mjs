// The second implementation of netcode is itself compared with the vectors of the reference.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import test from 'node:test';
import {
  Replay,
  Type,
  openChallenge,
  openPacket,
  readRequest,
  readToken,
  requestPacket,
  sealChallenge,
  sealPacket,
  u64,
} from '../support/netcode_standard.mjs';

const folder = process.env.CAUSEWAY_VECTORS;
const skip = folder ? false : 'CAUSEWAY_VECTORS names no folder';
const vectors = folder && JSON.parse(readFileSync(`${folder}/netcode.json`, 'utf8'));

const hex = (digits) => Buffer.from(digits, 'hex');
// The standard lets a server take a denied packet, which means nothing; the reference does not.
const ignoredBy = {
  client: [Type.request, Type.response],
  server: [Type.request, Type.denied, Type.challenge],
};
const opened = ({ packet, protocol_id, key, side, received_before = [] }) => {
  const replay = new Replay();
  for (const sequence of received_before) replay.add(BigInt(sequence));
  return openPacket(hex(packet), {
    protocolId: BigInt(protocol_id),
    key: hex(key),
    ignored: ignoredBy[side],
    replay,
  });
};

test('packets', { skip }, () => {
  assert.ok(vectors.packets.length > 0);
  for (const { protocol_id, key, type, sequence, body, packet } of vectors.packets) {
    const fields = { protocolId: BigInt(protocol_id), key: hex(key), type };
    const made = sealPacket({ ...fields, sequence: BigInt(sequence), body: hex(body) });
    assert.equal(made.toString('hex'), packet);
  }
});

test('tokens and requests', { skip }, () => {
  assert.ok(vectors.connect_tokens.length > 0);
  for (const vector of vectors.connect_tokens) {
    const token = readToken(hex(vector.connect_token));
    assert.equal(requestPacket(token).toString('hex'), vector.request_packet);
    const request = hex(vector.request_packet);
    const hidden = readRequest(request, BigInt(vector.protocol_id), hex(vector.private_key), 0);
    assert.equal(hidden.clientId, BigInt(vector.client_id));
    assert.equal(hidden.userData.toString('hex'), vector.user_data);
    const ports = (list) => list.map(({ port }) => port);
    const own = (list) => list.map((address) => Number(/\d+$/.exec(address)[0]));
    assert.deepEqual(own(token.addresses), ports(vector.public_server_addresses));
    assert.deepEqual(own(hidden.addresses), ports(vector.private_server_addresses));
  }
});

test('challenges', { skip }, () => {
  assert.ok(vectors.challenge_tokens.length > 0);
  for (const { client_id, user_data, sequence, key, encrypted } of vectors.challenge_tokens) {
    const fields = { clientId: BigInt(client_id), userData: hex(user_data) };
    const body = Buffer.concat([u64(sequence), hex(encrypted)]);
    assert.equal(sealChallenge(hex(key), BigInt(sequence), fields).toString('hex'), encrypted);
    assert.deepEqual(openChallenge(hex(key), body), fields);
  }
});

test('what is to be refused', { skip }, () => {
  assert.ok(vectors.invalid_tokens.length > 0 && vectors.ignored.length > 0);
  for (const { token, reason } of vectors.invalid_tokens) {
    assert.throws(() => readToken(hex(token)), undefined, reason);
  }
  for (const vector of vectors.ignored) {
    assert.throws(
      () => {
        if (vector.key) return opened(vector);
        const { packet, protocol_id, private_key, current_timestamp, server_address } = vector;
        const request = hex(packet);
        // prettier-ignore
        const { addresses } = readRequest(
          request, BigInt(protocol_id), hex(private_key), Number(current_timestamp));
        if (!addresses.includes(server_address.text)) throw new Error('another server');
      },
      undefined,
      `${vector.rule} ${vector.side}: ${vector.reason}`,
    );
  }
});
