// One session over WebSocket and WebRTC: up, back, both at once, and the end of its last link.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startDelayPath } from '../support/delay_path.mjs';
import * as rtc from '../support/rtc.mjs';
import { connectAs, newKey, openRtcAs, withKey } from './links.mjs';
import { pattern } from '../support/pattern.mjs';
import { assertStats, assertAddsUp, oneProcess, statsUntil } from '../support/relay.mjs';
import { startServed } from '../support/served.mjs';
import { connect } from '../support/websocket.mjs';
import { own, repeat } from '../support/fixture.mjs';
import { until } from '../support/patience.mjs';
import { startUdpPath } from '../support/udp_path.mjs';

const args = ['--rtc', '127.0.0.1:0'];

/** Starts a game server that the test plays, and a relay in front of it. */
async function begin(t, options = []) {
  const { server, relay } = await startServed(t, {
    answer: () => null,
    args: [...args, ...options],
  });
  const url = `http://127.0.0.1:${relay.port}/`;
  /** Sends a text over a link, and returns the port from which it came to the game server. */
  const tell = async (link, text) => {
    (link.channel ?? link).send(Buffer.from(text));
    const find = () => server.received.find(({ data }) => data.toString() === text);
    return (await until(text, find)).port;
  };
  const say = (port, text) => void server.send(Buffer.from(text), server.addresses.get(port));
  return { server, relay, url, tell, say };
}

const next = async (link, count) => {
  await link.received(count);
  return link.messages.at(-1).data.toString();
};

for (const stack of rtc.stacks) {
  test(`up to WebRTC and back, ${stack.name}`, { skip: oneProcess }, async (t) => {
    const { relay, tell, say } = await begin(t);
    const key = newKey();
    const first = await connectAs(t, relay, key);
    const player = await tell(first, 'over WebSocket');
    say(player, 'one');
    assert.equal(await next(first, 1), 'one');

    const better = await openRtcAs(t, relay, key, { stack });
    assert.equal(await tell(better, 'over WebRTC'), player);
    await until('an answer over WebRTC', () => say(player, 'two') || better.arrived.length > 0);
    // The link is not the last one, so the session stays.
    first.close(1000);
    await first.closed();
    assert.equal(await tell(better, 'over WebRTC alone'), player);
    say(player, 'three');
    await until('the next', () => better.arrived.some((data) => data.toString() === 'three'));

    const back = await connectAs(t, relay, key);
    say(player, 'four');
    assert.equal(await next(back, 1), 'four');
    better.close();
    assert.equal(await tell(back, 'over WebSocket again'), player);
    say(player, 'five');
    assert.equal(await next(back, 2), 'five');
    assert.equal(better.arrived.at(-1).toString(), 'three');

    const stats = await statsUntil(relay, ({ client_datagrams }) => client_datagrams === 4);
    assertStats(stats, {
      sessions_opened: 1,
      sessions_open: 1,
      links_joined: 2,
      sessions_unlinked: 0,
    });
    assertAddsUp(stats);
  });

  for (const [what, end] of Object.entries({
    'closes its channel': (link) => link.channel.close(),
    'closes its connection': (link) => link.close(),
    'deletes it': (link, url) => fetch(new URL(link.location, url), { method: 'DELETE' }),
  }))
    test(`who ${what} ends the session, ${stack.name}`, async (t) => {
      const { relay, url, tell, say } = await begin(t);
      const link = await openRtcAs(t, relay, newKey(), { stack });
      say(await tell(link, 'hello'), 'hello');
      await link.next();
      await end(link, url);
      const stats = await statsUntil(relay, ({ sessions_open }) => sessions_open === 0);
      assertStats(stats, { sessions_ended_client: 1, sessions_unlinked: 0 });
    });
}

test('both at once: either is heard, and the newest is told', { skip: oneProcess }, async (t) => {
  const { relay, tell, say } = await begin(t);
  const key = newKey();
  const [slow, fast] = await Promise.all([connectAs(t, relay, key), openRtcAs(t, relay, key)]);
  const player = await tell(slow, 'over WebSocket');
  for (let i = 0; i < 10; i++)
    assert.equal(await tell(i % 2 ? slow : fast, `turn ${i}`), player, 'the same session');
  for (let i = 0; i < 10; i++) say(player, `answer ${i}`);
  const stats = await statsUntil(relay, ({ delivered_datagrams }) => delivered_datagrams === 10);
  await until('all answers', () => slow.messages.length + fast.arrived.length === 10);
  assert.ok(slow.messages.length === 10 || fast.arrived.length === 10, 'over one of them');
  assert.equal(stats.sessions_opened, 1);
  assertAddsUp(stats);
});

test('at a distance nothing is lost on the way up', { skip: oneProcess }, async (t) => {
  const path = await startDelayPath(t, { rtt: 200, seed: 1 });
  const { server, relay, tell } = await begin(t, path.relayOptions);
  path.to(relay);
  const key = newKey();
  const first = await connectAs(t, relay, key);
  const player = await tell(first, 'over WebSocket');
  let said = 0;
  const timer = repeat(
    t,
    () => server.send(pattern(1000, said++), server.addresses.get(player)),
    10,
  );
  // The first message of the new link comes before that has proven its address.
  const better = await openRtcAs(t, path, key);
  await until('datagrams over WebRTC', () => better.arrived.length > 50);
  clearInterval(timer);
  await until('the last', () => first.messages.length + better.arrived.length === said);
  assertStats(await relay.stats(), { dropped_unproven: 0, sessions_opened: 1 });
});

test('a path that fails: the next WebSocket takes over before WebRTC is known to be dead', async (t) => {
  const { relay, tell, say } = await begin(t);
  let cut = false;
  const path = await startUdpPath(t, relay.rtcPort, () => cut);
  const key = newKey();
  const first = await openRtcAs(t, relay, key, { edit: path.edit });
  const player = await tell(first, 'over WebRTC');
  say(player, 'one');
  await first.next();
  cut = true;
  say(player, 'lost');
  const second = await connectAs(t, relay, key);
  assert.equal(await tell(second, 'over WebSocket'), player);
  say(player, 'two');
  assert.equal(await next(second, 1), 'two');
});

test('a second channel takes the place of the first', async (t) => {
  const { relay, tell, say } = await begin(t);
  const key = newKey();
  const first = await openRtcAs(t, relay, key);
  const player = await tell(first, 'first');
  say(player, 'one');
  await first.next();
  const second = await openRtcAs(t, relay, key);
  await first.closed();
  assert.equal(await tell(second, 'second'), player);
  say(player, 'two');
  assert.equal((await second.next()).toString(), 'two');
  assert.equal((await relay.stats()).sessions_open, 1);
});

test('an offer of another origin has another session', { skip: oneProcess }, async (t) => {
  const { relay, tell } = await begin(t, ['--origin', '*']);
  const key = newKey();
  const first = await connectAs(t, relay, key, { origin: 'https://game.example' });
  const player = await tell(first, 'ours');
  const second = await openRtcAs(t, relay, key, { origin: 'https://game.example' });
  assert.equal(await tell(second, 'ours too'), player);
  const stranger = await openRtcAs(t, relay, key, { origin: 'https://evil.example' });
  assert.notEqual(await tell(stranger, 'theirs'), player);
  const nobody = await openRtcAs(t, relay, key);
  assert.notEqual(await tell(nobody, 'or theirs'), player);
});

test('an offer with a malformed key is refused, and says what a key is', async (t) => {
  const { relay, url } = await begin(t);
  const peer = new rtc.stacks[0].RTCPeerConnection();
  own(t, () => peer.close());
  peer.createDataChannel('game', rtc.unreliable);
  const { sdp } = await peer.createOffer();
  const key = newKey();
  for (const offer of [
    withKey(sdp, ''),
    withKey(sdp, key.slice(1)),
    withKey(sdp, `${key}A`),
    withKey(sdp, `${key.slice(1)}+`),
    withKey(withKey(sdp, key), key),
  ]) {
    const reply = await rtc.postOffer(url, offer);
    assert.equal(reply.status, 400);
    const text = await reply.text();
    assert.match(text, /x-causeway-session/);
    assert.ok(!text.includes(key.slice(4, 18)));
  }
  assert.equal((await relay.stats()).rtc_offers_refused, 5);
});

test('the relay stops: all links are told', { skip: oneProcess }, async (t) => {
  const { relay, tell } = await begin(t);
  const key = newKey();
  const first = await connectAs(t, relay, key);
  const second = await openRtcAs(t, relay, key);
  assert.equal(await tell(first, 'one'), await tell(second, 'two'));
  relay.kill('SIGTERM');
  assert.equal((await first.closed()).code, 1001);
  await second.closed();
  assert.deepEqual(await relay.ended(), { code: 0, signal: null });
  await relay.logged(/sessions_open=0 .*sessions_ended_drain=1/);
});

test('what ends a session ends all its links', async (t) => {
  const { relay, tell } = await begin(t);
  const key = newKey();
  const first = await connectAs(t, relay, key);
  const second = await openRtcAs(t, relay, key);
  await tell(second, 'hello');
  first.send('text');
  assert.equal((await first.closed()).code, 1003);
  await second.closed();
  const stats = await statsUntil(relay, ({ sessions_open }) => sessions_open === 0);
  assertStats(stats, { sessions_ended_text: 1, sessions_ended_client: 0 });
  const third = await connect(t, relay);
  await tell(third, 'another');
});
