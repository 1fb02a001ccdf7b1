// Servers that speak netcode with payloads of their own, and netcode with reliable, through the real relay.
// The server is of the second implementation.
import assert from 'node:assert/strict';
import test from 'node:test';
import {
  Endpoint,
  SimulatedNetwork,
  loadCore,
  loadServer,
  openSecureTransport,
  require,
} from '../support/causeway.mjs';
import { foreignToken, startForeignPlace } from '../support/netcode_rig.mjs';
import { RTCPeerConnection } from '../support/wrtc.mjs';
import { next } from '../support/patience.mjs';

const { WebSocket } = require('ws');

/** Starts a server of the second implementation, and returns it with a function that joins it. */
async function begin(t, options) {
  const { server, relay } = await startForeignPlace(t, options);
  const join = (kind, more) =>
    openSecureTransport(relay.url, {
      token: foreignToken({ addresses: [server.address] }),
      transports: [kind],
      RTCPeerConnection,
      WebSocket,
      ...more,
    });
  return { server, join };
}

const arrival = (transport) =>
  new Promise((resolve) => {
    transport.ondatagram = (payload) => {
      transport.ondatagram = null;
      resolve(payload);
    };
  });

for (const kind of ['websocket', 'webrtc']) {
  test(`${kind}: payloads there and back, and an end`, async (t) => {
    const { server, join } = await begin(t);
    server.on('payload', (slot, payload) => server.send(slot, payload));
    const transport = await join(kind);
    assert.equal(transport.kind, kind);
    for (const size of [1, 100, 1075]) {
      const payload = new Uint8Array(size).fill(size);
      let came;
      const first = arrival(transport).then((each) => (came = each));
      // UDP may lose any datagram, so it is repeated.
      for (; !came; await Promise.race([first, new Promise((done) => setTimeout(done, 1000))]))
        transport.send(payload);
      assert.deepEqual(came, payload);
    }
    assert.throws(() => transport.send(new Uint8Array(0)), RangeError);
    assert.throws(() => transport.send(new Uint8Array(1076)), RangeError);
    const disconnected = next(server, 'disconnected');
    transport.close();
    assert.equal((await disconnected)[1], 'client');
    assert.deepEqual(await transport.closed, { code: 1000, reason: '' });
    assert.equal(transport.send(new Uint8Array(1)), false);
  });
}

for (const kind of ['websocket', 'webrtc'])
  test(`${kind}: a burst is not cut off`, async (t) => {
    const { server, join } = await begin(t);
    const transport = await join(kind, { maxWaitSeconds: Infinity });
    const missing = new Set(Array.from({ length: 20 }, (_, i) => i));
    server.on('payload', (slot, [number]) => missing.delete(number));
    // The test sends four times the datagrams that may leave at once; and then the missing ones again, as UDP may lose
    // any.
    let sent = 0;
    for (; missing.size > 0; await new Promise((done) => setTimeout(done, 100)))
      for (const number of missing) {
        assert.equal(transport.send(new Uint8Array(1000).fill(number)), true, `after ${sent}`);
        sent++;
      }
    const { datagramsSent, datagramsWaiting, droppedBacklog } = transport.stats();
    assert.deepEqual([datagramsSent + datagramsWaiting, droppedBacklog], [sent, 0]);
    transport.close();
  });

test('what waits is told as it was given when it is dropped', async (t) => {
  const { join } = await begin(t);
  let full = false;
  class Jammed extends WebSocket {
    get bufferedAmount() {
      return full ? 1e6 : super.bufferedAmount;
    }
  }
  const transport = await join('websocket', { WebSocket: Jammed, maxWaitSeconds: 0.01 });
  const dropped = new Promise((resolve) => (transport.ondrop = resolve));
  full = true;
  assert.equal(transport.send(new Uint8Array(50).fill(7)), true);
  assert.deepEqual(await dropped, new Uint8Array(50).fill(7));
  assert.equal(transport.stats().droppedBacklog, 1);
  full = false;
  transport.close();
});

test('something can be put between it and the relay', async (t) => {
  const { server, join } = await begin(t);
  const network = new SimulatedNetwork(await loadServer(), { latencySeconds: 0.01 });
  const below = [];
  const through = (transport) => network.through((below.push(transport), transport));
  const transport = await join('websocket', { through });
  server.on('payload', (slot, payload) => server.send(slot, payload));
  const first = arrival(transport);
  transport.send(Uint8Array.of(5));
  assert.deepEqual(await first, Uint8Array.of(5));
  // The simulated network loses all, so that nothing reaches the transport below it.
  network.change({ loss: 1 });
  assert.equal(below.length, 1);
  const { datagramsSent } = below[0].stats();
  assert.equal(transport.send(Uint8Array.of(6)), true);
  assert.equal(below[0].stats().datagramsSent, datagramsSent);
  network.change({});
  transport.close();
  await transport.closed;
  await below[0].closed;
});

test('packets of an endpoint over it arrive and are acked', async (t) => {
  const { server, join } = await begin(t);
  const core = await loadCore();
  const far = new Endpoint(core);
  const near = new Endpoint(core);
  const now = () => performance.now() / 1000;
  const flush = (endpoint, send) => {
    for (let out = endpoint.transmit(now()); out; out = endpoint.transmit(now())) send(out);
  };
  const received = [];
  server.on('payload', (slot, payload) => {
    far.receive(payload, now());
    for (const event of far.events()) {
      if (event.type !== 'packet') continue;
      far.accept(event.sequence);
      received.push(event.payload.length);
    }
    far.send(new Uint8Array(1), now());
    flush(far, (out) => server.send(slot, Buffer.from(out)));
  });
  const transport = await join('websocket');
  let acked = 0;
  transport.ondatagram = (payload) => {
    near.receive(payload, now());
    for (const event of near.events())
      if (event.type === 'acked') acked++;
      else near.accept(event.sequence);
  };
  while (acked < 3 || !received.includes(3000)) {
    near.update(now());
    near.send(new Uint8Array(3000), now());
    flush(near, (out) => transport.send(out));
    await new Promise((done) => setTimeout(done, 20));
  }
  transport.close();
});

test('the server ends it', async (t) => {
  const { server, join } = await begin(t);
  const transport = await join('websocket');
  server.disconnect(server.clients[0]);
  const { code, reason } = await transport.closed;
  assert.equal(code, 1000);
  assert.match(reason, /server has disconnected/);
  assert.equal(transport.state, 'closed');
});

test('who gets no connection is told why', async (t) => {
  const { join } = await begin(t, { slots: 0 });
  await assert.rejects(join('websocket'), { name: 'ConnectError', code: 'DENIED' });
  await assert.rejects(join('websocket', { token: new Uint8Array(10) }), { code: 'INVALID_TOKEN' });
  const signal = AbortSignal.abort(new Error('enough'));
  await assert.rejects(join('websocket', { signal }), /enough/);
});
