// Several WebSockets carry one session together: its subflows.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ask, connectAs, newKey, protocolsOf } from './links.mjs';
import { assertAddsUp, assertStats, oneProcess, statsUntil } from '../support/relay.mjs';
import { sleep, until } from '../support/patience.mjs';
import { startServed } from '../support/served.mjs';

const skip = oneProcess;
const HEADER = 5;
const MOVED = { code: 4003, reason: 'another link took its place' };

const openSubflow = (t, relay, key, number, options) =>
  connectAs(t, relay, key, {
    protocols: [`causeway.subflow.${number}`, protocolsOf(key)[1]],
    ...options,
  });

/** Returns a message of a subflow. */
const message = (sequence, text, confirmed = [0, 0, 0, 0]) =>
  Buffer.concat([Buffer.of(sequence, ...confirmed), Buffer.from(text)]);

/** Returns the header and the text of each message that has come. */
const read = ({ messages }) =>
  messages.map(({ data }) => [[...data.subarray(0, HEADER)], data.subarray(HEADER).toString()]);

/** Starts a session that the game server has answered, with so many subflows. */
async function startWith(t, count, args) {
  const { server, relay } = await startServed(t, { args });
  const key = newKey();
  const first = await connectAs(t, relay, key);
  const port = await ask(server, first, 'first');
  const subflows = [];
  for (let number = 1; number <= count; number++)
    subflows.push(await openSubflow(t, relay, key, number));
  const send = (text) => server.send(Buffer.from(text), server.addresses.get(port));
  return { server, relay, key, first, port, subflows, send };
}

test('all subflows are one player, and confirm what came over each', { skip }, async (t) => {
  const { server, relay, port, subflows } = await startWith(t, 4);
  for (const [i, subflow] of subflows.entries()) subflow.send(message(i + 1, `to ${i}`));
  await statsUntil(relay, ({ delivered_datagrams }) => delivered_datagrams >= 5);
  assert.deepEqual(
    server.received
      .slice(1)
      .map((one) => [one.port, one.data.toString()])
      .sort(),
    subflows.map((_, i) => [port, `to ${i}`]),
  );
  await until('all answers', () => {
    const texts = subflows.flatMap(read).map(([, text]) => text);
    return ['to 0', 'to 1', 'to 2', 'to 3'].every((text) => texts.includes(text));
  });
  subflows[0].send(message(5, 'last'));
  await statsUntil(relay, ({ client_datagrams }) => client_datagrams === 6);
  assertStats(await relay.stats(), { sessions_open: 1, links_joined: 4 });
  assertAddsUp(await relay.stats());
});

test('what a stalled subflow does not confirm goes again over another', { skip }, async (t) => {
  const { relay, subflows, send } = await startWith(t, 2);
  const [stalled, other] = subflows;
  // The page confirms all that comes over the second, and nothing of the first.
  other.socket.on('message', ([first]) => other.send(message(0, '', [0, first & 127, 0, 0])));
  for (let i = 0; (await relay.stats()).subflow_datagrams === 0; i++) {
    send(`${i}`);
    await sleep(20);
  }
  const repeated = await until('a datagram that goes again', () => {
    const all = read(other).filter(([[first]]) => first & 128);
    return all.length > 0 && all;
  });
  await stalled.received(1);
  assert.equal(repeated[0][1], read(stalled)[0][1]);
  assertAddsUp(await relay.stats());
});

test('a subflow is refused that no link of an answered session is beside', { skip }, async (t) => {
  const { relay, key, first } = await startWith(t, 0);
  const strange = await openSubflow(t, relay, newKey(), 1);
  assert.deepEqual(await strange.closed(), MOVED);
  first.socket.terminate();
  await statsUntil(relay, ({ sessions_unlinked }) => sessions_unlinked === 1);
  assert.deepEqual(await (await openSubflow(t, relay, key, 1)).closed(), MOVED);
  const waiting = newKey();
  await connectAs(t, relay, waiting);
  assert.deepEqual(await (await openSubflow(t, relay, waiting, 1)).closed(), MOVED);
  assertStats(await relay.stats(), { sessions_opened: 2, links_joined: 0 });
});

test('a session has four subflows at most, which count for their address', { skip }, async (t) => {
  const { relay, key, subflows } = await startWith(t, 3, ['--max-sessions-per-address', '4']);
  for (const number of ['0', '5', '11', '', '-1'])
    await assert.rejects(openSubflow(t, relay, key, number), { status: 400 });
  const both = { protocols: ['causeway.subflow.4', ...protocolsOf(key)] };
  await assert.rejects(openSubflow(t, relay, key, 4, both), { status: 400 });
  const next = await openSubflow(t, relay, key, 2);
  assert.deepEqual(await subflows[1].closed(), MOVED);
  assert.equal((await (await openSubflow(t, relay, key, 4)).closed()).code, 1013);
  next.send(message(1, 'x'));
  await statsUntil(relay, ({ client_datagrams }) => client_datagrams === 2);
});

for (const [how, code] of [
  ['cut', undefined],
  ['closed by the page', 1000],
])
  test(`subflows end with the link beside them when it is ${how}`, { skip }, async (t) => {
    const { relay, key, first, port, server, subflows } = await startWith(t, 2);
    if (code) first.close(code);
    else first.socket.terminate();
    for (const subflow of subflows) assert.deepEqual(await subflow.closed(), MOVED);
    const stats = await statsUntil(
      relay,
      (one) => one.sessions_unlinked + one.sessions_ended_client,
    );
    assertStats(stats, { sessions_unlinked: code ? 0 : 1, sessions_open: code ? 0 : 1 });
    if (!code) assert.equal(await ask(server, await connectAs(t, relay, key), 'again'), port);
  });

test('messages that are no datagrams are dropped', { skip }, async (t) => {
  const { relay, subflows } = await startWith(t, 1);
  const [subflow] = subflows;
  for (const size of [0, 4, 5, 6, 1405, 1406, 3000]) subflow.send(Buffer.alloc(size));
  const stats = await statsUntil(relay, ({ client_datagrams }) => client_datagrams === 7);
  assertStats(stats, { dropped_from_browser_empty: 2, dropped_from_browser_oversize: 2 });
  assertAddsUp(stats);
});
