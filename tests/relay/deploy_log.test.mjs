// The contents of the log, in both formats, and the secrets that it never contains.
import assert from 'node:assert/strict';
import net from 'node:net';
import test from 'node:test';
import { request } from './packets.mjs';
import { patiently } from '../support/patience.mjs';
import { run, statsUntil } from '../support/relay.mjs';
import { startServed } from '../support/served.mjs';
import { connect } from '../support/websocket.mjs';
import { own } from '../support/fixture.mjs';

const KEY = 'Kq3tAAAAAAAAAAAAAAAAzQ';
const named = { protocols: ['causeway.v1', `causeway.session.${KEY}`] };

/** A client sends three datagrams of ten bytes and leaves. */
async function playAndLeave(t, relay) {
  const player = await connect(t, relay, named);
  for (let i = 0; i < 3; i++) player.send(Buffer.alloc(10));
  await player.received(3);
  player.close(1000);
  return player;
}

test('a session has a line at its end that tells all of it', async (t) => {
  const { server, relay } = await startServed(t);
  await playAndLeave(t, relay);
  const [, client, upstream, port] = await relay.logged(
    new RegExp(
      /info {2}session ended session=1 token=none client=(\S+) server=(\S+) source=127\.0\.0\.1:(\d+) transport=websocket /
        .source +
        /seconds=[\d.]+ client_datagrams=3 client_bytes=30 upstream_datagrams=3 upstream_bytes=30 /
          .source +
        /answered=yes why="its browser ended it, or was lost" rtt_ms=[\d.]+\n/.source,
    ),
  );
  assert.match(client, /^127\.0\.0\.1:\d+$/);
  assert.equal(upstream, server.upstream);
  assert.deepEqual([...server.addresses.keys()], [Number(port)]);
});

test('a session has lines when datagrams are dropped, and when its link breaks', async (t) => {
  const args = ['--upstream-packets', '4', '--answer-timeout', '1'];
  const { relay } = await startServed(t, { args });
  const player = await connect(t, relay, named);
  await player.echo('hello');
  for (let i = 0; i < 50; i++) player.send(Buffer.alloc(10));
  const line = (why) => relay.logged(new RegExp(`session changed session=1 .*why="${why}".*\n`));
  const [dropped] = await line('datagrams were dropped');
  assert.match(dropped, / rtt_ms=[\d.]+ dropped_upstream_rate=\d+\n/);
  player.socket.terminate();
  await line('has no link after websocket');
  const next = await connect(t, relay, named);
  await line('goes on over websocket');
  next.close(1000);
  const [, drops] = await relay.logged(/session ended session=1 .* dropped_upstream_rate=(\d+)\n/);
  assert.equal(Number(drops), (await relay.stats()).dropped_upstream_rate);
  // A link that comes and goes all the time does not fill the log.
  for (let i = 0; i < 20; i++) {
    const again = await connect(t, relay, named);
    if (i === 0) await again.echo('hello');
    again.socket.terminate();
    await statsUntil(relay, ({ sessions_unlinked }) => sessions_unlinked >= i + 2);
  }
  assert.ok(relay.log().match(/session changed session=2/g).length < 20);
});

test('in JSON each line is an object', async (t) => {
  const { relay } = await startServed(t, {
    args: ['--log-format', 'json', '--log-level', 'debug'],
  });
  await playAndLeave(t, relay);
  await relay.logged(/"session ended"/);
  const strange = 'https://"\\\xe4\x7f.example';
  const socket = net.connect(relay.port, '127.0.0.1', () =>
    socket.write(
      `GET / HTTP/1.1\r\nHost: a\r\nOrigin: ${strange}\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n` +
        'Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n' +
        'Sec-WebSocket-Protocol: causeway.v1\r\n\r\n',
      'latin1',
    ),
  );
  own(t, () => socket.destroy());
  await relay.logged(/refused/);
  relay.kill('SIGTERM');
  await relay.ended();
  const lines = relay.log().trimEnd().split('\n').map(JSON.parse);
  for (const { time, level, message } of lines) {
    assert.ok(Math.abs(Date.parse(time) - Date.now()) < 600_000, time);
    assert.match(level, /^(error|warn|info|debug)$/);
    assert.equal(typeof message, 'string');
  }
  const by = (message) => lines.find((line) => line.message.includes(message));
  assert.ok(by('refused: ').message.includes(strange), by('refused: ').message);
  assert.equal(by('stats').sessions_opened, 1);
  const { session, transport, client_bytes, answered } = by('session ended');
  assert.deepEqual([session, transport, client_bytes, answered], [1, 'websocket', 30, 'yes']);
});

for (const format of ['text', 'json']) {
  test(`each line of a worker says which, as ${format}`, async (t) => {
    const { relay } = await startServed(t, { args: ['--workers', '2', '--log-format', format] });
    await playAndLeave(t, relay);
    const [line, session] = await relay.logged(/.*session ended.*session\W+(\d+).*\n/);
    const worker = Number(session) % 100;
    const supervised = relay.log().match(/.*2 workers listening on .*\n/)[0];
    if (format === 'json') {
      assert.equal(JSON.parse(line).worker, worker);
      assert.ok(!('worker' in JSON.parse(supervised)), supervised);
    } else {
      assert.match(line, new RegExp(`Z info  worker ${worker}: session ended session=`));
      assert.match(supervised, /Z info {2}2 workers listening/);
    }
  });
}

test('a text that is too long is cut, and the line whole', async () => {
  for (const letter of ['x', '"', '\xe4']) {
    const root = letter.repeat(3900);
    const args = ['--listen', '127.0.0.1:0', '--upstream', '127.0.0.1:9', '--root', root];
    const { stderr } = await run([...args, '--log-format', 'json', '--log-level', 'error']);
    assert.ok(stderr.length <= 4096 && stderr.endsWith('"}\n'), stderr);
    const bytes = Buffer.from(letter).toString('latin1');
    const start = `cannot serve files from ${bytes.repeat(300)}`;
    assert.ok(JSON.parse(stderr).message.startsWith(start), stderr);
  }
});

test('sessions that the game server does not answer are not told one by one', async (t) => {
  const { relay } = await startServed(t, { answer: () => null });
  const since = performance.now();
  for (let i = 0; i < 30; i++) await (await connect(t, relay)).socket.terminate();
  await statsUntil(relay, ({ sessions_ended_client }) => sessions_ended_client >= 30);
  const seconds = (performance.now() - since) / 1000;
  assert.ok(relay.log().match(/session ended/g).length <= 1 + seconds / 5, relay.log());
});

test('not even in debug does it tell keys, tokens or what asks for them', async (t) => {
  const { relay } = await startServed(t, {
    gated: true,
    args: ['--log-level', 'debug', '--rtc', '127.0.0.1:0'],
  });
  const secrets = [KEY];
  const post = (path, body, headers = {}) =>
    fetch(`http://127.0.0.1:${relay.port}${path}`, { method: 'POST', body, headers });

  const player = await connect(t, relay, named);
  const token = request();
  secrets.push(token.toString('hex', 100, 116), token.toString('base64', 99, 123));
  player.send(token);
  await player.received(1);
  const second = await connect(t, relay, named); // this link takes the place of the first
  assert.equal((await player.closed()).code, 4003);
  second.send(Buffer.concat([token, token])); // no honest client would send this
  const refused = { protocols: ['causeway.v1', `causeway.session.${KEY}x`] };
  await assert.rejects(connect(t, relay, refused));
  await post('/rtc', `v=0\r\na=x-causeway-session:${KEY}\r\n`, { 'content-type': 'text/plain' });
  await post(`/rtc/${KEY}?token=${KEY}`, KEY, { authorization: `Bearer ${KEY}` });
  await patiently(
    new Promise((resolve) => {
      const socket = net.connect(relay.port, '127.0.0.1', () =>
        socket.end(`GET /?${KEY} HTTP/1.1\r\nHost: ${KEY}\r\nBroken ${KEY}\r\n\r\n`),
      );
      socket.on('error', resolve).on('close', resolve).resume();
    }),
    'the end of a broken request',
  );
  relay.kill('SIGTERM');
  await relay.ended();
  await relay.logged(/debug session 1: websocket from/);
  const id = token.toString('hex', token.length - 16, token.length - 8);
  await relay.logged(new RegExp(`session ended session=1 token=${id} client=`));
  for (const secret of secrets) assert.ok(!relay.log().includes(secret), relay.log());
});
