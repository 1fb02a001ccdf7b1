// Clients in a Worker, which here is a thread of Node, through the real relay.
import assert from 'node:assert/strict';
import { getEventListeners, once } from 'node:events';
import { afterEach, test } from 'node:test';
import { ConnectionError, ConnectError, MisuseError, dist } from '../support/causeway.mjs';
import { own } from '../support/fixture.mjs';
import { messages, startSecureServer } from '../support/secure.mjs';
import { openThread } from '../support/worker_thread.mjs';
import { RTCPeerConnection } from '../support/wrtc.mjs';
import { PATIENCE_MS, sleep, until } from '../support/patience.mjs';
import { failure } from '../support/failure.mjs';

const { connectInWorker } = await import(new URL('worker/index.js', dist));

const clients = [];

const place = await startSecureServer(test);

afterEach(async () => {
  for (const client of clients.splice(0)) {
    client.disconnect();
    await client.closed;
  }
  delete globalThis.RTCPeerConnection;
});

async function join(options = {}) {
  const client = await connectInWorker(place.url, {
    token: () => place.server.token(),
    schema: messages,
    worker: openThread,
    ...options,
  });
  clients.push(client);
  return client;
}

/** Says so many numbers, and returns what comes back. */
async function talk(client, count = 50) {
  const { index } = client.slot;
  const said = [];
  const note = ({ message: { type, value } }) =>
    type === 'said' && value.player === index && said.push(Number(value.text));
  client.addEventListener('message', note);
  for (let i = 0; i < count; i++) await client.send('say', { text: String(i) });
  await until('all is said', () => said.length === count);
  client.removeEventListener('message', note);
  assert.deepEqual(said, numbers(count));
}

/** Says so many numbers, and leaves what comes back untaken. */
async function sayAll(client, count) {
  for (let i = 0; i < count;) {
    const error = await client.send(0, 'say', { text: String(i) }).catch((reason) => reason);
    if (!error) i++;
    else if (error.code === 'QUEUE_FULL' || error.code === 'POOL_EMPTY') await sleep(5);
    else throw error;
  }
}

/** Returns the numbers that a client has said and that it takes now, up to so many. */
async function takeSaid(client, count) {
  const said = [];
  for await (const { type, value } of client) {
    if (type === 'said' && value.player === client.slot.index) said.push(Number(value.text));
    if (said.length === count) break;
  }
  return said;
}

const numbers = (count) => Array.from({ length: count }, (_, i) => i);

test('a client in a Worker connects, talks and leaves', async () => {
  const states = [];
  const client = await join({ onstate: (state) => states.push(state) });
  assert.deepEqual(states, ['opening', 'requesting', 'responding', 'connected']);
  assert.equal(client.state, 'connected');
  assert.equal(client.transport, 'websocket');
  assert.equal(client.offloaded, true);
  assert.equal(client.slot.count, 64);
  assert.equal(client.writable, true);
  await talk(client);
  const stats = await client.stats();
  assert.ok(stats.packetsAcked > 0 && stats.secure.datagramsSent > 0);
  assert.ok(stats.transport.datagramsSent > 0);
  assert.equal((await client.channelStats(0)).delivered, 50);
  assert.equal(await client.track(0, 'say', { text: 'tracked' }), 'acked');

  const ended = once(client, 'disconnect');
  client.disconnect();
  const how = { reason: 'client', message: 'this side has disconnected', code: 0, text: '' };
  assert.deepEqual(await client.closed, how);
  const [{ reason, message, code, text }] = await ended;
  assert.deepEqual({ reason, message, code, text }, how);
  assert.equal(client.state, 'disconnected');
  assert.ok((await client.stats()).packetsAcked >= stats.packetsAcked);
  const late = await failure(client.send(0, 'say', { text: 'late' }));
  assert.ok(late instanceof ConnectionError);
  assert.equal(late.code, 'CLOSED');
});

test('while the page is busy the Worker goes on sending', async () => {
  const sent = new Int32Array(new SharedArrayBuffer(4));
  const client = await join({ ticksPerSecond: 50, worker: () => openThread(sent) });
  await talk(client);
  // Nothing of this thread runs until so many datagrams have left.
  for (let left = 20; left > 0; left--)
    assert.notEqual(Atomics.wait(sent, 0, sent[0], PATIENCE_MS), 'timed-out');
});

test('errors arrive with their classes and fields', async (t) => {
  const client = await join({ token: () => place.server.token({ timeoutSeconds: 60 }) });
  const range = await failure(client.send(1, 'move', { x: 'far', y: 0 }));
  assert.ok(range instanceof TypeError || range instanceof RangeError, String(range));
  assert.match(range.message, /move\.x/);
  const uncloneable = await failure(client.send(0, 'say', { text: () => {} }));
  assert.equal(uncloneable.name, 'DataCloneError');
  own(t, () => place.server.kill('SIGCONT'));
  place.server.kill('SIGSTOP'); // nothing is acked
  const sent = Array.from({ length: 400 }, () => client.send(0, 'say', { text: 'x' }));
  const errors = (await Promise.allSettled(sent)).map(({ reason }) => reason).filter(Boolean);
  assert.ok(errors.length > 0);
  for (const error of errors) {
    assert.ok(error instanceof ConnectionError, String(error));
    assert.ok(['QUEUE_FULL', 'POOL_EMPTY'].includes(error.code));
  }
  assert.equal(client.writable, false);
  const drained = once(client, 'drain');
  place.server.kill('SIGCONT');
  await drained;
  assert.equal(client.writable, true);

  const stranger = await failure(join({ token: new Uint8Array(2048) }));
  assert.ok(stranger instanceof ConnectError, String(stranger));
  assert.deepEqual([stranger.code, stranger.stage], ['INVALID_TOKEN', 'token']);
  const nowhere = await failure(
    connectInWorker('http://127.0.0.1:1/', {
      token: await place.server.token(),
      schema: messages,
      worker: openThread,
      transports: ['websocket'],
    }),
  );
  assert.ok(nowhere instanceof ConnectError && nowhere.retryable);
  assert.ok(nowhere.errors[0] instanceof ConnectError);
  assert.equal(nowhere.errors[0].stage, 'handshake');
  const config = await failure(join({ maxMessages: 0 }));
  assert.ok(config instanceof MisuseError, String(config));
});

test('a page that takes no messages holds the sender back, and loses none', async () => {
  const client = await join({ maxReceivedMessages: 32 });
  // The most that are received: those in the page's window, those that the Worker's core may keep, and the one that its
  // client holds out.
  const most = 64 + 32 + 1;
  // The rest fits into the server's queue of 256, beside other messages of the server.
  const count = 120;
  await sayAll(client, count);
  await until('all are at the server', async () => {
    const { delivered } = await client.channelStats(0);
    return delivered === count;
  });
  await sleep(300);
  const { received } = await client.channelStats(0);
  assert.ok(received <= most, `${received} messages were received`);
  assert.deepEqual(await takeSaid(client, count), numbers(count));
});

test('what has arrived can be taken after the end, also what the Worker still had', async () => {
  const client = await join();
  // This is more than the page's window, and no more than the core of the Worker keeps.
  const count = 100;
  await sayAll(client, count);
  await until('all have come back', async () => (await client.channelStats(0)).received === count);
  client.disconnect();
  await client.closed;
  const said = [];
  for await (const { type, value } of client) if (type === 'said') said.push(Number(value.text));
  assert.deepEqual(said, numbers(count));
});

test('a token function lets it connect again, in another Worker', async () => {
  const threads = [];
  const client = await join({
    worker: () => {
      threads.push(openThread());
      return threads[threads.length - 1];
    },
  });
  const exited = once(threads[0].thread, 'exit');
  await assert.rejects(client.reconnect(), { code: 'CONNECTED' });
  client.disconnect();
  const how = await client.closed;
  const stats = await client.stats();
  const again = client.reconnect();
  // A message of the old Worker is not of this connection.
  threads[0].onmessage({ data: { name: 'end', args: [how, stats] } });
  await again;
  assert.equal(client.state, 'connected');
  await talk(client, 5);
  assert.equal(threads.length, 2);
  await exited;
  const single = await join({ token: await place.server.token() });
  single.disconnect();
  await single.closed;
  await assert.rejects(single.reconnect(), { code: 'TOKEN_USED' });
});

test('an attempt to connect again that fails is told once', async () => {
  let fault;
  const client = await join({
    token: () => {
      if (fault) throw fault;
      return place.server.token();
    },
  });
  let ends = 0;
  client.addEventListener('disconnect', () => ends++);
  client.disconnect();
  await client.closed;
  fault = new Error('no token today');
  assert.equal(await failure(client.reconnect()), fault);
  assert.equal((await client.closed).message, 'no token today');
  assert.equal(ends, 1);
  const token = await place.server.token();
  assert.equal((await failure(join({ token, reconnect: true }))).code, 'INVALID_ARGUMENT');
});

test('an attempt is given up', async () => {
  const controller = new AbortController();
  const reason = new Error('enough');
  const attempt = failure(
    join({ signal: controller.signal, onstate: () => controller.abort(reason) }),
  );
  assert.equal(await attempt, reason);
});

test('what a callback throws ends the attempt', async () => {
  const reason = new Error('no');
  const refuse = () => {
    throw reason;
  };
  assert.equal(await failure(join({ token: refuse })), reason);
  assert.equal(await failure(join({ onstate: refuse })), reason);
});

test('a client that is disconnected while it reconnects has ended', async () => {
  const client = await join();
  client.disconnect();
  await client.closed;
  client.addEventListener('state', () => client.disconnect());
  const closed = await failure(client.reconnect());
  assert.equal(closed.code, 'CLOSED', String(closed));
  assert.equal((await client.closed).reason, 'client');
});

test('a page that is left ends its connection, and Back brings it again', async () => {
  const page = new EventTarget();
  const names = ['addEventListener', 'removeEventListener'];
  for (const name of names) globalThis[name] = page[name].bind(page);
  try {
    const client = await join();
    page.dispatchEvent(new Event('pagehide'));
    page.dispatchEvent(Object.assign(new Event('pageshow'), { persisted: true }));
    assert.equal((await client.closed).reason, 'client');
    await until('it is connected again', () => client.state === 'connected');
    await talk(client, 5);
    client.disconnect();
    await client.closed;
    for (const type of ['pagehide', 'pageshow'])
      assert.deepEqual(getEventListeners(page, type), []);
  } finally {
    for (const name of names) delete globalThis[name];
  }
});

test('a Worker that cannot run is told', async () => {
  const refused = await failure(
    join({
      worker: () => {
        throw new DOMException('the policy forbids it', 'SecurityError');
      },
    }),
  );
  assert.equal(refused.code, 'LOAD');
  const missing = await failure(
    join({
      worker: () => {
        const worker = { onmessage: null, onerror: null, postMessage() {}, terminate() {} };
        setImmediate(() => worker.onerror({ message: '' }));
        return worker;
      },
    }),
  );
  assert.equal(missing.code, 'LOAD');
  assert.match(missing.message, /worker-src/);
});

test('a Worker that says nothing is left', async () => {
  const reason = new Error('enough');
  const mute = { onmessage: null, onerror: null, postMessage() {}, terminate() {} };
  const controller = new AbortController();
  const attempt = failure(join({ worker: () => mute, signal: controller.signal }));
  setImmediate(() => controller.abort(reason));
  assert.equal(await attempt, reason);

  const threads = [];
  const client = await join({
    worker: () => {
      threads.push(openThread());
      return threads[threads.length - 1];
    },
  });
  const [stuck] = threads;
  const exited = once(stuck.thread, 'exit');
  stuck.postMessage = () => {};
  client.disconnect();
  assert.equal((await client.closed).reason, 'client');
  await exited;
  await client.reconnect();
  await talk(client, 5);
});

test('where a data channel cannot be handed over, its datagrams pass the page', async () => {
  globalThis.RTCPeerConnection = RTCPeerConnection;
  const client = await join({ transports: ['webrtc'] });
  assert.equal(client.transport, 'webrtc');
  assert.equal(client.offloaded, false);
  await talk(client);
});
