// Questions that get one answer, between a server of the package and its clients: in virtual time over bad paths, and
// over real sockets through the interface of an application.
import assert from 'node:assert/strict';
import { getEventListeners } from 'node:events';
import { test } from 'node:test';
import {
  ConnectionError,
  MisuseError,
  connect,
  dist,
  fingerprint,
  int,
  loadCore,
  loadServer,
  message,
  refuse,
  request,
  SimulatedNetwork,
  schema,
  string,
  uint,
} from '../support/causeway.mjs';
import { startDrivenHost } from '../support/driven_host.mjs';
import { failure } from '../support/failure.mjs';
import { own, repeat } from '../support/fixture.mjs';
import { nextEvent, startBot, startServer } from '../support/node_server.mjs';
import { Rig } from '../support/node_server_rig.mjs';
import { require } from '../support/packages.mjs';
import { patiently, sleep, until } from '../support/patience.mjs';
import { randomFrom } from '../support/random.mjs';
import { startGate } from '../support/secure.mjs';
import { openThread } from '../support/worker_thread.mjs';

const { WebSocket } = require('ws');
const { connectInWorker } = await import(new URL('worker/index.js', dist));

const types = schema(
  message('mark', { number: uint(0, 1_000_000) }),
  request('double', { number: uint(0, 1_000_000) }, { number: uint(0, 2_000_000) }),
  request('greet', {}, { text: string(20) }),
);
const RELIABLE = 0;
const UNRELIABLE = 1;

// In virtual time

/** Answers each question among these events once. */
const answerAll = (events, end, rig) => {
  for (const { type, request: number, question } of events.splice(0)) {
    assert.equal(type, 'request');
    end.answer(number, question.type, { number: 2 * question.value.number }, rig.now);
  }
};

test('every question is answered once over a bad path, both ways, on both kinds of channels', async () => {
  const rig = new Rig({ schema: types });
  const joined = await rig.joined();
  const ends = [rig.connections.get(joined.slot), joined.client.client];
  const random = randomFrom(7);
  rig.lose = () => random() < 0.3;
  const taken = [rig.taken.get(joined.slot) ?? [], joined.client.receipts];
  rig.taken.set(joined.slot, taken[0]);
  const asked = [new Map(), new Map()];
  const questions = [0, 0];
  const answers = [0, 0];
  let next = 1;
  rig.run(120, () => {
    ends.forEach((end, side) => {
      const events = taken[side].splice(0);
      answerAll(
        events.filter(({ type }) => type === 'request'),
        end,
        rig,
      );
      questions[side] += events.filter(({ type }) => type === 'request').length;
      for (const { type, request: number, value } of events) {
        if (type === 'request') continue;
        assert.equal(type, 'answer');
        assert.deepEqual(value, { number: 2 * asked[side].get(number) });
        asked[side].delete(number);
        answers[side]++;
      }
      if (next > 600 || random() < 0.7) return;
      const number = next++;
      const channel = number % 2 === 0 ? RELIABLE : UNRELIABLE;
      asked[side].set(end.request(channel, 'double', { number }, rig.now, 60), number);
    });
    return next > 600 && asked.every(({ size }) => size === 0);
  });
  assert.deepEqual(answers, [questions[1], questions[0]]);
  assert.equal(answers[0] + answers[1], 600);
});

test('a question on an unreliable channel is sent again, and the answer too', async () => {
  const rig = new Rig({ schema: types });
  const { client, slot } = await rig.joined();
  client.client.request(UNRELIABLE, 'double', { number: 4 }, rig.now, 60);
  const events = () => rig.taken.get(slot) ?? [];
  rig.run(0.5, () => events().length > 0);
  rig.lose = () => true;
  answerAll(events(), rig.connections.get(slot), rig);
  rig.run(0.5);
  rig.lose = () => false;
  rig.run(10, () => client.receipts.length > 0);
  assert.deepEqual(client.receipts[0].value, { number: 8 });
  assert.equal(events().length, 0);
  assert.ok(client.client.channelStats(UNRELIABLE).sent > 1);
});

for (const channel of [RELIABLE, UNRELIABLE])
  test(`a question has an end without an answer, on channel ${channel}`, async () => {
    const rig = new Rig({ schema: types });
    const { client, slot } = await rig.joined();
    const connection = rig.connections.get(slot);
    const ask = (seconds) =>
      client.client.request(channel, 'double', { number: 1 }, rig.now, seconds);
    const fates = () => client.receipts.splice(0);
    const late = ask(1);
    rig.run(0.9);
    assert.deepEqual(fates(), []);
    rig.run(0.2);
    const end = (number, reason, code) => ({ type: 'unanswered', request: number, reason, code });
    assert.deepEqual(fates(), [end(late, 'timedOut', 0)]);
    answerAll(rig.taken.get(slot), connection, rig);
    rig.run(1);
    assert.deepEqual(fates(), []);

    const refused = ask(5);
    rig.run(0.3);
    const [question] = rig.taken.get(slot).splice(0);
    connection.refuse(question.request, 404, rig.now);
    assert.throws(() => connection.refuse(question.request, 404, rig.now), { code: 'NOT_ASKED' });
    rig.run(0.3);
    assert.deepEqual(fates(), [end(refused, 'refused', 404)]);

    client.client.cancel(ask(1));
    rig.run(2);
    assert.deepEqual(fates(), []);

    const left = ask(60);
    rig.server.disconnect(slot, { code: 0, text: '' }, 0, rig.now);
    rig.run(0.5);
    client.take();
    assert.deepEqual(fates(), [end(left, 'closed', 0)]);
  });

test('a server is told of its questions to a client that leaves', async () => {
  const rig = new Rig({ schema: types });
  const { client, slot } = await rig.joined();
  const number = rig.connections.get(slot).request(RELIABLE, 'double', { number: 3 }, rig.now, 60);
  client.client.disconnect();
  rig.run(0.5);
  assert.deepEqual(rig.taken.get(slot), [
    { type: 'unanswered', request: number, reason: 'closed', code: 0 },
  ]);
  assert.equal(rig.events.at(-1).type, 'disconnect');
});

test('what is no request or no answer is refused by name, and takes no place', async () => {
  const rig = new Rig({ schema: types, maxRequests: 1 });
  const { client, slot } = await rig.joined();
  const ask = (type, value, seconds = 5, channel = 0) =>
    client.client.request(channel, type, value, rig.now, seconds);
  for (let i = 0; i < 300; i++) {
    assert.throws(() => ask('mark', { number: 1 }), {
      code: 'NOT_A_REQUEST',
      message: /not the question of a request/,
    });
    assert.throws(() => ask('double', { number: -1 }), { message: /^double\.number: -1/ });
    assert.throws(() => ask('double', undefined), { message: /^double\.number: undefined/ });
    assert.throws(() => ask('triple', {}), /no message triple/);
    assert.throws(() => ask('greet', {}, 0), { code: 'INVALID_ARGUMENT' });
    assert.throws(() => ask('greet', {}, 5, 2), /2 is no channel/);
  }
  ask('double', { number: 1 });
  assert.throws(() => ask('greet', {}), {
    code: 'REQUESTS_FULL',
    message: /requests are still open/,
  });
  rig.run(0.3);
  const connection = rig.connections.get(slot);
  const [{ request: number }] = rig.taken.get(slot);
  const answer = (type, value) => connection.answer(number, type, value, rig.now);
  for (let i = 0; i < 300; i++) {
    assert.throws(() => answer('greet', { text: 'ho' }), { code: 'MESSAGE_TYPE' });
    assert.throws(() => answer('double', {}), /^TypeError: double_answer\.number: undefined/);
  }
  answer('double', { number: 2 });
  rig.run(0.3);
  assert.deepEqual(client.receipts[0].value, { number: 2 });
});

// Over real sockets

const start = async (t, options) => {
  const server = await startServer(t, { schema: types, ...options });
  return { server, ...(await startBot(t, server, { schema: types, ...options })) };
};

/** A server that doubles, and a client that is behind its relay or in a Worker. */
const startPage = async (t, inWorker, config) => {
  const server = await startServer(t, { schema: types, ...config });
  const relay = await startGate(t, { upstream: server.address });
  const connecting = nextEvent(server, 'connect');
  const token = () => server.generateConnectToken({ clientId: 1n });
  const options = { token, schema: types, transports: ['websocket'], ...config };
  const bot = inWorker
    ? await connectInWorker(relay.url, { ...options, worker: openThread })
    : await connect(relay.url, { ...options, WebSocket });
  own(t, () => bot.disconnect());
  return { server, bot, client: (await connecting).client };
};

const places = {
  'over UDP': start,
  'in a page': (t, config) => startPage(t, false, config),
  'in a Worker': (t, config) => startPage(t, true, config),
};

for (const [where, open] of Object.entries(places)) {
  test(`both ends ask and answer ${where}`, async (t) => {
    const { server, bot, client } = await open(t);
    server.answer('double', ({ number }, from) => {
      assert.equal(from, client);
      return { number: 2 * number };
    });
    server.answer('greet', () => ({ text: 'nobody' }));
    client.answer('greet', async () => ({ text: 'you' }));
    bot.answer('double', async ({ number }) => ({ number: number + 1 }));
    const all = Array.from({ length: 30 }, (_, number) => number);
    const answered = await Promise.all(
      all.map((number) => bot.request('double', { number }, { channel: number % 2 })),
    );
    assert.deepEqual(
      answered,
      all.map((number) => ({ number: 2 * number })),
    );
    assert.deepEqual(await bot.request('greet', {}), { text: 'you' });
    client.answer('greet', null);
    assert.deepEqual(await bot.request('greet', {}), { text: 'nobody' });
    assert.deepEqual(await client.request('double', { number: 7 }), { number: 8 });
  });

  test(`a request fails with an error that says why ${where}`, async (t) => {
    const { server, bot, client } = await open(t);
    const ask = (options) => failure(bot.request('double', { number: 1 }, options));
    const none = await ask();
    assert.ok(none instanceof ConnectionError);
    assert.deepEqual([none.name, none.code, none.refusal], ['ConnectionError', 'REFUSED', 65534]);
    assert.match(none.message, /no function answers it/);

    server.answer('double', () => refuse(404));
    assert.equal((await ask({ channel: UNRELIABLE })).refusal, 404);
    const unheard = await failure(client.request('greet', {}));
    assert.equal(unheard.refusal, 65534);
    bot.answer('greet', () => refuse(7, 'seven'));
    assert.equal((await failure(client.request('greet', {}))).refusal, 7);

    server.answer('double', () => new Promise(() => {}));
    const late = await ask({ timeoutSeconds: 0.05 });
    assert.ok(late instanceof ConnectionError);
    assert.deepEqual([late.name, late.code], ['ConnectionError', 'TIMED_OUT']);
    assert.equal(late.message, 'double: no answer came in 0.05 s');

    const abort = new AbortController();
    const cancelled = ask({ signal: abort.signal, timeoutSeconds: 3600 });
    abort.abort(new Error('not any more'));
    const { message: why } = await patiently(cancelled, 'the request to be given up');
    assert.equal(why, 'not any more');
    assert.equal((await ask({ signal: abort.signal })).message, 'not any more');
    assert.equal(getEventListeners(abort.signal, 'abort').length, 0);

    assert.ok((await ask({ channel: 2 })) instanceof RangeError);
    assert.equal((await ask({ timeoutSeconds: 0 })).code, 'INVALID_ARGUMENT');
    const wrong = await failure(bot.request('mark', { number: 1 }));
    assert.ok(wrong instanceof MisuseError);
    assert.equal(wrong.code, 'NOT_A_REQUEST');

    const left = ask();
    client.kick();
    assert.equal((await left).code, 'CLOSED');
    assert.equal((await ask()).code, 'CLOSED');
    assert.equal((await failure(client.request('greet', {}))).code, 'CLOSED');
  });

  test(`requests that are given up, late or answered leave their places ${where}`, async (t) => {
    const { server, bot } = await open(t, { maxRequests: 2 });
    server.answer('double', () => new Promise(() => {}));
    server.answer('greet', () => ({ text: 'ho' }));
    const abort = new AbortController();
    const ask = (options) =>
      [1, 2].map((number) => failure(bot.request('double', { number }, options)));
    const given = ask({ signal: abort.signal, timeoutSeconds: 3600 });
    const full = await failure(bot.request('greet', {}));
    assert.equal(full.code, 'REQUESTS_FULL');
    abort.abort();
    // Nobody waits for the ends of the two: their places are free at once.
    assert.deepEqual(await bot.request('greet', {}), { text: 'ho' });
    for (const error of await Promise.all(given)) assert.equal(error.name, 'AbortError');
    for (const error of await Promise.all(ask({ timeoutSeconds: 0.05 })))
      assert.equal(error.code, 'TIMED_OUT');
    for (let i = 0; i < 100; i++)
      assert.deepEqual(await bot.request('greet', {}, { channel: i % 2 }), { text: 'ho' });
  });
}

test('too many requests for the other end are refused', async (t) => {
  const server = await startServer(t, { schema: types, maxRequests: 1 });
  const { bot } = await startBot(t, server, { schema: types });
  let answer;
  server.answer('greet', () => new Promise((resolve) => (answer = resolve)));
  const first = bot.request('greet', {});
  const second = await failure(bot.request('greet', {}));
  assert.equal(second.refusal, 65535);
  answer({ text: 'at last' });
  assert.deepEqual(await first, { text: 'at last' });
});

test('an error of the function that answers goes on to the platform', async (t) => {
  const { server, bot } = await start(t);
  const errors = [];
  const note = (error) => errors.push(error.message);
  const others = process.listeners('unhandledRejection');
  process.removeAllListeners('unhandledRejection');
  process.on('unhandledRejection', note);
  own(t, () => {
    process.off('unhandledRejection', note);
    others.forEach((other) => process.on('unhandledRejection', other));
  });
  server.answer('greet', () => {
    throw new Error('a mistake');
  });
  assert.equal((await failure(bot.request('greet', {}))).refusal, 65533);
  server.answer('greet', async () => ({ text: 'far longer than twenty bytes' }));
  assert.equal((await failure(bot.request('greet', {}))).refusal, 65533);
  await until('both errors', () => errors.length === 2);
  assert.equal(errors[0], 'a mistake');
  assert.match(errors[1], /^greet_answer\.text: 28 bytes are more than 20/);
});

test('an answer waits until there is room for a message', async (t) => {
  const { server, bot, client } = await start(t, { maxMessages: 4 });
  bot.addEventListener('message', () => {});
  server.answer('greet', () => ({ text: 'ho' }));
  server.answer('double', ({ number }) => {
    const fill = (channel) => {
      for (;;) client.send(channel, 'mark', { number });
    };
    assert.throws(() => fill(RELIABLE), ConnectionError);
    assert.throws(() => fill(UNRELIABLE), { code: 'POOL_EMPTY' });
    return { number };
  });
  assert.deepEqual(await bot.request('double', { number: 5 }), { number: 5 });
  assert.deepEqual(await bot.request('greet', {}), { text: 'ho' });
});

test('messages that nobody takes hold up questions, and not answers', async (t) => {
  const { server, bot, client } = await start(t);
  server.answer('greet', () => ({ text: 'ho' }));
  bot.answer('greet', () => ({ text: 'bot' }));
  client.send(0, 'mark', { number: 1 });
  let answered = false;
  const asked = client.request('greet', {}).then(({ text }) => (answered = text));
  for (let i = 0; i < 5; i++) assert.deepEqual(await bot.request('greet', {}), { text: 'ho' });
  assert.equal(answered, false);
  assert.equal(bot.next().value.number, 1);
  bot.addEventListener('message', () => {});
  await asked;
  assert.equal(answered, 'bot');
});

test('an application asks over a bad network', async (t) => {
  const server = await startServer(t, { schema: types });
  let calls = 0;
  server.answer('double', ({ number }) => {
    calls++;
    return { number: 2 * number };
  });
  const path = { latencySeconds: 0.02, loss: 0.3, duplicate: 0.3, jitterSeconds: 0.03 };
  const network = new SimulatedNetwork(await loadServer(), {}, 5);
  const { bot } = await startBot(t, server, { schema: types, through: network.through });
  network.change(path);
  const ask = (number) =>
    bot.request('double', { number }, { channel: number % 2, timeoutSeconds: 60 });
  const all = Array.from({ length: 30 }, (_, number) => number);
  const answers = await Promise.all(all.map(ask));
  assert.deepEqual(
    answers,
    all.map((number) => ({ number: 2 * number })),
  );
  assert.equal(calls, 30);
});

test('a connection without a handshake asks too, and its requests end with the transport', async (t) => {
  const { host, far, flush, end } = startDrivenHost(t, await loadCore(), types, {});
  const asked = host.request('double', { number: 3 });
  await until('the question', () => {
    const event = far.next();
    if (event) far.answer(event.request, 'double', { number: 6 }, performance.now() / 1000);
    return event;
  });
  repeat(t, flush, 10);
  assert.deepEqual(await patiently(asked, 'the answer'), { number: 6 });
  let left;
  void failure(host.request('double', { number: 4 }, { timeoutSeconds: 3600 })).then(
    (error) => (left = error),
  );
  end();
  await host.closed;
  await sleep(0);
  assert.equal(left.code, 'CLOSED', 'it ends with the connection, before anything else');
});

test('a client that connects anew begins without the old requests', async (t) => {
  const { server, bot } = await start(t);
  const answers = [];
  server.answer('greet', () => new Promise((resolve) => answers.push(resolve)));
  const old = failure(bot.request('greet', {}));
  await until('the question', () => answers.length === 1);
  bot.disconnect();
  assert.equal((await old).code, 'CLOSED');
  await bot.reconnect();
  const now = bot.request('greet', {});
  await until('another question', () => answers.length === 2);
  answers[0]({ text: 'old' });
  answers[1]({ text: 'new' });
  assert.deepEqual(await now, { text: 'new' });
});

test('a server in C declares the same', async () => {
  const same = schema(
    message('note', { number: uint(0, 1_000_000), from: int(-1, 63) }),
    request('twice', { number: uint(1, 60_000) }, { doubled: uint(2, 120_000) }),
  );
  // tests/core/session/secure_requests.c declares it in C.
  assert.equal(fingerprint(await loadCore(), same), 0xfe71e87ff73f8b88n);
});

test('a request in a schema is three types of messages', () => {
  assert.deepEqual(
    types.types.map(({ name, fields }) => [name, Object.keys(fields)[0]]),
    [
      ['mark', 'number'],
      ['double', 'cw_request'],
      ['double_answer', 'cw_answer'],
      ['double_refusal', 'cw_refusal'],
      ['greet', 'cw_request'],
      ['greet_answer', 'cw_answer'],
      ['greet_refusal', 'cw_refusal'],
    ],
  );
  assert.throws(() => schema(message('a_answer', {}), request('a', {}, {})), /the same name/);
  assert.throws(() => request('a', {}), /a_answer: the fields are missing/);
  assert.throws(() => refuse(65536), RangeError);
});
