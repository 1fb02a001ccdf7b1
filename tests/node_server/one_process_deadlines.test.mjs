// Sessions and links of a server that takes browsers itself end when their time is up. The time is the test's.
import assert from 'node:assert/strict';
import { EventEmitter } from 'node:events';
import { test } from 'node:test';
import { BrowserLink } from '../../web/dist/server/browsers/link.js';
import { BrowserSession } from '../../web/dist/server/browsers/session.js';

const OPEN = 1;
const now = () => performance.now() / 1000;

/** Makes a WebSocket that keeps what was called. */
class Socket extends EventEmitter {
  calls = [];
  bufferedAmount = 0;
  readyState = OPEN;

  constructor() {
    super();
    for (const name of ['send', 'ping', 'pause', 'resume', 'close', 'terminate'])
      this[name] = (...values) => {
        this.calls.push([name, ...values]);
        if (name === 'close' || name === 'terminate') this.emit('close', values[0] ?? 1006);
      };
  }

  /** Returns the values of the calls of a method. */
  of(name) {
    return this.calls.filter(([each]) => each === name).map(([, ...values]) => values);
  }
}

const VISITOR = { address: '127.0.0.1:1', owner: '127.0.0.1' };

/** Starts a session with a link, whose client the server has or has not. */
function start({ isClient = true, key = 'key' } = {}) {
  const state = { isClient, ended: 0, datagrams: 0, dropped: 0 };
  const session = new BrowserSession('100::1:0', key, VISITOR, {
    datagramsPerSecond: 100,
    datagram: () => {
      state.datagrams++;
      return state.isClient;
    },
    hasClient: () => state.isClient,
    dropped: () => state.dropped++,
    ended: () => state.ended++,
  });
  const connect = () => {
    const socket = new Socket();
    const connection = new EventEmitter();
    session.join(new BrowserLink(socket, connection), VISITOR);
    return { socket, connection };
  };
  return { state, session, connect, ...connect() };
}

const datagram = new Uint8Array(100);
const says = (socket) => socket.emit('message', datagram, true);

test('a session without a datagram either way ends after two minutes', () => {
  for (const [wait, calls] of [
    [119, []],
    [121, [[4000, 'idle']]],
  ]) {
    const { state, session, socket } = start();
    says(socket);
    session.look(now() + wait);
    assert.deepEqual([state.ended, socket.of('close')], [calls.length, calls]);
  }
});

test('a session whose client the server has given up ends ten seconds later', () => {
  const { state, session, socket } = start();
  says(socket);
  session.look(now() + 20);
  state.isClient = false;
  session.look(now() + 29);
  assert.equal(state.ended, 0);
  session.look(now() + 31);
  assert.deepEqual(socket.of('close'), [[4002, 'the game server does not answer']]);
});

test('a browser that does not answer a ping is cut off', () => {
  const { session, socket } = start();
  says(socket);
  for (let second = 1; second <= 59; second++) session.look(now() + second);
  assert.equal(socket.of('ping').length, 1);
  assert.equal(socket.of('terminate').length, 0);
  session.look(now() + 61);
  assert.equal(socket.of('terminate').length, 1);
});

test('a browser that does not read its answers is cut off', () => {
  const { session, socket } = start();
  socket.bufferedAmount = 2 << 20;
  session.look(now());
  assert.equal(socket.of('terminate').length, 1);
});

for (const [code, wait] of [
  [1001, 3],
  [1005, 15],
  [1006, 15],
])
  test(`a player whose link ends with ${code} has ${wait} s to come back`, () => {
    const { state, session, socket, connect } = start();
    says(socket);
    socket.emit('close', code);
    session.look(now() + wait - 1);
    assert.equal(state.ended, 0);
    const next = connect();
    session.look(now() + wait + 1);
    assert.equal(state.ended, 0);
    next.socket.emit('close', code);
    session.look(now() + wait + 1);
    assert.equal(state.ended, 1);
  });

for (const [what, code, options] of [
  ['is closed with 1000', 1000, {}],
  ['has no key', 1006, { key: '' }],
  ['was never answered', 1006, { isClient: false }],
])
  test(`a session whose only link ${what} ends at once`, () => {
    const { state, socket } = start(options);
    says(socket);
    socket.emit('close', code);
    assert.equal(state.ended, 1);
  });

test('a link that has been replaced does not end the session', () => {
  const { state, session, socket, connect } = start();
  says(socket);
  const next = connect();
  assert.deepEqual(socket.of('close'), [[4003, 'another link took its place']]);
  says(socket);
  assert.equal(state.datagrams, 1);
  says(next.socket);
  assert.equal(state.datagrams, 2);
  session.look(now() + 30);
  assert.equal(state.ended, 0);
});

test('datagrams for a browser that is slow or away are dropped', () => {
  const { session, socket } = start();
  says(socket);
  assert.ok(session.send(datagram));
  socket.bufferedAmount = 65536;
  assert.ok(!session.send(datagram));
  socket.emit('close', 1006);
  assert.ok(!session.send(datagram));
  assert.equal(socket.of('send').length, 1);
});

test('a client sends a quarter of a second at once, a stranger twenty datagrams, over all links', (t) => {
  // The clock stands, because a slow machine would refill the allowance between two datagrams.
  t.mock.method(performance, 'now', () => 1000);
  for (const [isClient, most] of [
    [true, 25 + 1],
    [false, 20],
  ]) {
    const { state, socket, connect } = start({ isClient });
    for (let i = 0; i < 40; i++) says(socket);
    const { socket: other } = connect();
    for (let i = 0; i < 40; i++) says(other);
    assert.equal(state.datagrams, most);
    assert.equal(state.dropped, 80 - most);
    assert.ok(socket.of('pause').length > 0);
    other.emit('close', 1006);
  }
});

test('bytes that are no messages are counted too', () => {
  const { state, socket, connection } = start({ isClient: false });
  connection.emit('data', { length: 50_000 });
  assert.equal(socket.of('pause').length, 0);
  connection.emit('data', { length: 10_000 });
  assert.equal(socket.of('pause').length, 1);
  assert.equal(state.dropped, 0);
  socket.emit('close', 1006);
});
