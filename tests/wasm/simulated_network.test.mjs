// A bad network around a transport.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { SimulatedNetwork, loadServer } from '../support/causeway.mjs';
import { until } from '../support/patience.mjs';

const core = await loadServer();

/** Returns a transport that keeps what it is given. */
const inner = () => {
  let end;
  const transport = {
    kind: 'webrtc',
    state: 'open',
    maxDatagramSize: 1100,
    ondatagram: null,
    closed: new Promise((resolve) => (end = resolve)),
    sent: [],
    closes: [],
    send: ([number]) => void transport.sent.push(number),
    stats: () => ({ datagramsSent: transport.sent.length }),
    close: (...how) => void transport.closes.push(how),
    arrive: (number) => transport.ondatagram(Uint8Array.of(number)),
    end: () => end({ code: 1001, reason: 'gone' }),
  };
  return transport;
};

/** Returns a transport through a network, and what arrives over it. */
const open = (network) => {
  const transport = inner();
  const through = network.through(transport);
  const arrived = [];
  const listen = () => (through.ondatagram = ([number]) => arrived.push(number));
  const send = (...numbers) => numbers.forEach((number) => through.send(Uint8Array.of(number)));
  return { transport, through, arrived, listen, send };
};

test('a perfect network changes nothing', async () => {
  const { transport, through, arrived, listen, send } = open(new SimulatedNetwork(core));
  transport.arrive(1);
  listen();
  transport.arrive(2);
  send(3, 4);
  assert.deepEqual(arrived, [1, 2]);
  assert.deepEqual(transport.sent, [3, 4]);
  assert.equal(through.kind, 'webrtc');
  assert.equal(through.maxDatagramSize, 1100);
  assert.equal(through.stats().datagramsSent, 2);
  through.close(1000, 'enough');
  assert.deepEqual(transport.closes, [[1000, 'enough']]);
  transport.end();
  assert.deepEqual(await through.closed, { code: 1001, reason: 'gone' });
  assert.equal(through.state, 'closed');
  assert.equal(transport.ondatagram, null);
});

test('latency holds datagrams up, both ways', async () => {
  const network = new SimulatedNetwork(core, { latencySeconds: 0.03 });
  const { transport, arrived, listen, send } = open(network);
  listen();
  const begun = performance.now();
  send(1);
  transport.arrive(2);
  assert.deepEqual([transport.sent, arrived], [[], []]);
  await until('both have come', () => transport.sent.length + arrived.length === 2);
  assert.ok(performance.now() - begun >= 29);
  assert.deepEqual([transport.sent, arrived], [[1], [2]]);
});

test('a change concerns all transports, and each way by itself', () => {
  const network = new SimulatedNetwork(core);
  const all = [open(network), open(network)];
  all.forEach(({ listen }) => listen());
  network.change({ loss: 1 }, {});
  for (const { transport, arrived, send } of all) {
    send(1);
    transport.arrive(2);
    assert.deepEqual([transport.sent, arrived], [[], [2]]);
  }
  network.change({});
  for (const { transport, send } of all) {
    send(3);
    assert.deepEqual(transport.sent, [3]);
  }
});

test('the same seed loses the same datagrams', () => {
  const lost = (seed) => {
    const { transport, send } = open(new SimulatedNetwork(core, { loss: 0.5 }, seed));
    for (let i = 0; i < 100; i++) send(i);
    return transport.sent;
  };
  assert.deepEqual(lost(7), lost(7));
  assert.notDeepEqual(lost(7), lost(8));
});

test('what is under way leaves before the transport is closed', async () => {
  const { transport, through, send } = open(new SimulatedNetwork(core, { latencySeconds: 0.02 }));
  send(1, 2);
  through.close();
  assert.equal(through.state, 'closing');
  assert.equal(through.send(Uint8Array.of(3)), false);
  await until('it is closed', () => transport.closes.length > 0);
  assert.deepEqual(transport.sent, [1, 2]);
});

test('a transport that has ended brings nothing any more', async () => {
  const { transport, through, arrived, listen, send } = open(
    new SimulatedNetwork(core, { latencySeconds: 0.01 }),
  );
  listen();
  transport.arrive(1);
  send(2);
  transport.end();
  await through.closed;
  await sleep(30);
  assert.deepEqual([transport.sent, arrived], [[], []]);
});

test('a path that cannot work is refused, and changes nothing', () => {
  const refused = { name: 'MisuseError', code: 'CONFIG', field: 'loss' };
  assert.throws(() => new SimulatedNetwork(core, { loss: 2 }), refused);
  const network = new SimulatedNetwork(core);
  const { transport, send } = open(network);
  assert.throws(() => network.change({ loss: 1 }, { loss: 2 }), refused);
  send(1);
  assert.deepEqual(transport.sent, [1]);
});
