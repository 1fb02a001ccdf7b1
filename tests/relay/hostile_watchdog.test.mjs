// A relay that hangs says where and ends, so that a supervisor can start it again. Nothing that a client can do is
// known to cause that: a library loaded before the system's makes the relay hang as soon as somebody connects.
import assert from 'node:assert/strict';
import test from 'node:test';
import { sleep } from '../support/patience.mjs';
import { startRelay } from '../support/relay.mjs';
import { startUdpServer } from '../support/udp_server.mjs';
import { connect } from '../support/websocket.mjs';

const hanging = `export LD_PRELOAD=${process.env.CAUSEWAY_HANG}`;

test('a relay whose loop does not turn any more logs its stack and aborts', async (t) => {
  const { upstream } = await startUdpServer(t);
  const relay = await startRelay(t, { upstream, args: ['--watchdog', '1'], shell: hanging });
  void connect(t, relay).catch(() => {});
  assert.equal((await relay.ended()).signal, 'SIGABRT');
  const [, stack] = /the event loop has not turned for 1 seconds of work; its stack:\n([^]*)/.exec(
    relay.log(),
  );
  // the stack goes from the call that hangs up to the loop
  assert.match(stack, /accept4[^]*lws_[^]*uv_run[^]*main/);
});

test('a relay that waits, or is stopped, or has no watchdog, is left alone', async (t) => {
  const { upstream } = await startUdpServer(t);
  const relay = await startRelay(t, { upstream, args: ['--watchdog', '1'] });
  const other = await startRelay(t, { upstream, args: ['--watchdog', '0'], shell: hanging });
  void connect(t, other).catch(() => {});
  relay.kill('SIGSTOP');
  await sleep(3000);
  relay.kill('SIGCONT');
  await sleep(3000);
  const client = await connect(t, relay);
  await client.echo('hello');
  assert.ok(other.running());
  assert.match(relay.log(), /the event loop stood still for about [23]\.\d seconds/);
});
