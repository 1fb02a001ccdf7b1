// A host whose queues fill: it says so before `send` throws, and when there is room again.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { loadCore, message, reliable, schema, uint, unreliable } from '../support/causeway.mjs';
import { until } from '../support/patience.mjs';
import { startDrivenHost } from '../support/driven_host.mjs';

const core = await loadCore();
const types = schema(message('count', { n: uint(0, 2 ** 32 - 1) }));
/** Starts a host; `answer()` lets the other end report what has reached it. */
const start = (t, config) => {
  const { far, flush, ...rest } = startDrivenHost(t, core, types, config);
  const drains = [];
  rest.host.addEventListener('drain', () => drains.push(rest.host.writable));
  const answer = () => {
    for (let event = far.next(); event; event = far.next());
    flush();
  };
  return { ...rest, answer, drains };
};

const fill = (host, channel) => {
  let sent = 0;
  while (host.writable) host.send(channel, 'count', { n: sent++ });
  return sent;
};

test('a full queue is told before send throws, and that it has drained once it has', async (t) => {
  const { host, answer, drains } = start(t, { channels: [reliable({ sendQueueSize: 16 })] });
  assert.equal(host.writable, true);
  assert.equal(fill(host, 0), 16);
  assert.throws(() => host.send(0, 'count', { n: 16 }), { code: 'QUEUE_FULL' });
  await until('they have been sent', () => host.channelStats(0).queued === 0);
  assert.equal(host.writable, false);
  assert.deepEqual(drains, []);
  await until('they have been acked', () => {
    answer();
    return drains.length > 0;
  });
  assert.deepEqual(drains, [true]);
  assert.equal(host.channelStats(0).room, 16);
});

test('a queue has drained when half of it is free', async (t) => {
  const channels = [reliable({ sendQueueSize: 16, maxMessagesPerPacket: 6 })];
  const { host, transport, answer, drains } = start(t, { channels });
  const { send } = transport;
  let passed = 0;
  transport.send = (datagram) => passed++ > 0 || send(datagram);
  fill(host, 0);
  await until('some have been acked', () => {
    answer();
    return host.channelStats(0).room === 6;
  });
  assert.deepEqual(drains, []);
  transport.send = send;
  await until('it has drained', () => {
    answer();
    return drains.length > 0;
  });
});

test('an unreliable queue drains when its messages have left', async (t) => {
  const { host, drains } = start(t, { channels: [unreliable({ sendQueueSize: 8 })] });
  assert.equal(fill(host, 0), 8);
  await until('it has drained', () => drains.length > 0);
  assert.equal(fill(host, 0), 8);
  await until('it has drained again', () => drains.length > 1);
  assert.deepEqual(drains, [true, true]);
});

test('one full channel is enough, and so is an empty pool', (t) => {
  const channels = [reliable({ sendQueueSize: 8 }), reliable({ sendQueueSize: 64 })];
  const { host } = start(t, { channels, maxMessages: 32 });
  assert.equal(fill(host, 0), 8);
  assert.equal(host.channelStats(1).room, 24);
  const { host: other } = start(t, { channels, maxMessages: 32 });
  for (let i = 0; i < 30; i++) void other.track(1, 'count', { n: i });
  assert.equal(other.writable, false);
  assert.throws(() => other.send(1, 'count', { n: 0 }), { code: 'QUEUE_FULL' });
  /* The other channel is sure of the last two messages of the pool. */
  for (let i = 0; i < 2; i++) other.send(0, 'count', { n: i });
  assert.throws(() => other.send(0, 'count', { n: 0 }), { code: 'POOL_EMPTY' });
});

test('a queue that was never full does not drain', async (t) => {
  const { host, answer, drains } = start(t, { channels: [reliable({ sendQueueSize: 16 })] });
  for (let i = 0; i < 15; i++) host.send(0, 'count', { n: i });
  await until('they have been acked', () => {
    answer();
    return host.channelStats(0).room === 16;
  });
  assert.deepEqual(drains, []);
});

test('a connection that has ended is not writable', async (t) => {
  const { host, transport, end, drains } = start(t, { channels: [reliable({ sendQueueSize: 8 })] });
  fill(host, 0);
  transport.state = 'closed';
  assert.equal(host.writable, false);
  end();
  await host.closed;
  assert.deepEqual(drains, []);
});
