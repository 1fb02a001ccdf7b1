// A stranger with a network of IPv6 has any number of addresses: the relay counts them as one.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import test from 'node:test';
import { startCrowd } from './hostile_crowd.mjs';
import { startRig } from './hostile_rig.mjs';
import { startServed } from '../support/served.mjs';
import { connect } from '../support/websocket.mjs';
import { enterOwnNetwork, isInside } from '../support/own_network.mjs';

const LIMIT = 3;
const NETWORKS = ['fd00:0:0:1', 'fd00:0:0:2'];
const address = (network, host) => `${NETWORKS[network]}:${host.toString(16)}::1`;
const HOSTS = 20;

// Loopback has one address of IPv6 only, and more of them need a network of our own: this file
// starts itself again inside of one.
if (!isInside) {
  enterOwnNetwork(import.meta.url, '-rn', 'ip -6 addr');
} else {
  for (let network = 0; network < NETWORKS.length; network++)
    for (let host = 1; host <= HOSTS; host++) {
      const each = `${address(network, host)}/128`;
      execFileSync('ip', ['-6', 'addr', 'add', each, 'dev', 'lo', 'nodad']);
    }

  test('sessions of one /64 are those of one address', async (t) => {
    const { relay } = await startServed(t, {
      listen: '[::]:0',
      args: ['--max-sessions-per-address', String(LIMIT)],
    });
    const enterFrom = (localAddress) => connect(t, relay, { host: '[::1]', localAddress });
    for (let host = 1; host <= LIMIT; host++) await enterFrom(address(0, host));
    const refused = await enterFrom(address(0, LIMIT + 1));
    assert.equal((await refused.closed()).code, 1013);
    assert.equal((await relay.stats()).sessions_refused_address, 1);
    const other = await enterFrom(address(1, 1));
    await other.echo('hello');
  });

  test('so are connections that are no sessions', async (t) => {
    const rig = await startRig(t, { listen: '[::]:0' });
    const from = (i) => address(0, 1 + i);
    const crowd = startCrowd(t, rig.relay, { count: 800, addresses: HOSTS, host: '::1', from });
    await crowd.reached();
    await rig.newcomer();
    const { connections_refused, connections_evicted } = await rig.relay.stats();
    assert.ok(connections_refused > 0);
    assert.equal(connections_evicted, 0);
    crowd.stop();
    await rig.check();
  });
}
