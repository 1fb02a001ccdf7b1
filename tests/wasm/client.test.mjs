// A secure client at its edges: the things that it leaves behind, and its answers to odd servers, clocks and callbacks.
// It uses a WebSocket, as the transport is not under test.
import assert from 'node:assert/strict';
import { getEventListeners } from 'node:events';
import { readFileSync } from 'node:fs';
import { afterEach, beforeEach, test } from 'node:test';
import { ConnectError, MisuseError, dist, loadCore, reliable } from '../support/causeway.mjs';
import { packetType, startSecureServer, typeOf } from '../support/secure.mjs';
import { join as joinPlace } from '../support/join.mjs';
import { startRelay } from '../support/relay.mjs';
import { until } from '../support/patience.mjs';
import { failure, refusedAs } from '../support/failure.mjs';

let demo;
let goodbyes;
let deaf;

const isFrom = (way, type, datagram, from) => way === from && typeOf(datagram) === type;
const timers = () => process.getActiveResourcesInfo().filter((name) => name === 'Timeout').length;

beforeEach(async (t) => {
  demo = await startSecureServer(t, {
    loses: (datagram, way) => {
      goodbyes += Number(isFrom('up', packetType.disconnect, datagram, way));
      return deaf && isFrom('up', packetType.response, datagram, way);
    },
  });
  goodbyes = 0;
  deaf = false;
});

// After each test its transports must be closed and its timers gone.
afterEach(async () => {
  await until('no session is left', async () => (await demo.relay.stats()).sessions_open === 0);
  // The one that is left is that of the wait.
  await until('no timer is left', () => timers() === 1);
});

const join = (options, place = demo) => joinPlace(place, options);

/** Returns a transport of which some parts are replaced. */
const changed = (transport, parts) =>
  new Proxy(transport, {
    get: (target, name) => {
      const part = parts[name] ?? target[name];
      return typeof part === 'function' ? part.bind(target) : part;
    },
    set: (target, name, value) => {
      if (parts[`set ${name}`]) parts[`set ${name}`](value);
      else target[name] = value;
      return true;
    },
  });

/** Returns a callback for states that calls `act` in this one. */
const at = (wanted, act) => (state) => {
  if (state === wanted) act();
};

test('each step follows the packet before it, without a tick', async () => {
  const client = await join({ ticksPerSecond: 0.001 });
  for (let taken = 0; taken < 5;) {
    if (client.next()) taken++;
    else await new Promise(setImmediate);
  }
  // The datagrams are request, response and keep-alive.
  assert.equal(client.stats().secure.datagramsSent, 3);
  client.disconnect();
});

test('an end is told once, in full, to all who listen', async () => {
  const states = [];
  const client = await join({ onstate: (state) => states.push(state) });
  const events = [];
  client.addEventListener('disconnect', ({ reason, message, code, text }) =>
    events.push({ reason, message, code, text }),
  );
  assert.equal(client.slot.count, 64);
  client.disconnect();
  const how = { reason: 'client', message: 'this side has disconnected', code: 0, text: '' };
  assert.deepEqual(await client.closed, how);
  assert.deepEqual(events, [how]);
  assert.deepEqual(client.slot, { index: 0, count: 0 });
  // Callbacks for the attempt are not called for the connection.
  assert.deepEqual(states, ['opening', 'requesting', 'responding', 'connected']);
  await until('all packets that tell the server', () => goodbyes === 10);
});

test('the end of server and relay is told with its reason', async (t) => {
  const [one, two] = [await join(), await join()];
  assert.deepEqual([one.slot.index, two.slot.index], [0, 1]);
  const other = await startRelay(t, { upstream: demo.path.upstream, gated: true });
  const token = await demo.server.token({ timeoutSeconds: 2 });
  const three = await join({ token }, other);
  await other.stop();
  const { reason, message } = await three.closed;
  assert.equal(reason, 'transport');
  assert.match(message, /^the relay ended the websocket transport \(1001 .*and cannot be reached/);
  await demo.server.stop();
  for (const client of [one, two])
    assert.deepEqual(await client.closed, {
      reason: 'stopping',
      message: 'the server is stopping',
      code: 0,
      text: '',
    });
});

test('a transport that breaks without a word is told by its code', async () => {
  let breakOff;
  const closed = new Promise((resolve) => {
    breakOff = resolve;
  });
  const client = await join({ through: (transport) => changed(transport, { closed }) });
  breakOff({ code: 1006, reason: '' });
  assert.equal((await client.closed).message, 'the relay ended the websocket transport (1006)');
});

test('statistics are those of the datagrams', async () => {
  const up = [];
  const down = [];
  let hear;
  const through = (transport) =>
    changed(transport, {
      send: (datagram, last) => {
        up.push(datagram.length);
        return transport.send(datagram, last);
      },
      'set ondatagram': (handler) => {
        hear = (datagram) => {
          down.push(datagram.length);
          handler(datagram);
        };
        transport.ondatagram = hear;
      },
    });
  const client = await join({ through });
  await until('datagrams', () => down.length > 10);
  const { dropped, datagramsDropped } = client.stats().secure;
  hear(new Uint8Array(50));
  // The datagram is longer than any memory that could be meant for it.
  hear(new Uint8Array((await loadCore()).memory.bytes.length));
  const sum = (sizes) => sizes.reduce((total, size) => total + Math.min(size, 1400), 0);
  assert.deepEqual(client.stats().secure, {
    datagramsSent: up.length,
    datagramsReceived: down.length,
    datagramsDropped: datagramsDropped + 2,
    bytesSent: sum(up),
    bytesReceived: sum(down),
    dropped: { ...dropped, PACKET_TYPE: 2 },
  });
  client.disconnect();
  hear(new Uint8Array(50));
  assert.equal(client.stats().secure.datagramsReceived, down.length - 1);
});

test('what a transport delivers at once is no harm', async () => {
  const through = (transport) =>
    changed(transport, {
      'set ondatagram': (handler) => {
        transport.ondatagram = handler;
        handler(new Uint8Array(30));
      },
    });
  const client = await join({ through });
  assert.deepEqual(client.stats().secure.dropped, { PACKET_TYPE: 1 });
  client.disconnect();
});

test('a server that takes no answer is a timeout of the response', async () => {
  deaf = true;
  const token = await demo.server.token({ timeoutSeconds: 1 });
  const states = [];
  const onstate = (state) => states.push(state);
  const error = await refusedAs('RESPONSE_TIMED_OUT', 'response', join({ token, onstate }));
  assert.match(error.message, /challenge/);
  assert.deepEqual(states, ['opening', 'requesting', 'responding', 'disconnected']);
  // Tokens count whole seconds: of three, more than two are left for the challenge.
  const brief = await demo.server.token({ timeoutSeconds: 9, expireSeconds: 3 });
  await refusedAs('TOKEN_EXPIRED', 'response', join({ token: brief }));
});

test('who gives up in the middle tells the server, and hears no more', async () => {
  deaf = true;
  const abort = new AbortController();
  let hear;
  const through = (transport) =>
    changed(transport, {
      'set ondatagram': (handler) => {
        hear = handler;
        transport.ondatagram = handler;
      },
    });
  const onstate = at('responding', () => abort.abort(new Error('enough')));
  const error = await failure(join({ signal: abort.signal, onstate, through }));
  assert.equal(error.message, 'enough');
  assert.equal(getEventListeners(abort.signal, 'abort').length, 0);
  await until('all packets that tell the server', () => goodbyes === 10);
  hear(new Uint8Array(30));
});

test('a signal is let go when the connection stands', async () => {
  const { signal } = new AbortController();
  const client = await join({ signal });
  assert.equal(getEventListeners(signal, 'abort').length, 0);
  client.disconnect();
});

test('a signal that is aborted ends the attempt before the transport is open, and as it opens', async () => {
  const abort = new AbortController();
  const reason = new Error('too late');
  class SilentWebSocket {
    addEventListener() {}
    close() {}
  }
  const opening = new AbortController();
  const onstate = () => setImmediate(() => opening.abort(reason));
  const silent = join({ signal: opening.signal, onstate, WebSocket: SilentWebSocket });
  assert.equal(await failure(silent), reason);
  // The token is not looked at any more.
  assert.equal(await failure(join({ signal: opening.signal, token: new Uint8Array(1) })), reason);
  const through = (transport) => (abort.abort(reason), transport);
  assert.equal(await failure(join({ signal: abort.signal, through })), reason);
});

test('the end of the relay in the middle is told with its stage', async (t) => {
  deaf = true;
  const relay = await startRelay(t, { upstream: demo.path.upstream, gated: true });
  const token = await demo.server.token({ timeoutSeconds: 1 });
  const onstate = at('responding', () => relay.stop());
  const error = await refusedAs('RELAY_STOPPING', 'response', join({ token, onstate }, relay));
  assert.match(error.message, /\(1001 relay is stopping\): it is stopping$/);
  assert.equal(error.retryable, true);
});

test('what a server answers is believed, whatever the clock says', async (t) => {
  const small = await startSecureServer(t, { players: 1 });
  const later = Date.now() + 1e6;
  const tryLater = async (place, options) => {
    t.mock.method(Date, 'now', () => later);
    try {
      return await failure(join(options, place));
    } finally {
      t.mock.restoreAll();
    }
  };
  const first = await join({}, small);
  const full = await tryLater(small, { token: await small.server.token() });
  assert.equal(full.code, 'DENIED');
  const channels = [reliable()];
  const foreign = await tryLater(demo, { token: await demo.server.token({ channels }), channels });
  assert.equal(foreign.code, 'SCHEMA');
  deaf = true;
  const unheard = await tryLater(demo, { token: await demo.server.token({ timeoutSeconds: 1 }) });
  assert.equal(unheard.code, 'RESPONSE_TIMED_OUT');
  // A server that answers nothing may have found the token expired.
  const args = ['--protocol-id', '1'];
  const relay = await startRelay(t, { upstream: demo.path.upstream, gated: true, args });
  const refused = await tryLater(relay, { token: await demo.server.token() });
  assert.deepEqual([refused.code, refused.stage], ['TOKEN_EXPIRED', 'request']);
  first.disconnect();
});

test('what a callback throws ends the attempt', async () => {
  const reason = new Error('my own fault');
  const fail = () => {
    throw reason;
  };
  assert.equal(await failure(join({ onstate: at('opening', fail) })), reason);
  assert.equal(await failure(join({ onstate: at('requesting', fail) })), reason);
  assert.equal(await failure(join({ through: fail })), reason);
});

test('a tick rate that cannot be is refused before anything is sent', async () => {
  const token = await demo.server.token();
  for (const ticksPerSecond of [0, -1, NaN, 1001, Infinity, '60x'])
    await assert.rejects(join({ token, ticksPerSecond, onstate: assert.fail }), {
      name: 'RangeError',
      message: /^ticksPerSecond: /,
    });
  const client = await join({ token, ticksPerSecond: 1000 }); // the token was not used
  client.disconnect();
});

test('messages are shared among loops, and none of them waits for ever', async () => {
  const client = await join();
  const loops = [0, 0, 0];
  const all = loops.map(async (_, i) => {
    for await (const { type } of client) loops[i] += Number(type === 'world');
  });
  await until('each loop has had some', () => loops.every((count) => count > 0));
  client.disconnect();
  await Promise.all(all);
});

test('a transport that is too narrow is closed', async () => {
  const error = await failure(join({ maxDatagramSize: 1099 }));
  assert.match(String(error), /RangeError: maxDatagramSize.* 1100/);
});

/**
 * A WebSocket that cannot be opened: the client fails before anything is sent, and after all that needs no transport.
 */
class NoWebSocket {
  constructor() {
    throw new Error('no way');
  }
}

test('tokens come in any form, and with any channels or none', async () => {
  const token = await demo.server.token();
  (await join({ token: token.buffer })).disconnect();
  const error = await refusedAs('INVALID_TOKEN', 'token', join({ token: token.subarray(1) }));
  assert.ok(error.cause instanceof MisuseError);
  assert.equal(error.message, error.cause.message);

  const passes = async (options) =>
    assert.ok(
      (await failure(join({ ...options, WebSocket: NoWebSocket }))) instanceof ConnectError,
    );
  const channels = [reliable()];
  const narrow = await demo.server.token({ channels });
  await passes({ token: narrow, channels });
  await refusedAs('SCHEMA', 'token', join({ token: narrow }));
  await passes({ token: await demo.server.token({ schema: undefined }) });
});

const ownCore = () => loadCore({ wasm: readFileSync(new URL('causeway.wasm', dist)) });

/** Returns whether the memory of a core stays as it is when `act` is repeated again and again. */
const keepsMemory = async (core, act) => {
  for (let i = 0; i < 4; i++) await act();
  const before = core.memory.bytes.length;
  for (let i = 0; i < 100; i++) await act();
  assert.equal(core.memory.bytes.length, before);
};

test('attempts that fail leave no memory taken', async () => {
  const core = await ownCore();
  const token = await demo.server.token();
  await keepsMemory(core, () => failure(join({ core, token, WebSocket: NoWebSocket })));
  await keepsMemory(core, () => failure(join({ core, token: new Uint8Array(2048) })));
});

test('no secret of a token stays in memory', async () => {
  const core = await ownCore();
  const token = await demo.server.token();
  // The two keys are the last fields but for the padding: they come after one IPv4 address.
  const keysAt = 13 + 3 * 8 + 24 + 1024 + 4 + 4 + (1 + 4 + 2);
  const keys = [keysAt, keysAt + 32].map((place) => Buffer.from(token.subarray(place, place + 32)));
  const places = () => keys.filter((key) => Buffer.from(core.memory.bytes.buffer).includes(key));
  const spoilt = Uint8Array.from(token);
  spoilt[0] ^= 1;
  await refusedAs('INVALID_TOKEN', 'token', join({ core, token: spoilt }));
  assert.equal(places().length, 0);
  await failure(join({ core, token, WebSocket: NoWebSocket }));
  assert.equal(places().length, 0);
  const client = await join({ core, token });
  assert.equal(places().length, 2);
  client.disconnect();
  assert.equal(places().length, 0);
});
