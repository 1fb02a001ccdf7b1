// Attacks of a malicious player on the server of the package, and the figures by which that finds whom to kick.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { bytes, message, reliable, schema, string, unreliable } from '../support/causeway.mjs';
import { Rig } from '../support/node_server_rig.mjs';

const file = schema(message('file', { name: string(9) }, { block: true }));
const note = schema(message('note', { text: string(99), data: bytes(99) }));

/** Has a client send `count` datagrams at once, one message in each. */
function flood({ client }, { rig, count }) {
  const start = rig.now;
  for (let i = 0; i < count; i++) {
    client.send(1, 'note', { text: 'x', data: new Uint8Array(9) });
    client.client.update(start + i * 1e-6);
    client.transmit();
  }
}

test('a flood of one player is read in part, and the others play on', async () => {
  const rig = new Rig({ schema: note, clientDatagramsPerSecond: 100 });
  const flooder = await rig.joined();
  const other = await rig.joined();
  const texts = Array.from({ length: 10 }, (_, i) => `${i}`);
  for (const text of texts) {
    flood(flooder, { rig, count: 150 });
    other.client.send(0, 'note', { text, data: new Uint8Array(1) });
    rig.run(0.05);
  }
  rig.run(0.5);
  const refused = rig.server.client(flooder.slot).datagramsRefused;
  assert.ok(refused > 100, `${refused}`);
  assert.equal(rig.server.client(other.slot).datagramsRefused, 0);
  assert.equal(rig.server.stats().dropped.TOO_MANY_DATAGRAMS, refused);
  assert.deepEqual(
    rig.taken.get(other.slot).map(({ value }) => value.text),
    texts,
  );
});

test('there is no flood within the default rate, and none at all is an error', async () => {
  const rig = new Rig({ schema: note });
  const player = await rig.joined();
  flood(player, { rig, count: 150 });
  assert.equal(rig.server.client(player.slot).datagramsRefused, 0);
  assert.throws(() => new Rig({ schema: note, clientDatagramsPerSecond: 0 }), {
    code: 'CONFIG',
    field: 'clientDatagramsPerSecond',
  });
});

test('a player who acks nothing keeps no broadcast from the others', async () => {
  const channels = [reliable({ blocks: true }), unreliable()];
  const rig = new Rig({ schema: file, channels });
  const deaf = await rig.joined({ channels, timeoutSeconds: 60 });
  const other = await rig.joined({ channels, timeoutSeconds: 60 });
  deaf.client.client.receive = () => {};
  let refused = 0;
  for (let i = 0; i < 150; i++) {
    const block = new Uint8Array(500).fill(i);
    rig.server.broadcast(0, 'file', { name: `${i}` }, { now: rig.now, block });
    refused += Number(rig.server.broadcastRefused(deaf.slot));
    assert.equal(rig.server.broadcastRefused(other.slot), false);
    rig.run(0.1);
  }
  rig.run(0.5);
  assert.equal(refused, 150 - 32);
  assert.equal(other.client.received.length, 150);
});
