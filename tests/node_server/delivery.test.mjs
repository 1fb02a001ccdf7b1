// The declaration of a message says how it goes: it makes the channels of a connection, and names the message's own.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  fingerprint,
  generateInsecureToken,
  loadCore,
  message,
  reliable,
  reliableUnordered,
  schema,
  uint,
  unreliable,
  unreliableSequenced,
} from '../support/causeway.mjs';
import { startDrivenHost } from '../support/driven_host.mjs';
import { own } from '../support/fixture.mjs';
import { connectUdp, listen, nextEvent } from '../support/node_server.mjs';

const core = await loadCore();
const n = { n: uint(0, 9) };
const first = [reliable(), unreliable()];
const unordered = { reliable: true, unordered: true };
const bulk = { reliable: true, block: true };

const derived = [
  ['nothing', [{}], first],
  ['a reliable message', [{}, { reliable: true }], first],
  ['an unordered message', [unordered, {}], [...first, reliableUnordered()]],
  ['a sequenced message', [{ sequenced: true }], [...first, unreliableSequenced()]],
  ['a block', [bulk], [...first, reliable({ blocks: true })]],
  ['an unreliable block', [{ block: true }], first],
  ['a numbered message', [{ channel: 7 }], first],
  [
    'all of them',
    [bulk, { sequenced: true }, unordered, unordered],
    [...first, reliableUnordered(), unreliableSequenced(), reliable({ blocks: true })],
  ],
];
for (const [what, options, channels] of derived)
  test(`${what}: both ends have the same channels`, () => {
    const types = schema(...options.map((each, i) => message(`m${i}`, n, each)));
    const plain = schema(...options.map(({ block }, i) => message(`m${i}`, n, { block })));
    assert.equal(fingerprint(core, types), fingerprint(core, plain, channels));
    assert.deepEqual(types.encoded, plain.encoded);
  });

const ways = schema(
  message('plain', n),
  message('sure', n, { reliable: true }),
  message('alone', n, unordered),
  message('newest', n, { sequenced: true }),
  message('file', n, bulk),
);
const numbers = { sure: 0, plain: 1, alone: 2, newest: 3, file: 4 };

test('a message takes the channel of its kind, from either end', async (t) => {
  const server = await listen({ protocolId: 1n, schema: ways, insecure: true });
  own(t, () => server.close());
  const joined = new Promise((resolve) =>
    server.addEventListener('connect', ({ client }) => resolve(client)),
  );
  const token = await generateInsecureToken({
    protocolId: 1n,
    clientId: 1n,
    servers: [server.address],
    schema: ways,
  });
  const client = await connectUdp({ token, schema: ways });
  own(t, () => client.disconnect());
  const player = await joined;
  const block = new Uint8Array(3000).fill(7);
  const senders = [
    [client, player, (...message) => client.send(...message)],
    [client, player, (...message) => client.track(...message)],
    [player, client, (...message) => player.send(...message)],
    [player, client, (...message) => player.track(...message)],
    [player, client, (...message) => server.broadcast(...message)],
    [player, client, (...message) => server.broadcastTo([player], ...message)],
  ];
  for (const [, to, send] of senders)
    for (const [type, channel] of Object.entries(numbers)) {
      const arrives = nextEvent(to, 'message');
      await send(type, { n: 5 }, ...(type === 'file' ? [block] : []));
      const { message: arrived } = await arrives;
      assert.deepEqual([arrived.type, arrived.value, arrived.channel], [type, { n: 5 }, channel]);
      if (type === 'file') assert.deepEqual(arrived.block, block);
    }
  client.send(1, 'sure', { n: 1 });
  const { message: numbered } = await nextEvent(player, 'message');
  assert.equal(numbered.channel, 1, 'a number goes before the declaration');
});

test("with channels of their own, the first of its kind is a message's, or the one that it names", (t) => {
  const types = schema(
    message('sure', n, { reliable: true }),
    message('file', n, bulk),
    message('third', n, { channel: 2 }),
    message('newest', n, { sequenced: true }),
    message('far', n, { channel: 9 }),
  );
  const channels = [unreliable(), reliable(), reliable({ blocks: true }), reliable()];
  const { host } = startDrivenHost(t, core, types, { channels });
  const sent = () => channels.map((_, channel) => host.channelStats(channel).sent);
  host.send('sure', { n: 1 });
  host.send('file', { n: 1 }, new Uint8Array(9));
  host.send('third', { n: 1 });
  host.send(3, 'sure', { n: 1 });
  assert.deepEqual(sent(), [0, 1, 2, 1]);
  assert.throws(() => host.send('newest', { n: 1 }), /newest: .*no channel of its kind.*`channel`/);
  assert.throws(() => host.send('far', { n: 1 }), /9 is no channel; there are 0 to 3/);
  assert.throws(() => host.send('shure', { n: 1 }), /the schema has no message shure/);
  assert.throws(() => host.send('0', 'sure', { n: 1 }), /the schema has no message 0/);
  assert.deepEqual(sent(), [0, 1, 2, 1]);
});

test('options that contradict each other are refused', () => {
  for (const [options, text] of [
    [{ reliable: true, sequenced: true }, /say: only unreliable messages are sequenced/],
    [{ unordered: true }, /say: only reliable messages are unordered/],
    [{ channel: 0, reliable: true }, /say: its `channel` says how it goes/],
  ])
    assert.throws(() => message('say', n, options), text);
});
