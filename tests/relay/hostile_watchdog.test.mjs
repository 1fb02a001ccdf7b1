// A relay that hangs says where and ends, so that a supervisor can start it again. Nothing that a client can do is
// known to cause that: a library loaded before the system's makes the relay hang as soon as somebody connects.
import assert from 'node:assert/strict';
import test from 'node:test';
import { repeat } from '../support/fixture.mjs';
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
  const client = await connect(t, relay);
  await client.echo('hello');
  const timer = repeat(t, () => client.send(Buffer.of(1)), 20);
  do {
    relay.kill('SIGSTOP');
    await sleep(3000);
    relay.kill('SIGCONT');
    await sleep(3000);
  } while (!/the event loop stood still for about \d+\.\d seconds/.test(relay.log()));
  clearInterval(timer);
  assert.ok(other.running());
});
