// SIGHUP: options change while somebody plays.
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import test from 'node:test';
import { startRelay } from '../support/relay.mjs';
import { startUdpServer } from '../support/udp_server.mjs';
import { connect } from '../support/websocket.mjs';
import { temporaryFolder } from '../support/fixture.mjs';

const folder = temporaryFolder(test);
const file = path.join(folder, 'relay.conf');

/** Starts a relay with a file of options, and a player who plays through all that is done to it. */
async function startConfigured(t, text) {
  const server = await startUdpServer(t);
  writeFileSync(file, text);
  const relay = await startRelay(t, { upstream: server.upstream, args: ['--config', file] });
  const player = await connect(t, relay);
  let sent = 0;
  const plays = async () => {
    player.send(Buffer.from('move'));
    await player.received(++sent);
  };
  /** Reloads another text, and waits for the answer in the log. */
  const reload = async (changed, pattern, { goesOn = true } = {}) => {
    const from = relay.log().length;
    writeFileSync(file, changed);
    relay.kill('SIGHUP');
    await relay.logged(pattern, from);
    if (goesOn) await plays();
    return relay.log().slice(from);
  };
  await plays();
  return { relay, player, reload };
}

const page = (origin) => ({ origin, headers: { Host: 'game.example' } });
const codeOf = async (client) => (await client.closed()).code;

test('origins, limits and the log level change under a player', async (t) => {
  const { relay, reload } = await startConfigured(t, 'origin = https://a.example\n');
  assert.equal(await codeOf(await connect(t, relay, page('https://b.example'))), 4004);
  const patient = 'request-timeout = 1000\nidle-timeout = 1000\n';
  const debug = 'origin = https://b.example\nlog-level = debug\n';
  await reload(patient + debug, /reloaded the options/);
  const b = await connect(t, relay, page('https://b.example'));
  await relay.logged(/debug session \d+: websocket from/);
  assert.equal(await codeOf(await connect(t, relay, page('https://a.example'))), 4004);

  const limits = 'max-sessions-per-address = 2\norigin = *\n';
  await reload(patient + limits, /reloaded the options/);
  assert.equal(await codeOf(await connect(t, relay)), 1013); // the player and b are two
  // A shorter time counts for those who are there already.
  const soon = 'request-timeout = 1000\nidle-timeout = 0.1\n';
  await reload(soon, /reloaded the options/, { goesOn: false });
  assert.equal(await codeOf(b), 4000);
});

test('--max-sessions changes, and nobody loses a place', async (t) => {
  const rest = 'max-sessions-per-address = 0\n';
  const { relay, reload } = await startConfigured(t, `${rest}max-sessions = 2\n`);
  const refused = async () => assert.equal(await codeOf(await connect(t, relay)), 1013);
  const admit = async () => (await connect(t, relay)).echo('hello');
  await admit();
  await refused();
  await reload(`${rest}max-sessions = 4\n`, /reloaded the options/);
  for (let i = 2; i < 4; i++) await admit();
  await refused();
  await reload(`${rest}max-sessions = 2\n`, /reloaded the options/);
  await refused();
  assert.equal((await relay.stats()).sessions_open, 4);
  const said = await reload(`${rest}max-sessions = 9\n`, /max-sessions is 4 for now[^]*/);
  assert.doesNotMatch(said, /has changed/);
});

test('workers share another --max-sessions', async (t) => {
  const rest = 'max-sessions-per-address = 0\nworkers = 2\n';
  const { relay, reload } = await startConfigured(t, `${rest}max-sessions = 4\n`);
  await reload(`${rest}max-sessions = 9\n`, /(worker \d: max-sessions is 8 for now[^]*){2}/);
  for (let i = 1; i <= 4; i++) await (await connect(t, relay)).echo('hello');
});

test('a mistake leaves all options as they were, and is one line', async (t) => {
  const { relay, reload } = await startConfigured(t, 'max-sessions-per-address = 1\n');
  const said = await reload('origin = *\nmax-sessions-per-address = few\n', /not reloaded.*\n/);
  assert.match(
    said,
    /^\S+ error not reloaded: \S+relay\.conf:2: max-sessions-per-address needs [^\n]+\n$/,
  );
  assert.equal(await codeOf(await connect(t, relay)), 1013);
});

test('what only a restart changes is said, once for each option', async (t) => {
  const { relay, reload } = await startConfigured(t, 'queue-bytes = 500\nlisten = 127.0.0.1:0\n');
  const changed = 'queue-bytes = 600\nroot = /\nlisten = 127.0.0.1:1\nidle-timeout = 10\n';
  const said = await reload(changed, /root has changed.*\n(.*queue-bytes has changed.*\n)/);
  assert.deepEqual(
    [...said.matchAll(/warn +(\S+) has changed: restart the relay/g)].map(([, name]) => name),
    ['root', 'queue-bytes'], // --listen is on the command line
  );
  // A default that is given explicitly is no change.
  await reload('queue-bytes = 500\nqueue-age = 0.25\n', /reloaded the options\n/);
  await relay.stats(); // the counters are logged after the reload
  assert.doesNotMatch(relay.log(), /queue-age has/);
});
