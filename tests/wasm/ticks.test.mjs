// The times at which a host ticks, by a clock that the test sets and timers that run when it says so.
import assert from 'node:assert/strict';
import { afterEach, beforeEach, mock, test } from 'node:test';
import { ConnectionHost, loadCore, message, schema, uint } from '../support/causeway.mjs';

const core = await loadCore();
const numbers = schema(message('number', { n: uint(0, 1000) }));

let now;
/** The function that the host's timer calls. */
let fire;
let host;
let sent;
let transport;

beforeEach(() => {
  now = 1000;
  mock.method(performance, 'now', () => now);
  mock.method(globalThis, 'setInterval', (run) => {
    fire = run;
  });
});

afterEach(() => {
  host.close();
  mock.restoreAll();
  delete globalThis.document;
});

/** Starts a host that ticks every 100 ms, and notes each datagram that it sends. */
function start() {
  sent = [];
  let ended;
  const closed = new Promise((resolve) => {
    ended = resolve;
  });
  transport = {
    kind: 'websocket',
    state: 'open',
    maxDatagramSize: 1100,
    ondatagram: null,
    closed,
    send: (datagram) => Boolean(sent.push(datagram)),
    stats: () => ({}),
    close: () => ended({ code: 1000, reason: '' }),
  };
  host = new ConnectionHost(core, numbers, transport, { ticksPerSecond: 10 });
}

/** Returns the number of datagrams sent during `what`: the message waits for a tick, so they show ticks. */
function ticksDuring(what) {
  const before = sent.length;
  host.send(0, 'number', { n: 1 });
  what();
  return sent.length - before;
}

/** Lets something arrive, even if the host understands nothing of it. */
const arrive = () => transport.ondatagram(Uint8Array.of(1, 2, 3));

test('a tick that is late runs when anything arrives', () => {
  start();
  now += 99;
  assert.equal(ticksDuring(arrive), 0);
  now += 1;
  assert.equal(ticksDuring(arrive), 1);
});

test('many arrivals at once are no reason for more ticks', () => {
  start();
  now += 60_000;
  const ticks = ticksDuring(() => {
    for (let i = 0; i < 100; i++) arrive();
  });
  assert.equal(ticks, 1);
});

test('a timer after a tick that was made up for is too early', () => {
  start();
  now += 101;
  assert.equal(ticksDuring(arrive), 1);
  now += 1;
  assert.equal(ticksDuring(fire), 0);
  now += 98;
  assert.equal(ticksDuring(fire), 1);
});

test('nothing ticks after the end', async () => {
  start();
  host.close();
  await host.closed;
  now += 1000;
  const before = sent.length;
  arrive();
  fire();
  assert.equal(sent.length, before);
});

/** Starts a page with a document that a test can hide. */
function startPage() {
  const page = new EventTarget();
  page.hidden = false;
  page.show = (shown) => {
    page.hidden = !shown;
    page.dispatchEvent(new Event('visibilitychange'));
  };
  globalThis.document = page;
  return page;
}

/** Calls `run` with a Worker of the test's own. */
function withWorkers(Worker, run) {
  const given = globalThis.Worker;
  globalThis.Worker = Worker;
  try {
    return run();
  } finally {
    globalThis.Worker = given;
  }
}

test('a Worker wakes a page while it is hidden, and no longer', () => {
  const page = startPage();
  const running = new Set();
  class Worker {
    constructor() {
      running.add(this);
    }
    terminate() {
      running.delete(this);
    }
  }
  withWorkers(Worker, () => {
    start();
    assert.equal(running.size, 0);
    page.show(false);
    const [worker, ...others] = running;
    assert.deepEqual(others, []);
    now += 100;
    assert.equal(
      ticksDuring(() => worker.onmessage()),
      1,
    );
    page.show(true);
    assert.equal(running.size, 0);
    page.show(false);
    assert.equal(running.size, 1);
    host.close();
  });
  return host.closed.then(() => assert.equal(running.size, 0));
});

test('a page that is hidden from the start is woken too', () => {
  startPage().hidden = true;
  let workers = 0;
  withWorkers(
    class {
      constructor() {
        workers++;
      }
      terminate() {}
    },
    start,
  );
  assert.equal(workers, 1);
});

test('a page that may have no Worker does without', () => {
  const page = startPage();
  withWorkers(
    class {
      constructor() {
        throw new DOMException('the policy forbids it', 'SecurityError');
      }
    },
    () => {
      start();
      page.show(false);
    },
  );
  now += 100;
  assert.equal(ticksDuring(arrive), 1);
});
