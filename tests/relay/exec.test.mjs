// A game server beside the relay, which starts it with --exec and ends with it.
import assert from 'node:assert/strict';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import test from 'node:test';
import { own, temporaryFolder } from '../support/fixture.mjs';
import { freePort } from '../support/free_port.mjs';
import { until } from '../support/patience.mjs';
import { childrenOf, isAlive } from '../support/programs.mjs';
import { run, startRelay } from '../support/relay.mjs';
import { connect } from '../support/websocket.mjs';

const folder = temporaryFolder(test);
const program = path.join(folder, 'game.mjs');
writeFileSync(
  program,
  `import { createSocket } from 'node:dgram';
   import { writeFileSync } from 'node:fs';
   const [port, note, code] = process.argv.slice(2);
   const socket = createSocket('udp4');
   socket.on('message', (data, { port, address }) => {
     if (data.toString() === 'end') process.exit(Number(code));
     socket.send(data, port, address);
   });
   for (const signal of ['SIGTERM', 'SIGINT'])
     process.on(signal, () => {
       writeFileSync(note, signal);
       if (code !== 'stays') process.exit(Number(code));
     });
   socket.bind(Number(port), '127.0.0.1', () => writeFileSync(note, 'ready ' + process.pid));`,
);

let games = 0;

/** Starts a relay with a game server beside it, which notes what happens to it and ends with this code. */
async function start(t, { code = 0, args = [], wrap = (command) => command } = {}) {
  const port = await freePort();
  const note = path.join(folder, `note${games++}`);
  const command = wrap(`${process.execPath} ${program} ${port} ${note} ${code}`);
  let pid = 0;
  // A test that ends kills the relay's first process. The game server hears of that and writes into the folder.
  own(t, () => until('the end of the game server', () => !pid || !isAlive(pid)));
  const relay = await startRelay(t, {
    upstream: `127.0.0.1:${port}`,
    args: ['--exec', command, ...args],
  });
  const noted = () => (existsSync(note) ? readFileSync(note, 'utf8') : '');
  await until('the game server', () => noted().startsWith('ready '));
  pid = Number(noted().slice(6));
  return { relay, port, pid, noted };
}

for (const args of [[], ['--workers', '2']])
  test(`it plays, and both end on SIGTERM ${args.join(' ')}`, async (t) => {
    const { relay, pid, noted } = await start(t, { args });
    const client = await connect(t, relay);
    await client.echo('hello');
    assert.equal(await relay.stop(), 0);
    assert.equal(noted(), 'SIGTERM');
    assert.ok(!isAlive(pid));
    await assert.rejects(connect(t, relay));
    assert.match(relay.log(), /the game server has ended with exit code 0\n/);
  });

test('SIGINT goes to both, and a failure of the game server is told', async (t) => {
  const { relay, noted } = await start(t, { code: 3 });
  assert.equal(await relay.stop('SIGINT'), 3);
  assert.equal(noted(), 'SIGINT');
});

test('a game server that ends takes the relay with it, and its exit code is told', async (t) => {
  const { relay } = await start(t, { code: 7 });
  const client = await connect(t, relay);
  await client.echo('hello');
  client.send(Buffer.from('end'));
  assert.equal((await client.closed()).code, 1001);
  assert.deepEqual(await relay.ended(), { code: 7, signal: null });
  assert.match(relay.log(), /the game server has ended with exit code 7\n/);
  assert.match(relay.log(), /the relay has ended with exit code 0\n/);
});

test('a game server that a signal kills has failed, unless it was asked to end', async (t) => {
  const killed = await start(t);
  process.kill(killed.pid, 'SIGSEGV');
  assert.equal((await killed.relay.ended()).code, 128 + 11);
  // sleep heeds no signal by a handler.
  const relay = await startRelay(t, { upstream: '127.0.0.1:9', args: ['--exec', 'sleep 1000'] });
  assert.equal(await relay.stop(), 0);
  assert.match(relay.log(), /the game server has ended by signal 15 \(Terminated\)\n/);
});

test('a relay that dies ends the game server', async (t) => {
  const { relay, pid, noted } = await start(t);
  const child = childrenOf(relay.pid).find((each) => each !== pid);
  process.kill(child, 'SIGKILL');
  assert.equal((await relay.ended()).code, 128 + 9);
  assert.equal(noted(), 'SIGTERM');
});

test('a game server that does not heed the signal is killed', async (t) => {
  const { relay, pid } = await start(t, { code: 'stays' });
  assert.equal(await relay.stop(), 128 + 9);
  assert.ok(!isAlive(pid));
});

test('a shell in front of the game server does not keep signals from it', async (t) => {
  const wrap = (command) => `sh -c '${command}; true'`;
  const { relay, pid, noted } = await start(t, { wrap });
  assert.equal(await relay.stop(), 0);
  await until('the end of the game server', () => !isAlive(pid));
  assert.equal(noted(), 'SIGTERM');
});

test('nothing is left when the first process is killed', async (t) => {
  const { relay, pid } = await start(t);
  const children = childrenOf(relay.pid);
  assert.equal(children.length, 2);
  relay.kill('SIGKILL');
  await until('the end of both', () => ![pid, ...children].some(isAlive));
});

test('other signals are for the relay alone, and there is no upgrade', async (t) => {
  const { relay, noted } = await start(t);
  assert.equal((await relay.stats()).sessions_open, 0);
  relay.kill('SIGHUP');
  await relay.logged(/reloaded the options/);
  relay.kill('SIGUSR2');
  await relay.logged(/no upgrade: with --exec another relay has another game server/);
  assert.match(noted(), /^ready /);
});

test('a relay or a command that cannot be started ends the other', async (t) => {
  const upstream = ['--upstream', '127.0.0.1:9', '--drain-timeout', '0'];
  const { relay } = await start(t);
  const taken = ['--listen', `127.0.0.1:${relay.port}`, ...upstream, '--exec', 'sleep 1000'];
  assert.equal((await run(taken)).code, 1);
  const none = ['--listen', '127.0.0.1:0', ...upstream, '--exec', '/no/such/game'];
  const { code, stderr } = await run(none);
  assert.equal(code, 127);
  assert.match(stderr, /the game server has ended with exit code 127\n/);
});
