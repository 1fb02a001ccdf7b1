// A page cannot make the relay send to an address that its operator does not allow.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { assertStats, startRelay, statsUntil } from '../support/relay.mjs';
import { startUdpServer } from '../support/udp_server.mjs';
import { connect } from '../support/websocket.mjs';

/** Tries to reach a server, as a page of an attacker would. Returns the close code or HTTP status. */
async function attempt(t, relay, server) {
  try {
    const protocols = ['causeway.v1', `causeway.server.${server}`];
    const link = await connect(t, relay, { protocols });
    link.send(Buffer.from('from outside'));
    return (await link.closed()).code;
  } catch (error) {
    return error.status;
  }
}

const everything = ['--upstream', '0.0.0.0/0:1-65535', '--upstream', '[::]/0:1-65535'];

for (const [name, args] of [
  ['a list of networks', ['--upstream', '10.0.0.0/8:7000-7999']],
  ['a list of all networks', everything],
])
  test(`${name} does not let pages reach the relay's own machine and link`, async (t) => {
    const inside = await startUdpServer(t);
    const inside6 = await startUdpServer(t, { host: '::1' });
    const allowed = await startUdpServer(t);
    const relay = await startRelay(t, { upstream: allowed.upstream, args });
    const { port } = inside;
    const denied = [
      `127.0.0.1_${port}`,
      `127.1.2.3_${port}`,
      `0.0.0.0_${port}`,
      `--ffff-127.0.0.1_${port}`,
      `--ffff-7f00-1_${port}`,
      `0-0-0-0-0-ffff-127.0.0.1_${port}`,
      `--_${inside6.port}`,
      `--1_${inside6.port}`,
      `0-0-0-0-0-0-0-1_${inside6.port}`,
      '169.254.169.254_80',
      '--ffff-169.254.169.254_80',
      'fe80--1_7000',
      '224.0.0.1_7000',
      '255.255.255.255_7000',
      'ff02--1_7000',
      `--127.0.0.1_${port}`,
      `64-ff9b--7f00-1_${port}`,
      `64-ff9b-1--127.0.0.1_${port}`,
      `2002-7f00-1--_${port}`,
      `2001-0-7f00-1--_${port}`,
    ];
    for (const server of denied) assert.equal(await attempt(t, relay, server), 4006, server);
    for (const server of ['localhost_7000', '127.1_7000', '2130706433_7000', '0x7f000001_7000'])
      assert.equal(await attempt(t, relay, server), 400, server);
    const stats = await statsUntil(relay, (now) => now.sessions_open === 0);
    assertStats(stats, {
      sessions_refused_server: denied.length,
      sessions_opened: 0,
      forwarded_datagrams: 0,
    });
    assert.deepEqual([inside.received, inside6.received], [[], []]);
  });

test('ports outside of a range are out of reach', async (t) => {
  const servers = [await startUdpServer(t), await startUdpServer(t)];
  const [low, high] = servers.map(({ port }) => port).sort((a, b) => a - b);
  const relay = await startRelay(t, {
    upstream: `127.0.0.0/8:${low + 1}-${high}`,
  });
  assert.equal(await attempt(t, relay, `127.0.0.1_${low}`), 4006);
  assert.equal(await attempt(t, relay, `127.0.0.1_${high + 1}`), 4006);
  const protocols = ['causeway.v1', `causeway.server.127.0.0.1_${high}`];
  const link = await connect(t, relay, { protocols });
  await link.echo('hello');
});
