// Secure connections from Node through the real relay to the native game server, over both transports.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, test } from 'node:test';
import {
  ConnectError,
  Simulator,
  connect,
  connectTokenId,
  f32,
  fingerprint,
  loadCore,
  loadServer,
  message,
  openSecureTransport,
  reliable,
  require,
  schema,
} from '../support/causeway.mjs';
import { messages, startSecureServer } from '../support/secure.mjs';
import { RTCPeerConnection } from '../support/wrtc.mjs';
import { startRelay } from '../support/relay.mjs';
import { startUdpServer } from '../support/udp_server.mjs';
import { until } from '../support/patience.mjs';
import { failure, refusedAs as isRefusedAs } from '../support/failure.mjs';

const { WebSocket } = require('ws');
const kinds = ['websocket', 'webrtc'];
const other = schema(message('other', { x: f32() }));

const demo = await startSecureServer(test);

const join = async (place, options = {}) =>
  connect(place.url, {
    token: options.token ?? (await place.server.token()),
    schema: messages,
    RTCPeerConnection,
    WebSocket,
    ...options,
  });

const refusedAs = async (code, stage, promise) => {
  const error = await isRefusedAs(code, stage, promise);
  assert.ok(error instanceof ConnectError, String(error?.stack ?? error));
  assert.ok(error.message.length > 10);
  return error;
};

describe('messages at 5 % loss', { concurrency: true }, () => {
  for (const kind of kinds)
    test(kind, async (t) => {
      const lossy = await startSecureServer(t, { loss: 0.05 });
      const client = await join(lossy, { transports: [kind] });
      const said = [];
      let worlds = 0;
      client.addEventListener('message', ({ message: { type, value, channel } }) => {
        if (type === 'said') {
          assert.equal(channel, 0);
          assert.equal(value.player, client.slot.index);
          said.push(value.text);
        } else {
          assert.equal(type, 'world');
          assert.equal(channel, 1);
          assert.deepEqual(value.players, [client.slot.index]);
          worlds++;
        }
      });
      const sent = [];
      while (sent.length < 200 || worlds <= 50) {
        sent.push(`message ${sent.length}`);
        client.send(0, 'say', { text: sent.at(-1) });
        client.send(1, 'move', { x: Math.random(), y: 0.25 });
        await sleep(50);
      }
      const all = () => said.length >= sent.length;
      await until('what is still on its way, however often it gets lost', all);
      assert.deepEqual(said, sent);
      const { packetsLost, packetsAcked, secure, transport } = client.stats();
      const { up, upLost, downLost } = lossy.path.counts;
      assert.ok(upLost > 0 && downLost > 0 && packetsLost > 0 && packetsAcked > 100);
      assert.ok(upLost < up / 5);
      const { datagramsSent, datagramsWaiting, droppedBacklog } = transport;
      assert.equal(secure.datagramsSent, datagramsSent + datagramsWaiting + droppedBacklog);
      assert.equal(client.state, 'connected');
      client.disconnect();
    });
});

for (const kind of kinds) {
  const options = { transports: [kind] };

  test(`${kind}: states lead to a connected client`, async () => {
    const states = [];
    const client = await join(demo, { ...options, onstate: (state) => states.push(state) });
    assert.deepEqual(states, ['opening', 'requesting', 'responding', 'connected']);
    assert.equal(client.state, 'connected');
    assert.equal(client.transport, kind);
    assert.equal(client.slot.count, 64);
    const ended = [];
    client.addEventListener('state', ({ state }) => ended.push(state));
    client.addEventListener('disconnect', ({ reason }) => ended.push(reason));
    client.disconnect();
    client.disconnect();
    assert.equal((await client.closed).reason, 'client');
    assert.deepEqual(ended, ['disconnected', 'client']);
    assert.throws(() => client.send(0, 'say', { text: 'late' }), {
      name: 'ConnectionError',
      code: 'CLOSED',
    });
  });

  test(`${kind}: a tracked message tells its fate`, async (t) => {
    const lossy = await startSecureServer(t, { loss: 0.3 });
    const client = await join(lossy, options);
    const fates = { acked: 0, lost: 0 };
    assert.equal(await client.track(0, 'say', { text: 'hello' }), 'acked');
    for (let i = 0; i < 50; i++) {
      void client.track(1, 'move', { x: 0.5, y: 0.25 }).then((fate) => fates[fate]++);
      await sleep(20);
    }
    await until('the fates', () => fates.acked + fates.lost === 50);
    assert.ok(fates.acked > 10 && fates.lost > 2, JSON.stringify(fates));
    const last = client.track(0, 'say', { text: 'too late' });
    client.disconnect();
    assert.equal(await last, 'lost');
    assert.throws(() => client.track(0, 'say', { text: 'gone' }), {
      name: 'ConnectionError',
      code: 'CLOSED',
    });
  });

  test(`${kind}: a full server denies`, async (t) => {
    const small = await startSecureServer(t, { players: 1 });
    const first = await join(small, options);
    const error = await refusedAs('DENIED', 'request', join(small, options));
    assert.match(error.message, /full/);
    // The place of a client that leaves is free again, once the server has heard of it.
    first.disconnect();
    await first.closed;
    const isFull = (error) => assert.equal(error.code, 'DENIED');
    const second = await until('the place', () => join(small, options).catch(isFull));
    assert.equal(second.slot.index, 0);
    second.disconnect();
  });

  test(`${kind}: an expired token is told from a silent server`, async () => {
    const token = await demo.server.token({ expireSeconds: 1, timeoutSeconds: 5 });
    await sleep(1100);
    await refusedAs('TOKEN_EXPIRED', 'request', join(demo, { ...options, token }));
  });

  test(`${kind}: a token is good for one connection`, async () => {
    const token = await demo.server.token({ timeoutSeconds: 1 });
    const client = await join(demo, { ...options, token });
    // The server takes the second client for the first one on another path, and asks it for a proof that it does not
    // have.
    await refusedAs('RESPONSE_TIMED_OUT', 'response', join(demo, { ...options, token }));
    assert.equal(client.state, 'connected');
    client.disconnect();
  });

  test(`${kind}: a killed server is a timeout`, async (t) => {
    const mortal = await startSecureServer(t);
    const token = await mortal.server.token({ timeoutSeconds: 2 });
    const client = await join(mortal, { ...options, token });
    const killed = performance.now();
    await mortal.server.stop('SIGKILL');
    const { reason, message: text } = await client.closed;
    const seconds = (performance.now() - killed) / 1000;
    assert.equal(reason, 'timeout');
    assert.match(text, /timed out/);
    assert.ok(seconds > 1, `after ${seconds} s`);
    assert.equal(client.state, 'disconnected');
  });

  test(`${kind}: a server that stops says so`, async (t) => {
    const mortal = await startSecureServer(t);
    const client = await join(mortal, options);
    const taken = [];
    const loop = (async () => {
      for await (const each of client) taken.push(each.type);
    })();
    await sleep(200);
    assert.equal(await mortal.server.stop(), 0);
    assert.equal((await client.closed).reason, 'stopping');
    await loop;
    assert.ok(taken.length > 0);
  });

  test(`${kind}: a transport of payloads tells that the server stops`, async (t) => {
    const mortal = await startSecureServer(t);
    const transport = await openSecureTransport(mortal.url, {
      token: await mortal.server.token(),
      RTCPeerConnection,
      WebSocket,
      ...options,
    });
    assert.equal(await mortal.server.stop(), 0);
    assert.deepEqual(await transport.closed, { code: 1001, reason: 'the server is stopping' });
  });

  test(`${kind}: a kick tells code and text, after the last message`, async () => {
    const client = await join(demo, options);
    const events = [];
    client.addEventListener('disconnect', ({ reason, code, text }) =>
      events.push({ reason, code, text }),
    );
    client.send(0, 'say', { text: '/kick no ch\u00e9ating' });
    const texts = [];
    for await (const { type, value } of client) if (type === 'said') texts.push(value.text);
    assert.deepEqual(texts, ['/kick no ch\u00e9ating']);
    const words = { reason: 'kicked', code: 7, text: 'no ch\u00e9ating' };
    assert.deepEqual(await client.closed, {
      ...words,
      message: 'the server has disconnected this client: no ch\u00e9ating',
    });
    assert.deepEqual(events, [words]);
  });

  test(`${kind}: a relay that stops for good ends the connection in the end`, async (t) => {
    const mortal = await startSecureServer(t);
    const token = await mortal.server.token({ timeoutSeconds: 2 });
    const client = await join(mortal, { ...options, token });
    const states = [];
    client.addEventListener('state', ({ state }) => states.push(state));
    await mortal.relay.stop();
    assert.equal((await client.closed).reason, 'transport');
    assert.deepEqual(states, ['reconnecting', 'disconnected']);
  });
}

test('what opens first carries, and then WebRTC', async () => {
  const client = await join(demo);
  const moved = client.transport === 'webrtc' || once(client, 'transport');
  const text = 'on the way';
  const fate = client.track(0, 'say', { text });
  await moved;
  assert.equal(client.transport, 'webrtc');
  assert.equal(await fate, 'acked');
  assert.equal(await client.track(0, 'say', { text }), 'acked');
  assert.equal(client.state, 'connected');
  client.disconnect();
});

test('bytes that are no token are refused before anything is sent', async () => {
  const dead = { url: 'http://127.0.0.1:9/' };
  const bad = (token) => refusedAs('INVALID_TOKEN', 'token', join(dead, { token }));
  await bad(new Uint8Array(2047));
  await bad(new Uint8Array(2048));
  await bad(new ArrayBuffer(0));
  const text = '\n<!doctype html><title>502 Bad Gateway</title>';
  const { message } = await bad(new TextEncoder().encode(text));
  assert.match(message, /^the connect token is an HTML page: .* `token` function asks/);
});

test('a token with a key of zeros is refused before anything is sent', async () => {
  const keys = 1100; // the keys come behind one address of IPv4
  for (const key of [keys, keys + 32]) {
    const token = await demo.server.token();
    token.fill(0, key, key + 32);
    const error = await refusedAs('INVALID_TOKEN', 'token', join(demo, { token }));
    assert.equal(error.cause.code, 'KEY');
  }
});

test('another schema is refused by the token, and by the server', async () => {
  await refusedAs('SCHEMA', 'token', join(demo, { schema: other }));
  // A backend that repeats the client's claim does not fool the server.
  const token = await demo.server.token({ schema: other });
  const error = await refusedAs('SCHEMA', 'request', join(demo, { schema: other, token }));
  assert.match(error.message, /the server has another schema; .*they first differ at \w+/);
  assert.equal(error.tokenId, connectTokenId(token));
  const { types } = messages;
  const sentence = async (options) => {
    const same = await demo.server.token(options);
    const { message } = await refusedAs(
      'SCHEMA',
      'request',
      join(demo, { ...options, token: same }),
    );
    return message.split('; ').at(-1);
  };
  const more = 'it has more messages, or other channels';
  assert.equal(await sentence({ channels: [reliable()] }), more);
  assert.equal(await sentence({ schema: schema(...types.slice(0, -1)) }), more);
  const own = schema(...types, other.types[0]);
  assert.equal(await sentence({ schema: own }), 'they first differ at other');
  const core = await loadCore();
  const named = await demo.server.token({
    schema: undefined,
    fingerprint: fingerprint(core, messages),
  });
  const client = await join(demo, { token: named });
  assert.equal(client.stats().tokenId, connectTokenId(named));
  client.disconnect();
});

test('a server that is not there is a timeout of the request', async (t) => {
  const silent = await startUdpServer(t, { answer: () => null });
  const relay = await startRelay(t, { upstream: silent.upstream, gated: true });
  const place = { url: relay.url, server: demo.server };
  const token = await demo.server.token({ timeoutSeconds: 1 });
  await refusedAs('REQUEST_TIMED_OUT', 'request', join(place, { token }));
  assert.ok(silent.received.length > 1);
  assert.ok(silent.received.every(({ data }) => data.length === 1078));

  const abort = new AbortController();
  const reason = new Error('no more patience');
  const onstate = (state) => state === 'requesting' && setTimeout(() => abort.abort(reason), 50);
  assert.equal(await failure(join(place, { signal: abort.signal, onstate })), reason);
  const early = AbortSignal.abort(reason);
  assert.equal(await failure(join(place, { signal: early })), reason);
  const opening = new AbortController();
  const abortAtOnce = (state) => state === 'opening' && opening.abort(reason);
  assert.equal(
    await failure(join(place, { signal: opening.signal, onstate: abortAtOnce })),
    reason,
  );
});

test('an aborted signal does not concern a connection that stands', async () => {
  const abort = new AbortController();
  const client = await join(demo, { signal: abort.signal });
  abort.abort();
  await sleep(100);
  assert.equal(client.state, 'connected');
  client.disconnect();
});

test('a relay of another protocol ends the transport', async (t) => {
  const { upstream } = demo.server;
  const args = ['--protocol-id', '1'];
  const relay = await startRelay(t, { upstream, gated: true, args });
  const place = { url: relay.url, server: demo.server };
  const error = await refusedAs('TRANSPORT_CLOSED', 'request', join(place));
  assert.match(error.message, /1008/);
});

test('without a relay each transport tells its stage', async () => {
  const place = { url: 'http://127.0.0.1:9/', server: demo.server };
  const error = await failure(join(place));
  assert.ok(error instanceof ConnectError);
  assert.deepEqual(
    error.errors.map(({ stage }) => stage),
    ['signalling', 'handshake'],
  );
});

test('a config that cannot work is refused before anything is sent', async () => {
  const place = { url: 'http://127.0.0.1:9/' };
  const token = await demo.server.token({ schema: undefined });
  const error = await failure(join(place, { token, maxMessages: 0 }));
  assert.equal(error.name, 'MisuseError');
  const small = await failure(join(demo, { maxDatagramSize: 1000 }));
  assert.match(String(small), /RangeError: maxDatagramSize/);
});

test('two players hear each other, and see each other through a simulator', async () => {
  const up = new Simulator(await loadServer(), { seed: 5, loss: 0.2 });
  const seconds = () => performance.now() / 1000;
  /** Returns a transport that sends through the simulator. */
  const through = (transport) =>
    Object.create(transport, {
      send: {
        value: (datagram) => {
          up.receive(datagram, seconds());
          for (let out = up.transmit(seconds()); out; out = up.transmit(seconds()))
            transport.send(out);
          return true;
        },
      },
      ondatagram: {
        set(handler) {
          transport.ondatagram = handler;
        },
      },
      kind: { value: transport.kind },
      closed: { value: transport.closed },
      close: { value: () => transport.close() },
      stats: { value: () => transport.stats() },
    });
  const [alice, bob] = [await join(demo, { through }), await join(demo)];
  const texts = new Promise((resolve) => {
    bob.addEventListener('message', ({ message: each }) => {
      if (each.type === 'said') resolve(each.value);
    });
  });
  const seen = new Promise((resolve) => {
    alice.addEventListener('message', ({ message: each }) => {
      if (each.type !== 'world') return;
      const place = each.value.players.indexOf(bob.slot.index);
      if (place >= 0 && each.value.xs[place] < 0.3) resolve(each.value.xs[place]);
    });
  });
  alice.send(0, 'say', { text: 'hello, hélló' });
  bob.send(1, 'move', { x: 0.25, y: 1 });
  assert.deepEqual(await texts, { player: alice.slot.index, text: 'hello, hélló' });
  assert.ok(Math.abs((await seen) - 0.25) < 0.001);
  alice.disconnect();
  bob.disconnect();
});
