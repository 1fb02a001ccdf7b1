// Messages that are longer than a packet: send takes them like any other, and they arrive whole.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  Connection,
  bytes,
  loadCore,
  message,
  reliable,
  reliableUnordered,
  schema,
  uint,
  unreliable,
  unreliableSequenced,
  yojimboDefaults,
} from '../support/causeway.mjs';

const core = await loadCore();
const types = schema(
  message('map', { number: uint(0, 1000), tiles: bytes(20_000) }),
  message('file', { number: uint(0, 1000) }, { block: true }),
);
const tilesOf = (number, size) => Uint8Array.from({ length: size }, (_, i) => number * 31 + i * 7);

/** Sends messages from one connection to another, and returns those that arrived. */
const exchange = (config, messages) => {
  const [from, to] = [1, 2].map(() => new Connection(core, types, { maxMessages: 32, ...config }));
  const arrived = [];
  for (const [name, value, block] of messages) from.send(0, name, value, 0, block);
  for (let tick = 1; tick < 200 && arrived.length < messages.length; tick++) {
    for (const [near, far] of [
      [from, to],
      [to, from],
    ]) {
      near.update(tick / 60);
      for (let out = near.transmit(tick / 60); out; out = near.transmit(tick / 60))
        far.receive(out, tick / 60);
    }
    for (let event = to.next(); event; event = to.next()) arrived.push(event.message);
  }
  return arrived;
};

const sizes = [0, 900, 1_030, 1_100, 2_048, 4_096, 8_192, 20_000];
const maps = sizes.map((size, number) => ['map', { number, tiles: tilesOf(number, size) }]);

for (const kind of [reliable, unreliable, unreliableSequenced, reliableUnordered])
  test(`messages of every size arrive on a channel of the kind ${kind().kind}`, () => {
    for (const one of kind === reliable ? [maps] : maps.map((map) => [map])) {
      const arrived = exchange({ channels: [kind()] }, one);
      assert.deepEqual(
        arrived.map(({ type, value }) => [type, value]),
        one,
      );
    }
  });

test('a block goes in the same way where a channel says how long a message may be', () => {
  const block = tilesOf(3, 100_000);
  const channels = [reliable({ maxMessageSize: 110_000 })];
  const [file] = exchange({ channels }, [['file', { number: 3 }, block]]);
  assert.deepEqual(file.block, block);
});

test('for a server without large messages, a packet takes a message of up to 8 KB', () => {
  const map = ['map', { number: 1, tiles: tilesOf(1, 8_000) }];
  const [arrived] = exchange(yojimboDefaults(), [map]);
  assert.deepEqual(arrived.value, map[1]);
  assert.throws(
    () => exchange(yojimboDefaults(), [['map', { number: 1, tiles: tilesOf(1, 9_000) }]]),
    { code: 'MESSAGE_TOO_LARGE' },
  );
});
