// Players on two relays of kubernetes.yaml behind HAProxy, which does what an Ingress controller makes of the manifest's
// hosts: each leads to its own pod, ready or not.
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import test from 'node:test';
import { connect as join } from '../support/causeway.mjs';
import { own, temporaryFolder } from '../support/fixture.mjs';
import { freePort } from '../support/free_port.mjs';
import { manifests, named, podOf } from '../support/kubernetes.mjs';
import { startPlayer } from '../support/player.mjs';
import { proxies, startProxy } from '../support/proxies.mjs';
import { startRelay, statsUntil } from '../support/relay.mjs';
import { messages, startGameServer } from '../support/secure.mjs';
import { WebSocket } from '../support/websocket.mjs';

const all = manifests('kubernetes.yaml');
const { ConfigMap, Ingress } = named(all);
const hosts = Ingress.spec.rules.map(({ host }) => host);
const PLAYERS = 3;

/** Starts a relay as a pod does, with the manifest's options. */
async function startPod(t, server, port) {
  const places = {
    listen: `127.0.0.1:${port}`,
    rtc: '127.0.0.1:0',
    admin: '127.0.0.1:0',
    upstream: server.upstream,
    'trusted-proxy': '127.0.0.1', // the network of the Ingress controller
    'log-format': 'text',
  };
  let config = `${ConfigMap.data['relay.conf']}max-sessions-per-address = 1\n`;
  for (const [name, value] of Object.entries(places)) {
    const line = new RegExp(`^${name} = .*$`, 'm');
    assert.match(config, line);
    config = config.replace(line, `${name} = ${value}`);
  }
  const file = path.join(temporaryFolder(t), 'relay.conf');
  writeFileSync(file, config);
  const [, seconds] = /^drain-timeout = (\d+)$/m.exec(config);
  const args = ['--config', file, '--drain-timeout', seconds];
  return startRelay(t, { listen: null, gated: true, args });
}

/** A page of the game at an address of its own, for which all names lead to the Ingress controller. */
const at = (localAddress, sockets) =>
  class extends WebSocket {
    constructor(url, protocols) {
      const lookup = (_host, options, done) =>
        options.all
          ? done(null, [{ address: '127.0.0.1', family: 4 }])
          : done(null, '127.0.0.1', 4);
      const origin = 'https://game.example';
      super(url, protocols, { localAddress, lookup, rejectUnauthorized: false, origin });
      sockets.push(this);
    }
  };

test('one relay drains, ends, and nobody notices', { skip: proxies.haproxy.missing }, async (t) => {
  const server = await startGameServer(t);
  const [port, one, two] = [await freePort('tcp'), await freePort('tcp'), await freePort('tcp')];
  const ports = { 'causeway-relay-0': one, 'causeway-relay-1': two };
  const ways = hosts.map((host) => [host, ports[podOf(all, host)]]);
  await startProxy(t, 'haproxy', { port, hosts: Object.fromEntries(ways) });
  const sockets = [];
  const players = [];
  const relays = hosts.map((host) => `https://${host}:${port}/`);
  const play = async () => {
    const client = await join(relays, {
      token: await server.token({ timeoutSeconds: 10 }),
      schema: messages,
      transports: ['websocket'],
      WebSocket: at(`127.0.0.${10 + players.length}`, sockets),
    });
    own(t, () => client.disconnect());
    players.push(startPlayer(client));
  };
  const first = await startPod(t, server, one);
  for (let i = 0; i < PLAYERS; i++) await play(); // one relay is there; each page has an address of its own

  const second = await startPod(t, server, two);
  first.kill('SIGTERM');
  await first.logged(/draining/);
  const seated = [...sockets];
  await play(); // a newcomer is told of a relay that drains, and of two that are not there
  assert.equal((await second.stats()).sessions_open, 1);
  for (const socket of seated) socket.terminate();
  await statsUntil(first, ({ sessions_resumed }) => sessions_resumed >= PLAYERS);
  first.kill('SIGTERM'); // the time to drain is over
  await first.ended();
  await statsUntil(second, ({ sessions_open }) => sessions_open === PLAYERS + 1);
  await Promise.all(players.map((player) => player.rest()));
});
