// The shared wire vectors through the WebAssembly core; their README says what each entry means.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { Endpoint, loadCore } from '../support/causeway.mjs';

const folder = process.env.CAUSEWAY_VECTORS;
const skip = folder ? false : 'CAUSEWAY_VECTORS names no folder';
const read = (name) => JSON.parse(readFileSync(join(folder, name), 'utf8'));
const bytes = (hex) => new Uint8Array(Buffer.from(hex, 'hex'));
const core = await loadCore();

const endpoint = (config) =>
  new Endpoint(core, {
    maxPacketSize: config.max_packet_size,
    fragmentAbove: config.fragment_above,
    fragmentSize: config.fragment_size,
    sentWindow: config.sent_packets_buffer_size ?? 256,
    receivedWindow: config.received_packets_buffer_size,
    maxReassemblies: config.fragment_reassembly_buffer_size,
  });

/** Returns the events of an endpoint, whose packets are accepted. */
const eventsOf = (end) =>
  [...end.events()].map((event) => {
    if (event.type === 'packet') end.accept(event.sequence);
    return event;
  });

/** Returns an endpoint that has received some datagrams already. */
const after = (config, prior = []) => {
  const result = endpoint(config);
  for (const datagram of prior) {
    result.receive(bytes(datagram), 0);
    eventsOf(result);
  }
  return result;
};

test('malformed datagrams deliver and ack nothing', { skip }, () => {
  const { config, malformed } = read('reliable_headers.json');
  for (const { prior, datagram, reason } of malformed) {
    const receiver = after(config, prior);
    assert.notEqual(receiver.receive(bytes(datagram), 0), 'ok', `${datagram}: ${reason}`);
    assert.equal(receiver.next(), undefined, reason);
  }
});

test('unusual datagrams that the reference takes are delivered', { skip }, () => {
  const { config, accepted_by_reference: accepted } = read('reliable_headers.json');
  for (const { prior, datagram, delivered_payload: payload, note } of accepted) {
    const receiver = after(config, prior);
    assert.equal(receiver.receive(bytes(datagram), 0), 'ok', note);
    assert.deepEqual(receiver.next()?.payload, bytes(payload), note);
  }
});

/** Exchanges the packets that a trace wants before its first event, each delivered at once. */
const warmUp = ({ A, B }, { phases }) => {
  const pass = (from, to) => {
    from.send(new Uint8Array(1), 0);
    to.receive(from.transmit(0), 0);
    eventsOf(to);
  };
  assert.equal(phases.length, 2);
  for (let i = 0; i < phases[0].repeat; i++) {
    pass(A, B);
    pass(B, A);
  }
  for (let i = 0; i < phases[1].repeat; i++) pass(B, A);
};

for (const name of ['fragment_1024', 'fragment_256', 'sequence_wrap'])
  test(`the trace ${name} repeats datagram by datagram`, { skip }, () => {
    const trace = read('reliable_trace.json').traces.find((entry) => entry.name === name);
    const ends = { A: endpoint(trace.config), B: endpoint(trace.config) };
    if (trace.warmup) warmUp(ends, trace.warmup);
    const steps = new Map(trace.events.map((event) => [event.step, event]));

    for (const event of trace.events) {
      if (event.from) {
        const from = ends[event.from];
        const send = () => from.send(bytes(event.payload), 0);
        if (event.sequence === null) assert.throws(send, { code: 'PACKET_TOO_LARGE' });
        else assert.equal(send(), event.sequence);
        for (const datagram of event.datagrams ?? [])
          assert.equal(Buffer.from(from.transmit(0)).toString('hex'), datagram);
        assert.equal(from.transmit(0), undefined);
      }
      const received = [];
      const acked = { A: [], B: [] };
      for (const { to, step, datagram, inject } of event.deliver) {
        ends[to].receive(bytes(inject ?? steps.get(step).datagrams[datagram]), 0);
        for (const { type, sequence, payload } of eventsOf(ends[to])) {
          if (type === 'acked') acked[to].push(sequence);
          if (type === 'packet') received.push({ by: to, sequence, payload });
        }
      }
      const expected = event.received.map(({ by, sequence, payload_of_step: step }) => ({
        by,
        sequence,
        payload: bytes(steps.get(step).payload),
      }));
      assert.deepEqual(received, expected);
      assert.deepEqual(acked, event.acked);
    }
  });
