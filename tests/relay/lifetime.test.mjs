import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, test } from 'node:test';
import { patiently, sleep, until } from '../support/patience.mjs';
import { pattern } from '../support/pattern.mjs';
import { startRelay, statsUntil, workers } from '../support/relay.mjs';
import { startPlayed, startServed } from '../support/served.mjs';
import { startUdpServer } from '../support/udp_server.mjs';
import { connect } from '../support/websocket.mjs';
import { repeat } from '../support/fixture.mjs';
import { openRawWebSocket, openTcp } from '../support/tcp.mjs';

// Counts wake-ups, which are context switches: counting them does not depend on how fast the machine is.
async function wakeUps(relay) {
  const count = () => {
    const status = readFileSync(`/proc/${relay.pid}/status`, 'utf8');
    return [...status.matchAll(/ctxt_switches:\s+(\d+)/g)].reduce(
      (sum, [, number]) => sum + Number(number),
      0,
    );
  };
  let last = -1;
  await until('the relay to settle', () => last === (last = count()), 200);
  const before = count();
  await sleep(2000);
  return count() - before;
}

/**
 * Resolves when nothing wakes the relay. A clock that was set before, which a busy machine may make late, goes off once
 * for nothing; if the relay woke again and again, there would be wake-ups in each look.
 */
async function sleeps(relay) {
  const looks = [];
  while (looks.at(-1) !== 0 && looks.length < 5) looks.push(await wakeUps(relay));
  assert.equal(looks.at(-1), 0, `${looks} wake-ups`);
}

/** Resolves when each process has begun to stop: it takes two signals that come together for one. */
const allStopping = (relay) =>
  relay.logged(new RegExp(Array(workers).fill('stopping on').join('[^]*')));

// These tests wait most of the time, each for its own relay.
describe('from the first session to the end', { concurrency: 4 }, () => {
  test('a silent session ends after the idle timeout, one that speaks does not', async (t) => {
    const { server, relay } = await startServed(t, { args: ['--idle-timeout', '3'] });
    const silent = await connect(t, relay);
    const speaker = await connect(t, relay);
    const listener = await connect(t, relay);
    await listener.echo('listening');
    const [address] = server.addresses.values();
    // Datagrams from either side keep a session.
    const timer = repeat(
      t,
      () => {
        speaker.send(pattern(10));
        server.send(Buffer.from('state'), address);
      },
      100,
    );
    assert.deepEqual(await silent.closed(), { code: 4000, reason: 'idle' });
    await sleep(3500);
    assert.equal(speaker.socket.readyState, 1);
    assert.equal(listener.socket.readyState, 1);
    clearInterval(timer);
    assert.equal((await speaker.closed()).code, 4000);
    assert.equal((await listener.closed()).code, 4000);
    assert.equal((await relay.stats()).sessions_ended_idle, 3);
  });

  for (const signal of ['SIGTERM', 'SIGINT']) {
    test(`${signal} closes every session with 1001 and ends with 0`, async (t) => {
      const { relay } = await startServed(t);
      const clients = await Promise.all(Array.from({ length: 10 }, () => connect(t, relay)));
      await clients[0].echo('hello');
      relay.kill(signal);
      for (const client of clients)
        assert.deepEqual(await client.closed(), { code: 1001, reason: 'relay is stopping' });
      assert.deepEqual(await relay.ended(), { code: 0, signal: null });
      assert.match(
        relay.log(),
        / stats sessions_open=0 sessions_opened=10 .*sessions_ended_drain=10/,
      );
      await assert.rejects(connect(t, relay), { code: 'ECONNREFUSED' });
    });
  }

  test('a hangup ends nothing, also with nohup', async (t) => {
    const { relay, client } = await startPlayed(t, { shell: "trap '' HUP" });
    relay.kill('SIGHUP');
    await relay.logged(/reloaded the options/);
    await client.echo('hello');
    assert.equal((await relay.stats()).sessions_ended_drain, 0);
  });

  test('an idle timeout of next to nothing ends sessions, not the relay', async (t) => {
    const { relay, client } = await startPlayed(t, { args: ['--idle-timeout', '0.000001'] });
    assert.equal((await client.closed()).code, 4000);
    assert.equal((await relay.stats()).sessions_ended_idle, 1);
  });

  test('the limit of descriptors is what twice the sessions need, whatever it was', async (t) => {
    const server = await startUdpServer(t);
    for (const before of [1000, 4000]) {
      const relay = await startRelay(t, {
        upstream: server.upstream,
        shell: `ulimit -S -n ${before}`,
        args: ['--max-sessions', '10'],
      });
      const limits = readFileSync(`/proc/${relay.pid}/limits`, 'utf8');
      assert.equal(/^Max open files +(\d+)/m.exec(limits)[1], '2168');
    }
  });

  test('a stopping relay accepts nobody, and does not wait for ever for a browser that is stuck', async (t) => {
    const { relay } = await startServed(t);
    await openRawWebSocket(t, relay);
    relay.kill('SIGTERM');
    await allStopping(relay);
    await assert.rejects(connect(t, relay), { code: 'ECONNREFUSED' });
    assert.deepEqual(await relay.ended(), { code: 0, signal: null });
  });

  test('a second signal does not wait', async (t) => {
    const { relay } = await startServed(t);
    await openRawWebSocket(t, relay);
    relay.kill('SIGTERM');
    await allStopping(relay);
    relay.kill('SIGTERM');
    assert.deepEqual(await relay.ended(), { code: 0, signal: null });
    await relay.logged(/stopping at once/);
  });

  test('a browser that vanished is found by pings, one that only listens is kept', async (t) => {
    const { relay, client } = await startPlayed(t, {
      // A busy machine may keep this process from answering for a while.
      args: ['--ping-interval', '4', '--request-timeout', '1000'],
    });
    let pings = 0;
    client.socket.on('ping', () => pings++);
    const gone = await connect(t, relay, { autoPong: false });
    await gone.closed();
    await statsUntil(relay, ({ sessions_open }) => sessions_open === 1);
    assert.equal(client.socket.readyState, 1);
    assert.ok(pings >= 1);
  });

  test('a connection without a whole handshake does no harm', async (t) => {
    const lines = [
      'GET / HTTP/1.1',
      'Host: 127.0.0.1',
      'Upgrade: websocket',
      'Connection: Upgrade',
      'Sec-WebSocket-Version: 13',
      'Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==',
      'Sec-WebSocket-Protocol: causeway.v1',
    ];
    const { relay } = await startServed(t);
    for (const bytes of [
      '',
      'GET',
      '\0\x01\x02\xff\r\n\r\n',
      'GET / HTTP/1.1\r\nUpgrade: websocket\r\n\r\n',
      'PUT / HTTP/1.1\r\n\r\n',
      ...lines.map((missing) => lines.filter((line) => line !== missing).join('\r\n') + '\r\n\r\n'),
    ]) {
      const socket = openTcp(t, relay.port);
      const closed = new Promise((resolve) => socket.once('close', resolve));
      socket.resume();
      socket.end(bytes || '\r\n');
      await patiently(closed, `the end of ${JSON.stringify(bytes)}`);
    }
    const client = await connect(t, relay);
    await client.echo('hello');
    relay.kill('SIGTERM');
    assert.equal((await relay.ended()).code, 0);
  });

  test('a relay with nothing to do sleeps', async (t) => {
    const { relay } = await startServed(t);
    await sleeps(relay);
    const client = await connect(t, relay);
    await client.echo('hello');
    await sleeps(relay);
  });

  test('a relay whose last session has gone sleeps again', async (t) => {
    const { relay, client } = await startPlayed(t, {
      args: ['--ping-interval', '1', '--idle-timeout', '0'],
    });
    await client.echo('hello');
    await patiently(new Promise((resolve) => client.socket.once('ping', resolve)), 'a ping');
    client.close(1000);
    await client.closed();
    await sleeps(relay);
  });
});
