// The traffic between a server and its clients, in virtual time: messages of every kind, blocks, snapshots.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { bytes, int, message, reliable, schema, string, unreliable } from '../support/causeway.mjs';
import {
  InputReceiver,
  InputSender,
  SnapshotClient,
  SnapshotServer,
  loadGame,
} from '../../web/dist/game/index.js';
import { interop } from '../support/interop_schema.mjs';
import { Rig } from '../support/node_server_rig.mjs';
import { randomFrom } from '../support/random.mjs';

const said = (text) => ({ player: 0, text });

const file = schema(message('file', { name: string(9) }, { block: true }));
const channels = [reliable({ blocks: true }), unreliable()];

test('messages of every kind of field arrive as they were sent', async () => {
  const rig = new Rig({ schema: interop, channels });
  const { client, slot } = await rig.joined({ channels });
  const point = (x) => ({ known: true, x, name: 'ab' });
  const leg = { from: point(1.5), stops: [point(2), point(3)], to: point(4), kind: 5 };
  const journey = { start: point(-1), legs: [leg], far: { away: [{ by: 7n }] } };
  client.send(0, 'journey', journey);
  rig.connections.get(slot).send(0, 'journey', journey, rig.now);
  rig.run(0.5);
  assert.deepEqual(rig.taken.get(slot), [{ type: 'journey', value: journey, channel: 0 }]);
  assert.deepEqual(client.received, [{ type: 'journey', value: journey, channel: 0 }]);
});

test('blocks go both ways over a lossy path, also to all', async () => {
  const rig = new Rig({ schema: file, channels });
  const one = await rig.joined({ channels });
  const other = await rig.joined({ channels });
  const random = randomFrom(3);
  rig.lose = () => random() < 0.1;
  const block = new Uint8Array(50_000).map((_, i) => i * 7);
  one.client.send(0, 'file', { name: 'up' }, block);
  rig.server.broadcast(0, 'file', { name: 'down' }, { now: rig.now, block });
  const done = () =>
    rig.taken.get(one.slot)?.length && rig.clients.every(({ received }) => received.length);
  rig.run(30, done);
  assert.deepEqual(rig.taken.get(one.slot)[0].block, block);
  for (const { client } of [one, other]) assert.deepEqual(client.received[0].block, block);
  assert.equal(rig.server.stats().clients, 2);
});

test('a client without room refuses a broadcast, and all others get it', async () => {
  const rig = new Rig();
  const [slow, quick] = [await rig.joined(), await rig.joined()];
  const connection = rig.connections.get(slow.slot);
  while (connection.send(0, 'said', said('x'), rig.now) > 0);
  rig.server.broadcast(0, 'said', said('to all'), { now: rig.now });
  assert.deepEqual(
    [slow, quick].map(({ slot }) => rig.server.broadcastRefused(slot)),
    [true, false],
  );
  rig.run(0.5);
  assert.deepEqual(
    quick.client.received.map(({ value }) => value.text),
    ['to all'],
  );
  assert.equal(rig.server.stats().broadcastsRefused, 1);
});

test('a value that does not fit is refused by name, and nothing is sent', async () => {
  const rig = new Rig();
  const { client } = await rig.joined();
  const options = { now: rig.now };
  for (let i = 0; i < 200; i++) {
    assert.throws(() => rig.server.broadcast(0, 'said', { player: 99, text: '' }, options), {
      name: 'RangeError',
      message: /^said\.player: 99/,
    });
    assert.throws(() => rig.server.broadcast(2, 'said', said(''), options), /2 is no channel/);
    assert.throws(() => rig.server.broadcast(0, 'sang', said(''), options), /no message sang/);
  }
  rig.server.broadcast(0, 'said', said('fits'), options);
  rig.run(0.5);
  assert.equal(client.received.length, 1);
});

test('who takes nothing holds back only that client, and no memory grows', async () => {
  const rig = new Rig();
  const [lazy, busy] = [await rig.joined(), await rig.joined()];
  rig.lazy.add(lazy.slot);
  const { memory } = rig.server.core;
  const size = memory.bytes.length;
  let sent = 0;
  for (let i = 0; i < 600; i++) {
    for (const { client } of [lazy, busy])
      if (client.client.channelStats(0).room > 0) {
        client.send(0, 'say', { text: `${i}` });
        if (client === lazy.client) sent++;
      }
    rig.run(1 / 60);
  }
  assert.equal(memory.bytes.length, size);
  rig.run(1);
  assert.equal(rig.texts(busy.slot).length, 600);
  assert.ok(sent < 600, 'nobody was held back');
  rig.lazy.delete(lazy.slot);
  rig.run(3);
  assert.equal(rig.texts(lazy.slot).length, sent);
});

const state = schema(message('walker', { x: int(-1000, 1000), y: int(-1000, 1000) }));
const input = schema(message('press', { right: int(-1, 1) }));
const wire = schema(
  message('up', { inputs: bytes(400) }),
  message('down', { snapshot: bytes(900) }),
);

test('the game kit plays: inputs go up, snapshots go down, over a lossy path', async () => {
  const kit = await loadGame();
  const rig = new Rig({ schema: wire });
  const { client, slot } = await rig.joined();
  const random = randomFrom(7);
  rig.lose = () => random() < 0.1;
  const world = new SnapshotServer(kit, state, { maxEntities: 16 });
  const view = new SnapshotClient(kit, state, { maxEntities: 16 });
  const sender = new InputSender(kit, input, 'press');
  const receiver = new InputReceiver(kit, input, 'press');
  world.join(slot);
  let x = 0;
  const numbers = new Map();
  for (let tick = 1; tick <= 200; tick++) {
    sender.add(tick + 10, { right: tick <= 100 ? 1 : 0 });
    const inputs = sender.transmit(400);
    if (inputs) client.send(1, 'up', { inputs });
    rig.run(1 / 60);
    for (const taken of rig.taken.get(slot)?.splice(0) ?? [])
      if (taken.type === 'up') receiver.receive(taken.value.inputs, tick);
      else if (taken.type === 'acked') world.acked(slot, numbers.get(taken.receipt));
    x += receiver.take(tick).input.right;
    world.set(3, 'walker', { x, y: tick });
    world.tick(tick);
    const { number, data } = world.transmit(slot);
    numbers.set(tick, number);
    rig.connections.get(slot).send(1, 'down', { snapshot: data }, rig.now, undefined, tick);
    for (const { value } of client.received.splice(0)) view.receive(value.snapshot);
  }
  rig.lose = () => false;
  rig.run(0.2);
  for (const { value } of client.received.splice(0)) view.receive(value.snapshot);
  assert.deepEqual(view.state(3), { type: 'walker', value: { x, y: 200 } });
  assert.ok(x > 90, `${x} of 100 presses counted`);
});
