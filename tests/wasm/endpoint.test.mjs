import assert from 'node:assert/strict';
import { beforeEach, test } from 'node:test';
import { MisuseError, Endpoint, loadCore } from '../support/causeway.mjs';

const core = await loadCore();
let a;
let b;

beforeEach(() => {
  a = new Endpoint(core);
  b = new Endpoint(core);
});

const text = (string) => new TextEncoder().encode(string);

/** Sends a packet from one end to the other and returns the events there. */
const carry = (from, to, payload, now) => {
  from.send(payload, now);
  const events = [];
  for (let datagram = from.transmit(now); datagram; datagram = from.transmit(now)) {
    assert.equal(to.receive(datagram, now), 'ok');
    for (const event of to.events()) {
      if (event.type === 'packet') to.accept(event.sequence);
      events.push(event);
    }
  }
  return events;
};

test('a packet arrives and is acked', () => {
  assert.equal(a.nextSequence, 0);
  assert.deepEqual(carry(a, b, text('ping'), 0), [
    { type: 'packet', sequence: 0, payload: text('ping') },
  ]);
  assert.deepEqual(
    new Set(carry(b, a, text('pong'), 0.05)),
    new Set([
      { type: 'acked', sequence: 0 },
      { type: 'packet', sequence: 0, payload: text('pong') },
    ]),
  );
  assert.equal(a.nextSequence, 1);
  const stats = a.stats();
  assert.equal(stats.packetsAcked, 1);
  assert.equal(stats.rtt, 0.05);
});

test('a long packet travels in fragments', () => {
  const payload = Uint8Array.from({ length: 4000 }, (_, i) => i * 7);
  const events = carry(a, b, payload, 0);
  assert.deepEqual(events, [{ type: 'packet', sequence: 0, payload }]);
  assert.equal(a.stats().fragmentsSent, 4);
  assert.equal(b.stats().fragmentsReceived, 4);
});

test('a packet without an ack is lost when its time is up', () => {
  a.send(text('x'), 0);
  a.transmit(0);
  a.update(0.05);
  assert.equal(a.next(), undefined);
  a.update(10);
  assert.deepEqual([...a.events()], [{ type: 'lost', sequence: 0 }]);
  assert.ok(a.stats().lossSent > 0);
});

test('what comes off the wire is judged, not thrown', () => {
  a.send(text('x'), 0);
  const datagram = a.transmit(0);
  assert.equal(b.receive(datagram, 0), 'ok');
  b.accept(b.next().sequence);
  assert.equal(b.receive(datagram, 0), 'duplicate');
  assert.equal(b.receive(new Uint8Array(0), 0), 'malformed');
  assert.equal(b.receive(new Uint8Array(65536).fill(255), 0), 'malformed');
  assert.equal(b.stats().packetsMalformed, 2);
});

test('a packet that is not accepted is delivered again and not acked', () => {
  a.send(text('x'), 0);
  const datagram = a.transmit(0);
  for (let i = 0; i < 3; i++) {
    assert.equal(b.receive(datagram, 0), 'ok');
    assert.equal(b.next().type, 'packet');
    assert.deepEqual(
      carry(b, a, text('y'), 0).map(({ type }) => type),
      ['packet'],
    );
  }
  b.accept(0);
  assert.equal(b.receive(datagram, 0), 'duplicate');
  assert.equal(b.stats().packetsReceived, 1);
});

test('a payload may be empty and belongs to the receiver', () => {
  const [{ payload }] = carry(a, b, new Uint8Array(0), 0);
  assert.equal(payload.length, 0);
  const [first] = carry(a, b, text('first'), 1);
  carry(a, b, text('other'), 2);
  assert.deepEqual(first.payload, text('first'));
});

test('calls that cannot be carried out throw a MisuseError', () => {
  const fails = (code, call) =>
    assert.throws(call, (error) => {
      assert.ok(error instanceof MisuseError);
      assert.equal(error.code, code);
      assert.notEqual(error.message, 'unknown error');
      return true;
    });
  fails('PACKET_TOO_LARGE', () => a.send(new Uint8Array(4097), 0));
  a.send(text('x'), 0);
  fails('TRANSMIT_PENDING', () => a.send(text('y'), 0));
  b.receive(a.transmit(0), 0);
  fails('EVENTS_PENDING', () => b.receive(new Uint8Array(9), 0));
});

test('a config that cannot work is refused, and says which part', () => {
  const fails = (config, message) => {
    const [field] = Object.keys(config);
    const refused = { name: 'MisuseError', code: 'CONFIG', field, message: `${field} ${message}` };
    assert.throws(() => new Endpoint(core, config), refused);
  };
  fails({ sentWindow: 33 }, 'must be a power of two from 32 to 16384');
  fails({ receivedWindow: -256 }, 'must be a power of two from 32 to 16384');
  fails({ sentWindow: 256.5 }, 'must be a power of two from 32 to 16384');
  fails({ maxPacketSize: 2 ** 32 }, 'must be from 1 to 256 times fragmentSize');
  fails({ fragmentSize: 0 }, 'must be from 1 to 65493');
  fails({ maxReassemblies: 65 }, 'must be from 1 to 64');
  fails({ rttSmoothing: 0 }, 'must be above 0 and at most 1');
});

test('a config is taken', () => {
  const small = new Endpoint(core, { maxPacketSize: 100, fragmentSize: 50, fragmentAbove: 50 });
  assert.equal(small.maxPacketSize, 100);
  small.send(new Uint8Array(100), 0);
  small.transmit(0);
  small.transmit(0);
  assert.equal(small.transmit(0), undefined);
  assert.equal(small.stats().fragmentsSent, 2);
});

test('reset goes back to the beginning', () => {
  carry(a, b, text('x'), 0);
  a.reset();
  assert.equal(a.nextSequence, 0);
  assert.ok(Object.values(a.stats()).every((value) => value === 0));
});

test('a destroyed endpoint says so', () => {
  a.destroy();
  a.destroy();
  assert.throws(() => a.send(text('x'), 0), { name: 'MisuseError', code: 'DESTROYED' });
  assert.throws(() => a.stats(), { name: 'MisuseError', code: 'DESTROYED' });
});
