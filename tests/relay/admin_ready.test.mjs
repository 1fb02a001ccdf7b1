// The answers to the questions whether the relay lives, and whether newcomers should come.
import assert from 'node:assert/strict';
import test from 'node:test';
import { askAdmin, startWatched } from './admin.mjs';
import { pattern } from '../support/pattern.mjs';
import { run, startRelay } from '../support/relay.mjs';
import { startServed } from '../support/served.mjs';
import { connect } from '../support/websocket.mjs';

test('a relay is ready until it drains, and then says why it is not', async (t) => {
  const { relay } = await startWatched(t, { args: ['--drain-timeout', '1000'] });
  assert.deepEqual(await relay.ask('/healthz'), { status: 200, type: 'text/plain', text: 'ok\n' });
  assert.deepEqual(await relay.ask('/readyz'), {
    status: 200,
    type: 'text/plain',
    text: 'ready\n',
  });
  const player = await connect(t, relay);
  await player.echo(pattern(10));
  relay.kill('SIGTERM');
  await relay.logged(/draining/);
  const { status, text } = await relay.ask('/readyz');
  assert.deepEqual({ status, text }, { status: 503, text: 'draining\n' });
  assert.equal((await relay.ask('/healthz')).status, 200);
  assert.match((await relay.ask('/metrics')).text, /^causeway_relay_ready 0$/m);
  player.close(1000);
  assert.equal((await relay.ended()).code, 0);
});

test('a relay without a place left is ready, since its players may need new links', async (t) => {
  const { relay } = await startWatched(t, { args: ['--max-sessions', '1'] });
  const player = await connect(t, relay);
  await player.echo(pattern(10));
  assert.equal((await relay.ask('/readyz')).status, 200);
});

test('the successor of an upgrade answers at the same port', async (t) => {
  const { relay } = await startWatched(t);
  await relay.upgrade();
  for (let i = 0; i < 4; i++) assert.equal((await relay.ask('/readyz')).status, 200);
});

test('a port alone is one of this machine, and no listener is open unless asked for', async (t) => {
  const { server, relay } = await startServed(t, { args: ['--admin', '0'] });
  const [, port] = await relay.logged(/admin listener on 127\.0\.0\.1:(\d+)\n/);
  assert.equal((await askAdmin(Number(port), '/healthz')).status, 200);
  const without = await startRelay(t, { upstream: server.upstream });
  assert.doesNotMatch(without.log(), /admin/);
  for (const wrong of ['game.example:9090', '127.0.0.1', '99999', '']) {
    const { code, stderr } = await run(['--upstream', server.upstream, '--admin', wrong]);
    assert.equal(code, 2, wrong);
    assert.match(stderr, /^causeway-relay: --admin needs a port, or an IP address and a port/);
  }
});
