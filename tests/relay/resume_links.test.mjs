// One session, several WebSockets: a link dies, another with the same key goes on.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { test } from 'node:test';
import { ask, connectAs, newKey, PROTOCOL, protocolsOf } from './links.mjs';
import { patiently, sleep } from '../support/patience.mjs';
import { pattern } from '../support/pattern.mjs';
import { assertStats, assertAddsUp, oneProcess, statsUntil } from '../support/relay.mjs';
import { startServed } from '../support/served.mjs';
import { binaryFrame, connect, handshake } from '../support/websocket.mjs';
import { openTcp } from '../support/tcp.mjs';

const waiting = (relay) => statsUntil(relay, ({ sessions_unlinked }) => sessions_unlinked === 1);

test('a WebSocket dies, and the next with its key goes on from the same port', async (t) => {
  const { server, relay } = await startServed(t);
  const key = newKey();
  const first = await connectAs(t, relay, key);
  assert.equal(first.socket.protocol, PROTOCOL, 'the key is not sent back');
  const port = await ask(server, first, 'before');
  first.socket.terminate();
  const kept = await waiting(relay);
  assert.equal(kept.sessions_open, 1);

  // Datagrams that come meanwhile are dropped, not kept.
  for (let i = 0; i < 5; i++) server.send(pattern(10, i), server.addresses.get(port));
  await statsUntil(relay, ({ dropped_unlinked }) => dropped_unlinked === 5);

  const second = await connectAs(t, relay, key);
  assert.equal(await ask(server, second, 'after'), port);
  assert.equal(second.messages.length, 1);
  const stats = await relay.stats();
  assertStats(stats, { sessions_opened: 1, sessions_open: 1, sessions_resumed: 1 });
  assertAddsUp(stats);
});

// With two workers a datagram may be lost while a session moves.
test(
  'the server reaches a browser that says nothing over its new link',
  { skip: oneProcess },
  async (t) => {
    const { server, relay } = await startServed(t);
    const key = newKey();
    const first = await connectAs(t, relay, key);
    const port = await ask(server, first, 'before');
    first.socket.terminate();
    await waiting(relay);
    const second = await connectAs(t, relay, key);
    server.send(pattern(100), server.addresses.get(port));
    await second.received(1);
  },
);

test('a link that nobody knows to be dead gives way to the next', async (t) => {
  const { server, relay } = await startServed(t);
  const key = newKey();
  const first = await connectAs(t, relay, key);
  const port = await ask(server, first, 'before');
  const second = await connectAs(t, relay, key);
  assert.deepEqual(await first.closed(), { code: 4003, reason: 'another link took its place' });
  assert.equal(await ask(server, second, 'after'), port);
  assertStats(await relay.stats(), { sessions_open: 1, links_joined: 1, sessions_unlinked: 0 });
});

for (const [what, end] of Object.entries({
  'is closed with 1000': { how: (link) => link.close(1000) },
  'has no key': { options: { protocols: [PROTOCOL] }, how: (link) => link.socket.terminate() },
  'was never answered': { silent: true, how: (link) => link.socket.terminate() },
  'may not be resumed': { args: ['--resume-seconds', '0'], how: (link) => link.socket.terminate() },
}))
  test(`a session whose only link ${what} ends at once`, async (t) => {
    const { relay } = await startServed(t, {
      answer: (data) => (end.silent ? null : data),
      args: end.args,
    });
    const link = await connectAs(t, relay, newKey(), end.options);
    link.send(pattern(20));
    if (!end.silent) await link.received(1);
    end.how(link);
    const stats = await statsUntil(relay, ({ sessions_open }) => sessions_open === 0);
    assertStats(stats, { sessions_ended_client: 1, sessions_unlinked: 0 });
  });

for (const [what, end] of Object.entries({
  'is left with 1001': (link) => link.close(1001),
  'is closed without a code': (link) => link.close(),
  'is cut': (link) => link.socket.terminate(),
}))
  test(`a session whose link ${what} ends when no other comes in time`, async (t) => {
    const { server, relay } = await startServed(t, {
      args: ['--resume-seconds', '1', '--max-sessions-per-address', '1'],
    });
    const key = newKey();
    const link = await connectAs(t, relay, key);
    const port = await ask(server, link, 'before');
    const began = performance.now();
    end(link);
    await waiting(relay);
    const stats = await statsUntil(relay, ({ sessions_open }) => sessions_open === 0);
    assert.ok(performance.now() - began > 800);
    assert.equal(stats.sessions_ended_unlinked, 1);
    const late = await connectAs(t, relay, key);
    assert.notEqual(await ask(server, late, 'after'), port);
  });

test('a page that is left, as its browser says with 1001, has 3 s to come back', async (t) => {
  const { server, relay } = await startServed(t, { args: ['--resume-seconds', '600'] });
  let losses = 0;
  const lose = async (end) => {
    end();
    losses += 1;
    await statsUntil(relay, (stats) => stats.sessions_unlinked === losses);
  };
  const left = async () => {
    const key = newKey();
    const link = await connectAs(t, relay, key);
    const port = await ask(server, link, 'before');
    await lose(() => link.close(1001));
    return { key, port };
  };
  const back = await left();
  const again = await connectAs(t, relay, back.key);
  assert.equal(await ask(server, again, 'still here'), back.port);
  await lose(() => again.socket.terminate());

  // The next links begin to come back, to another worker perhaps, but are gone before they say anything.
  await left();
  for (let i = 0; i < 6; i++) {
    for (const key of [(await left()).key, back.key]) {
      const silent = await connectAs(t, relay, key);
      await lose(() => silent.socket.terminate());
    }
  }
  await statsUntil(relay, (stats) => stats.sessions_ended_unlinked === 7);

  // The session that has played on waits as long as any other.
  const late = await connectAs(t, relay, back.key);
  assert.equal(await ask(server, late, 'after'), back.port);
  assertStats(await relay.stats(), { sessions_open: 1, sessions_resumed: 14 });
});

test('a session that is resumed again and again is not held to its first loss', async (t) => {
  const { server, relay } = await startServed(t, { args: ['--resume-seconds', '4'] });
  const key = newKey();
  let link = await connectAs(t, relay, key);
  const port = await ask(server, link, 'before');
  for (let i = 0; i < 4; i++) {
    link.socket.terminate();
    await statsUntil(relay, ({ sessions_unlinked }) => sessions_unlinked === i + 1);
    await sleep(1100);
    link = await connectAs(t, relay, key);
    assert.equal(await ask(server, link, `after ${i}`), port);
  }
  await sleep(4200);
  assert.equal(await ask(server, link, 'at last'), port);
});

test('the idle timeout holds for a session without a link', async (t) => {
  const { server, relay } = await startServed(t, { args: ['--idle-timeout', '1'] });
  const link = await connectAs(t, relay, newKey());
  await ask(server, link, 'before');
  link.socket.terminate();
  const stats = await statsUntil(relay, ({ sessions_open }) => sessions_open === 0);
  assert.equal(stats.sessions_ended_idle, 1);
});

test('a relay that stops does not wait for sessions without a link', async (t) => {
  const { server, relay } = await startServed(t, {
    args: ['--resume-seconds', '1000', '--idle-timeout', '0'],
  });
  const [kept, open] = [await connectAs(t, relay, newKey()), await connectAs(t, relay, newKey())];
  await ask(server, kept, 'kept');
  await ask(server, open, 'open');
  kept.socket.terminate();
  await waiting(relay);
  relay.kill('SIGTERM');
  assert.equal((await open.closed()).code, 1001);
  assert.deepEqual(await relay.ended(), { code: 0, signal: null });
  await relay.logged(/sessions_open=0 .*sessions_ended_drain=2/);
  assert.doesNotMatch(relay.log(), /did not close in time/);
});

test('a session that is ending is not joined any more', async (t) => {
  const { server, relay } = await startServed(t);
  const key = newKey();
  // The client sends text, which ends its session, and never answers the close.
  const stuck = openTcp(t, relay.port);
  stuck.write(handshake.replace(PROTOCOL, protocolsOf(key).join(', ')));
  await patiently(once(stuck, 'data'), 'the handshake');
  stuck.write(binaryFrame(Buffer.from('hello')));
  await patiently(once(stuck, 'data'), 'the echo');
  stuck.write(Buffer.from([0x81, 0x81, 0, 0, 0, 0, 0x61]));
  await statsUntil(relay, ({ sessions_ended_text }) => sessions_ended_text === 1);
  // The supervisor of several workers has heard of the end when that worker has answered once more.
  await relay.stats();
  const next = await connectAs(t, relay, key);
  assert.notEqual(await ask(server, next, 'anew'), server.received[0].port);
  assert.equal((await relay.stats()).sessions_open, 2);
});

test('another origin with the same key has another session', async (t) => {
  const { server, relay } = await startServed(t, { args: ['--origin', '*'] });
  const key = newKey();
  const [ours, theirs] = ['https://game.example', 'https://evil.example'];
  const first = await connectAs(t, relay, key, { origin: ours });
  const port = await ask(server, first, 'before');
  const stranger = await connectAs(t, relay, key, { origin: theirs });
  assert.notEqual(await ask(server, stranger, 'mine?'), port);
  const nobody = await connectAs(t, relay, key);
  assert.notEqual(await ask(server, nobody, 'or mine?'), port);
  assert.equal(await ask(server, first, 'still mine'), port);
  first.socket.terminate();
  await waiting(relay);
  const again = await connectAs(t, relay, key, { origin: theirs });
  assert.notEqual(await ask(server, again, 'now mine?'), port);
  const second = await connectAs(t, relay, key, { origin: ours });
  assert.equal(await ask(server, second, 'after'), port);
});

const bad = {
  'without a key': ['causeway.session.'],
  'with a short key': [`causeway.session.${newKey().slice(1)}`],
  'with a long key': [`causeway.session.${newKey()}A`],
  'with another letter': [`causeway.session.${newKey().slice(1)}~`],
  'with two keys': [`causeway.session.${newKey()}`, `causeway.session.${newKey()}`],
};
for (const [what, protocols] of Object.entries(bad))
  test(`a WebSocket that names a session ${what} is refused`, async (t) => {
    const { relay } = await startServed(t);
    await assert.rejects(connect(t, relay, { protocols: [PROTOCOL, ...protocols] }), {
      status: 400,
    });
    assert.equal((await relay.stats()).sessions_opened, 0);
  });

test('a key without the subprotocol is not enough', async (t) => {
  const { relay } = await startServed(t);
  await assert.rejects(connect(t, relay, { protocols: protocolsOf(newKey()).slice(1) }), {
    status: 400,
  });
});

test('a key may stand in a header of its own, and in any order', async (t) => {
  const { server, relay } = await startServed(t);
  const key = newKey();
  const first = await connectAs(t, relay, key);
  const port = await ask(server, first, 'before');
  const lines = `Sec-WebSocket-Protocol: causeway.session.${key}\r\nSec-WebSocket-Protocol: ${PROTOCOL}\r\n`;
  const raw = openTcp(t, relay.port);
  raw.write(handshake.replace(`Sec-WebSocket-Protocol: ${PROTOCOL}\r\n`, lines));
  await patiently(once(raw, 'data'), 'the handshake');
  await first.closed();
  raw.write(binaryFrame(Buffer.from('after')));
  await patiently(once(raw, 'data'), 'the echo');
  assert.equal(server.received.at(-1).port, port);
});

test('no key is logged', async (t) => {
  const { server, relay } = await startServed(t, {
    args: ['--log-level', 'debug', '--resume-seconds', '600'],
  });
  const key = newKey();
  for (let i = 0; i < 2; i++) {
    const link = await connectAs(t, relay, key);
    await ask(server, link, `link ${i}`);
    link.socket.terminate();
    await statsUntil(relay, ({ sessions_unlinked }) => sessions_unlinked === i + 1);
  }
  for (const protocols of [protocolsOf(key).slice(1), protocolsOf(`${key}A`)])
    await assert.rejects(connect(t, relay, { protocols }), { status: 400 });
  await relay.logged(/goes on over websocket/);
  (await connectAs(t, relay, key)).close(1000);
  await statsUntil(relay, ({ sessions_open }) => sessions_open === 0);
  assert.doesNotMatch(relay.log(), new RegExp(key.slice(4, 18)));
});
