// The listeners that the messages of a connection go to: they come and go in every way that the platform knows, and no
// message is lost, doubled or out of order. The other end is driven by hand.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { loadCore, message, reliable, schema, uint } from '../support/causeway.mjs';
import { startDrivenHost } from '../support/driven_host.mjs';

const core = await loadCore();
const types = schema(message('count', { n: uint(0, 2 ** 32 - 1) }));
const config = { channels: [reliable()] };
/** Returns a connection, and `arrive(count)`, after which so many more messages have reached it. */
const start = (t) => {
  const { host: connection, far, end, flush } = startDrivenHost(t, core, types, config);
  let sent = 0;
  const arrive = (count) => {
    for (let i = 0; i < count; i++) far.send(0, 'count', { n: sent++ }, performance.now() / 1000);
    flush();
  };
  return { connection, arrive, end };
};

/** Returns a listener, and the numbers of the messages that it was called with. */
const listener = (more = () => {}) => {
  const seen = [];
  const listen = (event) => {
    seen.push(event.message.value.n);
    more(event);
  };
  return Object.assign(listen, { seen });
};

const rest = (connection) => {
  const numbers = [];
  for (let each = connection.next(); each; each = connection.next()) numbers.push(each.value.n);
  return numbers;
};

const range = (from, to) => Array.from({ length: to - from }, (_, i) => from + i);

/** The ways in which a listener comes and, before the next message, is gone again. */
const goers = {
  once: (connection, listen) => connection.addEventListener('message', listen, { once: true }),
  removed: (connection, listen) => {
    const gone = (event) => {
      listen(event);
      connection.removeEventListener('message', gone);
    };
    connection.addEventListener('message', gone);
  },
  'removed, a capture': (connection, listen) => {
    const gone = (event) => {
      listen(event);
      connection.removeEventListener('message', gone, { capture: true });
    };
    connection.addEventListener('message', gone, { capture: true });
  },
  'a signal': (connection, listen) => {
    const controller = new AbortController();
    const gone = (event) => {
      listen(event);
      controller.abort();
    };
    connection.addEventListener('message', gone, { signal: controller.signal });
  },
  'an object': (connection, listen) => {
    const gone = {
      handleEvent(event) {
        assert.equal(this, gone);
        listen(event);
        connection.removeEventListener('message', gone);
      },
    };
    connection.addEventListener('message', gone);
  },
};

for (const [name, come] of Object.entries(goers)) {
  test(`what comes after the last listener has gone waits: ${name}`, async (t) => {
    const { connection, arrive } = start(t);
    const first = listener();
    come(connection, first);
    arrive(4);
    assert.deepEqual(first.seen, [0]);
    arrive(2);
    assert.deepEqual(first.seen, [0]);
    assert.equal(connection.next().value.n, 1);

    // The next listener takes a message at once; then next() takes some, then a loop.
    const second = listener();
    come(connection, second);
    assert.deepEqual(second.seen, [2]);
    assert.deepEqual(rest(connection), [3, 4, 5]);
    const looped = [];
    const loop = (async () => {
      for await (const { value } of connection) if (looped.push(value.n) === 3) return;
    })();
    arrive(3);
    await loop;
    assert.deepEqual(looped, [6, 7, 8]);
    assert.equal(connection.channelStats(0).received, 9);
  });
}

test('a listener gets all that waited, and all that comes', (t) => {
  const { connection, arrive } = start(t);
  arrive(3);
  const all = listener();
  connection.addEventListener('message', all);
  arrive(3);
  assert.deepEqual(all.seen, range(0, 6));
  assert.equal(connection.next(), undefined);
});

test('a tracked message tells its fate while those that arrived wait', async (t) => {
  const { connection, arrive } = start(t);
  arrive(3);
  const acks = setInterval(() => arrive(0), 5);
  try {
    assert.equal(await connection.track(0, 'count', { n: 9 }), 'acked');
  } finally {
    clearInterval(acks);
  }
  assert.deepEqual(rest(connection), [0, 1, 2]);
});

test('who is a listener is the platform’s business', (t) => {
  const { connection, arrive } = start(t);
  const all = listener();
  // A listener that is added twice is called once; a capturing one is another one.
  connection.addEventListener('message', all);
  connection.addEventListener('message', all);
  arrive(1);
  assert.deepEqual(all.seen, [0]);
  connection.addEventListener('message', all, true);
  arrive(1);
  assert.deepEqual(all.seen, [0, 1, 1]);
  connection.removeEventListener('message', all);
  arrive(1);
  assert.deepEqual(all.seen, [0, 1, 1, 2]);
  connection.removeEventListener('message', all, { capture: true });
  connection.removeEventListener('message', all);
  connection.removeEventListener('message', () => {});
  connection.removeEventListener('message', null);
  arrive(2);
  assert.deepEqual(rest(connection), [3, 4]);

  // A signal that was aborted before adds nothing.
  connection.addEventListener('message', all, { signal: AbortSignal.abort() });
  arrive(1);
  assert.deepEqual(rest(connection), [5]);

  // A listener to another event does not take messages.
  connection.addEventListener('close', () => {});
  arrive(1);
  assert.deepEqual(rest(connection), [6]);

  // A listener that stops the event has taken it.
  const last = listener((event) => event.stopImmediatePropagation());
  connection.addEventListener('message', last);
  connection.addEventListener('message', all);
  arrive(2);
  assert.deepEqual(last.seen, [7, 8]);
  assert.deepEqual(all.seen, [0, 1, 1, 2]);
});

test('a listener is called as the platform calls it', (t) => {
  const { connection, arrive } = start(t);
  let called;
  connection.addEventListener('message', function (event) {
    called = [this, event.currentTarget, event.type];
  });
  arrive(1);
  assert.deepEqual(called, [connection, connection, 'message']);
});

test('a listener that throws has had its message, and the next one comes', async (t) => {
  const { connection, arrive } = start(t);
  const errors = [];
  const note = (error) => void errors.push(error.message);
  process.setUncaughtExceptionCaptureCallback(note);
  try {
    const all = listener(({ message: { value } }) => {
      if (value.n < 2) throw new Error(`thrown ${value.n}`);
    });
    connection.addEventListener('message', all);
    arrive(4);
    assert.deepEqual(all.seen, range(0, 4));
    connection.removeEventListener('message', all);
    arrive(1);
    assert.deepEqual(rest(connection), [4]);
    await new Promise((resolve) => setImmediate(resolve));
  } finally {
    process.setUncaughtExceptionCaptureCallback(null);
  }
  assert.deepEqual(errors, ['thrown 0', 'thrown 1']);
});

test('listeners that add and remove others see messages in order', (t) => {
  const { connection, arrive } = start(t);
  const order = [];
  const second = ({ message: { value } }) => order.push(`b${value.n}`);
  const first = ({ message: { value } }) => {
    if (value.n === 1) connection.addEventListener('message', second);
    if (value.n === 3) connection.removeEventListener('message', second);
    order.push(`a${value.n}`);
  };
  connection.addEventListener('message', first);
  arrive(5);
  assert.deepEqual(order, ['a0', 'a1', 'a2', 'b2', 'a3', 'a4']);
});

test('a listener may take messages itself', (t) => {
  const { connection, arrive } = start(t);
  const pairs = [];
  connection.addEventListener('message', ({ message: { value } }) =>
    pairs.push([value.n, connection.next()?.value.n]),
  );
  arrive(5);
  assert.deepEqual(pairs, [
    [0, 1],
    [2, 3],
    [4, undefined],
  ]);
});

test('the end is told after the last message, and what was not heard can still be taken', async (t) => {
  const { connection, arrive, end } = start(t);
  const calls = [];
  connection.addEventListener('message', ({ message: { value } }) => calls.push(value.n), {
    once: true,
  });
  connection.addEventListener('close', () => calls.push('close'));
  arrive(3);
  end();
  await connection.closed;
  assert.deepEqual(calls, [0, 'close']);
  const looped = [];
  for await (const { value } of connection) looped.push(value.n);
  assert.deepEqual(looped, [1, 2]);
});
