// causeway-load plays players against relays, and its figures agree with theirs.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import http from 'node:http';
import { join } from 'node:path';
import test from 'node:test';
import { temporaryFolder } from '../support/fixture.mjs';
import { next, until } from '../support/patience.mjs';
import { lineOf, runProgram, startProgram } from '../support/programs.mjs';
import { startRelay } from '../support/relay.mjs';
import { startServed } from '../support/served.mjs';

const KEY = '11'.repeat(32);
/** The echo server's number. */
const PROTOCOL = '0x1122334455667788';

/** Runs causeway-load for a moment, with six players unless it is told otherwise. */
const load = (...args) =>
  runProgram(process.env.CAUSEWAY_LOAD, ['--players', '6', '--seconds', '0.5', ...args]);

const loadJson = async (...args) => {
  const { code, stdout, stderr } = await load('--json', ...args);
  return { code, stderr, results: stdout && JSON.parse(stdout) };
};

/** The transports of this build, and the relay's options for them. */
const [transports, relayArgs] = process.env.CAUSEWAY_WEBTRANSPORT_CLIENT
  ? ['udp,websocket,webrtc,webtransport', ['--rtc', '127.0.0.1:0', '--webtransport']]
  : ['udp,websocket,webrtc', ['--rtc', '127.0.0.1:0']];
const relayed = transports.split(',').slice(1);
const PLAYERS = 2 * (1 + relayed.length);

const wsOf = (relay) => `ws://${relay.host}:${relay.port}/`;
const sum = (results, name) => results.reduce((all, result) => all + result[name], 0);

/** Starts the echo server of the examples. */
async function startGame(t) {
  const env = { ...process.env, CAUSEWAY_KEY: KEY };
  const child = startProgram(t, process.env.CAUSEWAY_ECHO_SERVER, ['127.0.0.1:0'], { env });
  return (await lineOf(child, /listening on (\S+)/))[1];
}

/** Asserts that all players of a transport got through, and have figures. */
function assertPlayed(result, players) {
  const { connected, refused, dropped, packets, returned } = result;
  assert.deepEqual({ connected, refused, dropped }, { connected: players, refused: 0, dropped: 0 });
  assert.ok(packets > 0 && returned > 0 && returned <= packets);
  for (const name of ['connect', 'rtt'])
    assert.ok(result[`${name}_p50_ms`] > 0 && result[`${name}_p50_ms`] <= result[`${name}_p99_ms`]);
}

test('bare datagrams come back over each transport, and the relay counts the same', async (t) => {
  const { server, relay } = await startServed(t, { args: relayArgs });
  const wanted = ['--transport', transports, '--players', String(PLAYERS)];
  const { code, results } = await loadJson(...wanted, '--server', server.upstream, wsOf(relay));
  assert.equal(code, 0);
  assert.deepEqual(Object.keys(results), transports.split(','));
  Object.values(results).forEach((result) => assertPlayed(result, 2));
  const figures = relayed.map((name) => results[name]);
  let stats;
  await until('the end of the sessions', async () => {
    stats = await relay.stats();
    return stats.sessions_ended_client === PLAYERS - 2;
  });
  assert.equal(stats.sessions_opened, PLAYERS - 2);
  assert.equal(stats.client_datagrams, sum(figures, 'datagrams_sent'));
  assert.equal(stats.client_bytes, sum(figures, 'bytes_sent'));
  assert.equal(stats.delivered_datagrams, sum(figures, 'datagrams_received'));
});

test('players with tokens are players of a real game server', async (t) => {
  const game = await startGame(t);
  const folder = temporaryFolder(t);
  const key = join(folder, 'key');
  writeFileSync(key, `${KEY}\n`);
  const relay = await startRelay(t, {
    upstream: game,
    gated: true,
    args: relayArgs,
  });
  const tokens = ['--key', key, '--protocol-id', PROTOCOL, '--server', game];
  const probe = ['--transport', 'udp', '--players', '1', '--seconds', '0'];
  await until(
    'the time from which a new server is sure that a token was not used before',
    async () => (await load(...tokens, ...probe)).code === 0,
  );
  const wanted = ['--transport', transports, '--players', String(PLAYERS)];
  const { code, results } = await loadJson(...tokens, ...wanted, wsOf(relay));
  assert.equal(code, 0);
  Object.values(results).forEach((result) => assertPlayed(result, 2));

  let asked = 0;
  const backend = http.createServer((request, response) => {
    assert.equal(request.method, 'POST');
    asked += 1;
    const args = [...tokens, '--client-id', String(asked), '--binary'];
    response.end(execFileSync(process.env.CAUSEWAY_TOKEN, args));
  });
  backend.listen(0, '127.0.0.1');
  await next(backend, 'listening');
  t.after(() => backend.close());
  const from = ['--token-url', `http://127.0.0.1:${backend.address().port}/token`];
  const fetched = await loadJson('--players', '2', ...from, wsOf(relay));
  assertPlayed(fetched.results.websocket, 2);
  assert.equal(asked, 2);
});

test('players who are refused are counted, and the table says why', async (t) => {
  const { relay } = await startServed(t, { args: ['--max-sessions-per-address', '2'] });
  const { code, stdout } = await load(wsOf(relay));
  assert.equal(code, 1);
  assert.match(stdout, /^websocket +6 +2 +4 +0 /m);
  assert.match(stdout, /refused or dropped because: try later$/m);
});

test('a mistake in the arguments is told in one line', async () => {
  const url = 'ws://127.0.0.1:1/';
  for (const [args, error] of [
    [[], /websocket needs the relay's URL, as in ws:\/\/127\.0\.0\.1:8080\//],
    [['--players', 'many', url], /--players needs a number from 1 to 100000, not 'many'/],
    [['--transport', 'tcp', url], /--transport needs some of udp,websocket,webrtc\S*, not 'tcp'/],
    [['--transport', 'udp'], /udp needs --server/],
    [['--key', '/nowhere', url], /--key needs a file, and \/nowhere cannot be read/],
    [['--insecure', url], /--key and --insecure need --server/],
    [['--server', '127.0.0.1', url], /--server needs ADDRESS:PORT/],
    [['--token-url', 'token', url], /--token-url needs a URL/],
    [['--players', '1', 'http://127.0.0.1:1/'], /must begin with ws:\/\/ or wss:\/\//],
    [[url, url], /there is one relay/],
  ]) {
    const { code, stdout, stderr } = await load(...args);
    assert.deepEqual({ code, stdout }, { code: 2, stdout: '' });
    assert.match(stderr, error);
    assert.match(stderr, /^causeway-load: .*; see --help\n$/);
  }
});
