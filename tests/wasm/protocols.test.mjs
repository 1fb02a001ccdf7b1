// The other protocols of the npm package, each with two ends in one page.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { before, test } from 'node:test';
import { dist } from '../support/causeway.mjs';

const { Bunch, Notify, Rudp, loadProtocols } = await import(new URL('protocols/index.js', dist));

let core;
before(async () => {
  core = await loadProtocols();
});

const bytes = (text) => new TextEncoder().encode(text);
const text = (data) => new TextDecoder().decode(data);

/** Carries what an end transmits to the other one, except a third of the datagrams, without a rhythm. */
function lossy() {
  let state = 1;
  return (from, to) => {
    for (let datagram; (datagram = from.transmit());) {
      state = (state * 48271) % 0x7fffffff;
      if (state % 3 !== 0) assert.equal(to.receive(datagram), 'ok');
    }
  };
}

function take(end) {
  const events = [];
  for (let event; (event = end.next());) events.push(event);
  return events;
}

test('the module imports nothing', () => {
  const wasm = readFileSync(new URL('causeway-protocols.wasm', dist));
  assert.deepEqual(WebAssembly.Module.imports(new WebAssembly.Module(wasm)), []);
});

test('rudp asks for packages until all have come, in order', () => {
  const [a, b] = [new Rudp(core), new Rudp(core)];
  const carry = lossy();
  const events = [];
  for (let tick = 0; tick < 400; tick++) {
    if (tick < 100) a.send(bytes(`package ${tick}`));
    for (const end of [a, b]) end.update(1);
    carry(a, b);
    carry(b, a);
    events.push(...take(b));
  }
  assert.deepEqual(
    events.map(({ type, id, data }) => [type, id, text(data)]),
    Array.from({ length: 100 }, (_, i) => ['package', i, `package ${i}`]),
  );
  assert.ok(a.stats().packagesResent > 20);
});

test('rudp says what has expired, and what was no datagram of its protocol', () => {
  const [a, b] = [new Rudp(core, { expiryTicks: 1 }), new Rudp(core)];
  for (let tick = 0; tick < 20; tick++) {
    if (tick < 2) a.send(bytes(`package ${tick}`));
    a.update(1);
    b.update(1);
    const datagrams = [a.transmit(), b.transmit()];
    if (tick > 0 && datagrams[0]) b.receive(datagrams[0]); // the first one is lost
    if (datagrams[1]) a.receive(datagrams[1]);
  }
  assert.deepEqual(
    take(b).map(({ type, id }) => [type, id]),
    [
      ['missing', 0],
      ['package', 1],
    ],
  );
  assert.equal(b.receive(bytes('\u0002')), 'malformed');
  b.update(1);
  a.receive(b.transmit());
  assert.deepEqual(take(a), [{ type: 'corrupt', id: 0 }]);
});

test('notify tells the fate of each packet once and in order', () => {
  const [a, b] = [new Notify(core, { maxMissing: 0 }), new Notify(core, { maxMissing: 0 })];
  const fates = [];
  const arrived = [];
  for (let tick = 0; tick < 60; tick++) {
    assert.equal(a.send(bytes(`packet ${tick}`)), tick);
    const datagram = a.transmit();
    if (tick % 4 !== 0) assert.equal(b.receive(datagram), 'ok');
    for (const { type, sequence, data } of take(b))
      if (type === 'packet') arrived.push([sequence, text(data)]);
    b.send(new Uint8Array());
    a.receive(b.transmit());
    fates.push(...take(a).filter(({ type }) => type !== 'packet'));
    for (const end of [a, b]) end.update();
  }
  const all = Array.from({ length: 60 }, (_, i) => i);
  assert.deepEqual(
    arrived,
    all.filter((i) => i % 4 !== 0).map((i) => [i, `packet ${i}`]),
  );
  assert.deepEqual(
    fates,
    all.map((sequence) => ({ type: sequence % 4 ? 'ack' : 'nak', sequence })),
  );
  assert.equal(a.room, 8191);
});

test('a packet that is refused counts as lost, and an old one as stale', () => {
  const [a, b] = [new Notify(core), new Notify(core)];
  a.send(bytes('no'));
  const datagram = a.transmit();
  b.receive(datagram);
  assert.equal(b.next().type, 'packet');
  b.refuse();
  assert.equal(b.receive(datagram), 'stale');
  b.send(bytes(''));
  a.receive(b.transmit());
  assert.deepEqual(a.next(), { type: 'nak', sequence: 0 });
});

test('bunches arrive in order, properties with their newest value, unreliable ones once', () => {
  const config = { properties: 2, unreliableBunches: 8, notify: { maxPacketSize: 300 } };
  const [a, b] = [new Bunch(core, config), new Bunch(core, config)];
  const carry = lossy();
  const events = [];
  for (let tick = 0; tick < 300; tick++) {
    if (tick < 100) {
      a.send(1, bytes(`bunch ${tick}`));
      a.sendUnreliable(0, bytes(`once ${tick}`));
      a.set(1, bytes(`value ${tick}`));
    }
    for (const end of [a, b]) end.update(tick / 60);
    carry(a, b);
    carry(b, a);
    events.push(...take(b));
  }
  const of = (type) => events.filter((event) => event.type === type);
  assert.deepEqual(
    of('bunch').map(({ number, data }) => [number, text(data)]),
    Array.from({ length: 100 }, (_, i) => [1, `bunch ${i}`]),
  );
  assert.equal(text(of('property').at(-1).data), 'value 99');
  assert.ok(of('unreliable').length > 50 && of('unreliable').length < 100);
  const { bunchesSent, notify } = a.stats();
  assert.equal(bunchesSent, 100);
  assert.ok(notify.packetsNakked > 50);
});

test('mistakes get one error each, which says what to do', () => {
  assert.throws(() => new Rudp(core, { sendWindow: 33 }), {
    code: 'CONFIG',
    field: 'sendWindow',
    message: 'sendWindow of the config is out of range',
  });
  assert.throws(() => new Bunch(core, { notify: { earlyPackets: 0 } }), { code: 'CONFIG' });
  const rudp = new Rudp(core, { maxPackageSize: 8, sendWindow: 32 });
  assert.throws(() => rudp.send(new Uint8Array(9)), { code: 'TOO_LARGE' });
  for (let i = 0; i < 32; i++) rudp.send(new Uint8Array(8));
  assert.throws(() => rudp.send(new Uint8Array(8)), {
    code: 'QUEUE_FULL',
    message: 'the queue is full; try again later',
  });
  const notify = new Notify(core);
  notify.send(new Uint8Array(1));
  assert.throws(() => notify.send(new Uint8Array(1)), { code: 'TRANSMIT_PENDING' });
  const bunch = new Bunch(core);
  assert.throws(() => bunch.send(2, new Uint8Array(1)), { code: 'INVALID_ARGUMENT' });
  bunch.destroy();
  assert.throws(() => bunch.next(), { code: 'DESTROYED' });
});
