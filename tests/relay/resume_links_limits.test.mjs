// Links have limits as sessions have: for an address, altogether, and when places run out.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as rtc from '../support/rtc.mjs';
import { ask, connectAs, newKey, openRtcAs, withKey } from './links.mjs';
import {
  assertStats,
  assertAddsUp,
  oneProcess,
  startRelay,
  statsUntil,
} from '../support/relay.mjs';
import { startUdpServer } from '../support/udp_server.mjs';
import { connect } from '../support/websocket.mjs';
import { until } from '../support/patience.mjs';
import { startUdpPath } from '../support/udp_path.mjs';

const HERE = '127.0.0.2';
const THERE = '127.0.0.3';
const TRY_LATER = { code: 1013, reason: 'try later' };

async function begin(t, ...args) {
  const server = await startUdpServer(t);
  return { server, relay: await startRelay(t, { upstream: server.upstream, args }) };
}

/** Cuts a link, and waits until the relay knows. */
async function cut(relay, link) {
  const { sessions_unlinked } = await relay.stats();
  link.socket.terminate();
  await statsUntil(relay, (stats) => stats.sessions_unlinked === sessions_unlinked + 1);
}

test(
  'a session without a link counts for the address of its last one',
  { skip: oneProcess },
  async (t) => {
    const { server, relay } = await begin(t, '--max-sessions-per-address', '1');
    const key = newKey();
    const first = await connectAs(t, relay, key, { localAddress: HERE });
    const port = await ask(server, first, 'before');
    await cut(relay, first);
    const stranger = await connectAs(t, relay, newKey(), { localAddress: HERE });
    assert.deepEqual(await stranger.closed(), TRY_LATER);

    // A session takes its own place again, even when the relay does not know yet that its link is dead.
    for (let i = 0; i < 3; i++) {
      const next = await connectAs(t, relay, key, { localAddress: HERE });
      assert.equal(await ask(server, next, `after ${i}`), port);
    }

    // A session that goes on from elsewhere leaves its place.
    const away = await connectAs(t, relay, key, { localAddress: THERE });
    assert.equal(await ask(server, away, 'away'), port);
    const other = await connectAs(t, relay, newKey(), { localAddress: HERE });
    await ask(server, other, 'other');
    const refused = await connectAs(t, relay, newKey(), { localAddress: THERE });
    assert.deepEqual(await refused.closed(), TRY_LATER);
    // The session cannot go back: that place is taken.
    const back = await connectAs(t, relay, key, { localAddress: HERE });
    assert.deepEqual(await back.closed(), TRY_LATER);
    assert.equal(await ask(server, away, 'still away'), port);

    // The same holds for a session that went there without a link.
    await cut(relay, away);
    const elsewhere = await connectAs(t, relay, key, { localAddress: '127.0.0.4' });
    assert.equal(await ask(server, elsewhere, 'elsewhere'), port);
    const one = await connectAs(t, relay, newKey(), { localAddress: THERE });
    await ask(server, one, 'room for one');
    const stats = await relay.stats();
    assertStats(stats, { sessions_refused_address: 3, sessions_open: 3 });
    assertAddsUp(stats);
  },
);

test('both links of a session count for its address', { skip: oneProcess }, async (t) => {
  const args = ['--max-sessions-per-address', '2', '--rtc', '127.0.0.1:0'];
  const { server, relay } = await begin(t, ...args);
  const key = newKey();
  const first = await connectAs(t, relay, key);
  const port = await ask(server, first, 'hello');
  const { edit } = await startUdpPath(t, relay.rtcPort);
  const second = await openRtcAs(t, relay, key, { edit });
  await until('the channel at the relay', async () => {
    second.channel.send(Buffer.from('over WebRTC'));
    return (await relay.stats()).links_joined === 1;
  });
  const third = await connect(t, relay);
  assert.deepEqual(await third.closed(), TRY_LATER);
  first.close(1000);
  await first.closed();
  const fourth = await connect(t, relay);
  await ask(server, fourth, 'room for one');
  const sent = server.received.length;
  second.channel.send(Buffer.from('still here'));
  await until('a datagram', () => server.received.length > sent);
  assert.equal(server.received.at(-1).port, port);
});

test(
  'a second link that its address has no place for leaves the first alone',
  { skip: oneProcess },
  async (t) => {
    const args = ['--max-sessions-per-address', '1', '--rtc', '127.0.0.1:0'];
    const { server, relay } = await begin(t, ...args);
    const key = newKey();
    const first = await connectAs(t, relay, key);
    const port = await ask(server, first, 'before');
    const { edit } = await startUdpPath(t, relay.rtcPort);
    const editOffer = (sdp) => withKey(sdp, key);
    const second = await rtc.connect(t, relay.url, { edit, editOffer });
    await second.closed();
    assert.equal(await ask(server, first, 'after'), port);
    assertStats(await relay.stats(), { sessions_refused_address: 1, sessions_open: 1 });
  },
);

test('links of one session take one place', { skip: oneProcess }, async (t) => {
  const { server, relay } = await begin(t, '--max-sessions', '1', '--rtc', '127.0.0.1:0');
  const key = newKey();
  const first = await connectAs(t, relay, key);
  const port = await ask(server, first, 'before');
  const second = await openRtcAs(t, relay, key);
  await statsUntil(relay, ({ links_joined }) => links_joined === 1);
  const third = await connectAs(t, relay, key);
  assert.equal(await ask(server, third, 'third'), port);
  const stranger = await connect(t, relay);
  assert.deepEqual(await stranger.closed(), TRY_LATER);
  assert.equal(second.channel.readyState, 'open');
});

test(
  'when places run out, the session that waits longest for a link makes room',
  { skip: oneProcess },
  async (t) => {
    const { server, relay } = await begin(t, '--max-sessions', '4');
    const keys = Array.from({ length: 3 }, newKey);
    const links = [];
    for (const key of keys) links.push(await connectAs(t, relay, key));
    const [port] = await Promise.all(links.map((link, i) => ask(server, link, `player ${i}`)));
    await cut(relay, links[1]);
    await cut(relay, links[0]);

    // A session that the game server has not answered goes before those that wait.
    const unanswered = await connect(t, relay);
    const comer = await connect(t, relay);
    assert.deepEqual(await unanswered.closed(), TRY_LATER);
    await ask(server, comer, 'comer');

    const next = await connect(t, relay);
    await ask(server, next, 'next');
    // The other one, which now has a link, keeps its place.
    const back = await connectAs(t, relay, keys[0]);
    assert.equal(await ask(server, back, 'back'), port);
    const refused = await connectAs(t, relay, keys[1]);
    assert.deepEqual(await refused.closed(), TRY_LATER);
    await ask(server, links[2], 'still here');
    const stats = await relay.stats();
    assertStats(stats, { sessions_ended_evicted: 2, sessions_refused_full: 1, sessions_open: 4 });
    assertAddsUp(stats);
  },
);

test('a session that is back keeps its place again', { skip: oneProcess }, async (t) => {
  const { server, relay } = await begin(t, '--max-sessions', '1');
  const key = newKey();
  const first = await connectAs(t, relay, key);
  const port = await ask(server, first, 'before');
  await cut(relay, first);
  const second = await connectAs(t, relay, key);
  const stranger = await connect(t, relay);
  assert.deepEqual(await stranger.closed(), TRY_LATER);
  assert.equal(await ask(server, second, 'after'), port);
});

test('500 sessions are resumed at once', async (t) => {
  // Datagrams wait that a relay without a turn has no time for, and no session ends because of them.
  const patient = ['--queue-age', '60', '--request-timeout', '600', '--answer-timeout', '600'];
  const { server, relay } = await begin(t, '--resume-seconds', '60', ...patient);
  const players = Array.from({ length: 500 }, (_, i) => ({
    name: `player ${i}`,
    key: newKey(),
    localAddress: `127.3.0.${1 + (i % 25)}`,
  }));
  const open = async (player) => {
    const { key, localAddress } = player;
    player.link = await connectAs(t, relay, key, { localAddress, perMessageDeflate: false });
    return ask(server, player.link, player.name);
  };
  await Promise.all(players.map(async (player) => (player.port = await open(player))));
  for (const { link } of players) link.socket.terminate();
  const began = performance.now();
  await Promise.all(players.map(async (player) => assert.equal(await open(player), player.port)));
  t.diagnostic(`all were back after ${Math.round(performance.now() - began)} ms`);
  // The relay may have seen some of the new links before the end of the old ones.
  const stats = await statsUntil(relay, ({ links_joined }) => links_joined === 500);
  assertStats(stats, { sessions_opened: 500, sessions_open: 500 });
  assert.equal(stats.sessions_refused_address + stats.sessions_refused_full, 0);
  assertAddsUp(stats);
});
