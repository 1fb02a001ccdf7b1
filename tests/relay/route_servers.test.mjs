// Many game servers behind one relay: the page names one of those that are allowed, and reaches no other.
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import * as rtc from '../support/rtc.mjs';
import { ask, newKey, protocolsOf } from './links.mjs';
import { startRelay, statsUntil } from '../support/relay.mjs';
import { startUdpServer } from '../support/udp_server.mjs';
import { connect } from '../support/websocket.mjs';
import { temporaryFolder } from '../support/fixture.mjs';
import { until } from '../support/patience.mjs';

const folder = temporaryFolder(test);
const file = path.join(folder, 'relay.conf');

/** Returns a server's name as a page writes it: "10.0.0.5_7000", "2001-db8--5_7000". */
const named = (host, port) => `${host.replaceAll(':', '-')}_${port}`;

const connectTo = (t, relay, server, { key } = {}) =>
  connect(t, relay, {
    protocols: [...(key ? protocolsOf(key) : ['causeway.v1']), `causeway.server.${server}`],
  });

const refusal = { code: 4006, reason: 'this game server is not allowed (--upstream)' };

/** Starts three servers, and a relay that allows the first two. */
async function begin(t, args = []) {
  const one = await startUdpServer(t);
  const two = await startUdpServer(t, { host: '::1' });
  const other = await startUdpServer(t);
  const relay = await startRelay(t, {
    upstream: one.upstream,
    args: ['--upstream', two.upstream, ...args],
  });
  return { one, two, other, relay };
}

test('each session reaches the server that its page names', async (t) => {
  const { one, two, other, relay } = await begin(t);
  const key = newKey();
  const first = await connectTo(t, relay, named('127.0.0.1', one.port), { key });
  const second = await connectTo(t, relay, named('::1', two.port), { key });
  await ask(one, first, 'before'); // workers tell each other of sessions that have been answered
  // IPv4 inside IPv6 is the same address, and so the same session.
  const third = await connectTo(t, relay, named('::ffff:127.0.0.1', one.port), { key });
  assert.equal((await first.closed()).code, 4003);
  await ask(one, third, 'to the first');
  await ask(two, second, 'to the second');
  assert.equal((await relay.stats()).sessions_open, 2);

  assert.deepEqual(
    await (await connectTo(t, relay, named('127.0.0.1', other.port))).closed(),
    refusal,
  );
  assert.deepEqual(await (await connect(t, relay)).closed(), refusal);
  const stats = await statsUntil(relay, (now) => now.sessions_refused_server === 2);
  assert.equal(stats.sessions_open, 2);
  assert.equal(other.received.length, 0);
  await relay.logged(/session refused: it asks for no game server that --upstream allows\n/);
});

test('over WebRTC too', async (t) => {
  const { one, two, other, relay } = await begin(t, ['--rtc', '127.0.0.1:0']);
  const open = (server) =>
    rtc.open(t, relay.url, { editOffer: (sdp) => `${sdp}a=x-causeway-server:${server}\r\n` });
  const link = await open(named('::1', two.port));
  link.channel.send(Buffer.from('to the second'));
  await until('the echo', () => link.arrived.length > 0);
  assert.equal(two.received[0].data.toString(), 'to the second');
  for (const [server, status] of [
    [named('127.0.0.1', other.port), 422],
    ['localhost_7000', 400],
    [`${named('127.0.0.1', one.port)}\r\na=x-causeway-server:${named('::1', two.port)}`, 400],
  ])
    await assert.rejects(open(server), new RegExp(String(status)));
  assert.equal((await relay.stats()).sessions_refused_server, 1);
});

test('a page cannot name what is no address', async (t) => {
  const { relay } = await begin(t);
  for (const server of ['localhost_7000', '10.0.0.5', '10.0.0.5_0', '127.1_7000'])
    await assert.rejects(connectTo(t, relay, server), { status: 400 });
  const twice = ['causeway.v1', 'causeway.server.10.0.0.5_1', 'causeway.server.10.0.0.5_2'];
  await assert.rejects(connect(t, relay, { protocols: twice }), { status: 400 });
});

test('of a single server a page need not know the address', async (t) => {
  const server = await startUdpServer(t);
  const relay = await startRelay(t, { upstream: `localhost:${server.port}` });
  await ask(server, await connectTo(t, relay, '192.0.2.1_7000'), 'by another name');
});

test('each server is down, and back, by itself', async (t) => {
  const { one, two, relay } = await begin(t);
  const first = await connectTo(t, relay, named('127.0.0.1', one.port));
  const second = await connectTo(t, relay, named('::1', two.port));
  await ask(one, first, 'hello');
  await ask(two, second, 'hello');
  await one.close();
  const tell = (text, done) =>
    until(`${text}: ${done}`, () => {
      first.send(Buffer.from(text));
      return done();
    });
  const down = new RegExp(`game server ${one.upstream} is down`);
  await tell('lost', () => down.test(relay.log()));
  await ask(two, second, 'still here');
  assert.doesNotMatch(relay.log(), /answers again/);
  await startUdpServer(t, { port: one.port });
  await tell('back', () => /answers again/.test(relay.log()));
  await relay.logged(new RegExp(`game server ${one.upstream} answers again`));
});

test('SIGHUP changes the list; sessions go on', async (t) => {
  const one = await startUdpServer(t);
  const two = await startUdpServer(t);
  const text = (...servers) => servers.map((each) => `upstream = ${each.upstream}\n`).join('');
  writeFileSync(file, text(one, two));
  const relay = await startRelay(t, { upstream: null, args: ['--config', file] });
  const key = newKey();
  const asked = named('127.0.0.1', one.port);
  const player = await connectTo(t, relay, asked, { key });
  const port = await ask(one, player, 'before');

  writeFileSync(file, `${text(two)}upstream = 192.0.2.0/24:1-9\n`);
  relay.kill('SIGHUP');
  await relay.logged(/reloaded the options/);
  assert.equal(await ask(one, player, 'after'), port);
  assert.deepEqual(await (await connectTo(t, relay, asked)).closed(), refusal);
  // A new link of an open session goes to the session's server.
  assert.equal(await ask(one, await connectTo(t, relay, asked, { key }), 'over another'), port);
});
