// Connections of the package against the reference: the package reads what the reference sends, refuses what it
// refuses, and makes the same datagrams of the same messages. The test core.connection_vectors does the same in C.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { floatOf } from '../support/bodies.mjs';
import {
  Connection,
  Endpoint,
  bits,
  bool,
  bytes,
  f32,
  int,
  loadCore,
  message,
  reliable,
  schema,
  string,
  unreliable,
} from '../support/causeway.mjs';

const folder = process.env.CAUSEWAY_VECTORS;
const skip = folder ? false : 'CAUSEWAY_VECTORS names no folder';
const vectors = skip ? {} : JSON.parse(readFileSync(join(folder, 'yojimbo_packets.json'), 'utf8'));
const bytesOf = (hex) => new Uint8Array(Buffer.from(hex ?? '', 'hex'));
const core = await loadCore();

/** Declarations of the package for the operations, each with the value that it takes. */
const declared = {
  bits: ({ bits: count, value }) => [bits(count), Number(value)],
  bool: ({ value }) => [bool(), value],
  int: ({ min, max, value }) => [int(min, max), value],
  float: ({ hex }) => [f32(), floatOf(hex ?? '0')],
  string: ({ buffer_size: size, value }) => [string(size - 1), value],
};

/** Declares the fields of a body, with their values; an int and as many bytes are one field. */
const declare = (body) => {
  const fields = {};
  const value = {};
  body.forEach((op, i) => {
    if (op.op === 'bytes') return;
    const next = body[i + 1]?.op === 'bytes' ? body[i + 1] : undefined;
    const name = `field${i}`;
    [fields[name], value[name]] = next ? [bytes(op.max), bytesOf(next.hex)] : declared[op.op](op);
  });
  return { fields, value };
};

const typeName = (number) => `type${number}`;

const schemaOf = (name) =>
  schema(
    ...vectors.message_types[name].map(({ type, block, body }) =>
      message(typeName(type), declare(body).fields, { block }),
    ),
  );

const channelOf = (channel) =>
  (channel.type === 'reliable_ordered' ? reliable : unreliable)({
    maxMessagesPerPacket: channel.max_messages_per_packet,
    sendQueueSize: channel.message_send_queue_size,
    receiveQueueSize: channel.message_receive_queue_size,
    blocks: !channel.disable_blocks,
    maxBlockSize: channel.max_block_size,
    blockFragmentSize: channel.block_fragment_size,
    packetBudget: channel.packet_budget < 0 ? undefined : channel.packet_budget,
  });

const configOf = (name) => {
  const config = vectors.configs.find((entry) => entry.name === name);
  const endpoint = {
    maxPacketSize: config.reliable.max_packet_size,
    fragmentAbove: config.reliable.fragment_above,
    fragmentSize: config.reliable.fragment_size,
  };
  return {
    types: schemaOf(config.message_types),
    endpoint,
    connection: {
      channels: config.channels.map(channelOf),
      endpoint,
      maxMessages: 4096,
      maxReceivedMessages: 4096,
      maxPacketsPerUpdate: 1,
      idleIntervalSeconds: 0, // the reference sends a packet in every round
    },
  };
};

const take = (end) => {
  const taken = [];
  for (let event = end.next(); event; event = end.next()) taken.push(event.message);
  return taken;
};

/** Returns what the package gives for a message of the vectors. */
const expectedOf = ({ channel, type, body, block }) => ({
  type: typeName(type),
  value: declare(body).value,
  channel,
  ...(block !== undefined && { block: bytesOf(block) }),
});

const send = (from, { channel, type, body, block }, now) =>
  from.send(
    channel,
    typeName(type),
    declare(body).value,
    now,
    block === undefined ? undefined : bytesOf(block),
  );

/** Sends a round of datagrams, each of which is delivered. */
const round = (from, to, now) => {
  from.update(now);
  for (let out = from.transmit(now); out; out = from.transmit(now)) assert.ok(to.receive(out, now));
};

/** Plays as many rounds of messages back and forth as the scenario wants before it begins. */
const warmUp = ({ A, B }, { rounds = 0, messages_per_round: count } = {}, empty) => {
  for (let i = 0; i < rounds; i++) {
    for (let j = 0; j < count; j++) A.send(0, typeName(0), empty, i / 16);
    round(A, B, i / 16);
    assert.equal(take(B).length, count);
    round(B, A, i / 16);
  }
};

/** Opens two ends as the scenario wants them. */
const open = (scenario) => {
  const { types, connection } = configOf(scenario.config);
  const ends = {
    A: new Connection(core, types, connection),
    B: new Connection(core, types, connection),
  };
  warmUp(ends, scenario.warmup, { field0: 0 });
  return ends;
};

const close = ({ A, B }) => (A.destroy(), B.destroy());
const other = { A: 'B', B: 'A' };

/** Sorts messages by channel, as their order between channels is the receiver's own. */
const byChannel = (messages) => messages.toSorted((a, b) => a.channel - b.channel);
const expectReceived = (end, scenario, packet) =>
  assert.deepEqual(
    byChannel(take(end)),
    byChannel(packet.received.map((index) => expectedOf(scenario.messages[index]))),
  );

for (const scenario of vectors.scenarios ?? [])
  test(`${scenario.name}: every packet of the reference is read`, { skip }, () => {
    const ends = open(scenario);
    for (const packet of scenario.packets.filter(({ delivered }) => delivered)) {
      const to = ends[other[packet.from]];
      for (const datagram of packet.datagrams)
        assert.ok(to.receive(bytesOf(datagram), packet.time));
      expectReceived(to, scenario, packet);
    }
    for (const end of Object.values(ends)) assert.equal(end.stats().messagesInUse, 0);
    close(ends);
  });

// The scenarios in which ours sends otherwise, as in C: it never sends messages in fragments, and puts more into a
// small budget.
const chooseOtherwise = ['large_packets', 'budget_and_limit'];

for (const scenario of vectors.scenarios ?? [])
  test(`${scenario.name}: the same choice makes the same datagrams`, { skip }, (t) => {
    const ends = open(scenario);
    let same = 0;
    for (const packet of scenario.packets) {
      const from = ends[packet.from];
      for (const index of packet.queued) send(from, scenario.messages[index], packet.time);
      from.update(packet.time);
      const sent = Buffer.from(from.transmit(packet.time)).toString('hex');
      if (packet.datagrams.length > 1 || !sent.endsWith(packet.payload)) break;
      assert.equal(sent, packet.datagrams[0]);
      assert.equal(from.transmit(packet.time), undefined);
      same++;
      if (!packet.delivered) continue;
      const to = ends[other[packet.from]];
      assert.ok(to.receive(bytesOf(sent), packet.time));
      expectReceived(to, scenario, packet);
    }
    t.diagnostic(`${same} datagrams of ${scenario.packets.length} are the same`);
    assert.ok(same >= 8 || chooseOtherwise.includes(scenario.name));
    close(ends);
  });

/** Gives a fresh connection the payloads, and returns whether it took the last, and how many messages came. */
const give = ({ config: name, prior = [], payload }) => {
  const { types, endpoint, connection } = configOf(name);
  const end = new Connection(core, types, connection);
  const peer = new Endpoint(core, endpoint);
  const receive = (hex) => {
    let taken = false;
    peer.send(bytesOf(hex), 0);
    for (let out = peer.transmit(0); out; out = peer.transmit(0)) taken = end.receive(out, 0);
    return { taken, messages: take(end).length };
  };
  const before = prior.map(receive);
  const last = receive(payload);
  peer.destroy();
  end.destroy();
  assert.ok(before.every(({ taken }) => taken));
  const messages = before.reduce((sum, entry) => sum + entry.messages, 0);
  return { taken: last.taken, messages: messages + last.messages, ofLast: last.messages };
};

test('what the reference refuses is refused whole', { skip }, () => {
  for (const entry of vectors.refuse) {
    const { taken, ofLast } = give(entry);
    assert.deepEqual({ taken, ofLast }, { taken: false, ofLast: 0 }, entry.reason);
  }
  assert.ok(vectors.refuse.length > 40);
});

test('what the reference takes is taken', { skip }, () => {
  for (const entry of vectors.accept) {
    const { taken, messages } = give(entry);
    const expected = { taken: true, messages: entry.messages_received };
    assert.deepEqual({ taken, messages }, expected, entry.note);
  }
  assert.ok(vectors.accept.length > 10);
});
