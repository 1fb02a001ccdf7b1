// The Agones example: a relay in front of all nodes carries each player to the game server that the matchmaker was
// given.
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import test from 'node:test';
import { connect as join } from '../support/causeway.mjs';
import { manifests, named, shipped } from '../support/kubernetes.mjs';
import { startPlayer } from '../support/player.mjs';
import { messages, startGameServer } from '../support/secure.mjs';
import { run, startRelay } from '../support/relay.mjs';
import { WebSocket } from '../support/websocket.mjs';
import { own, temporaryFolder } from '../support/fixture.mjs';

const agones = named(manifests('agones.yaml'));
const config = agones.ConfigMap.data['relay.conf'];

const folder = temporaryFolder(test);
const file = path.join(folder, 'relay.conf');

/** The matchmaker that the manifest shows. */
const [example] = /(^# {3}.*\n)+/m.exec(shipped('agones.yaml'));
const parameters = ['create', 'generateConnectToken', 'protocolId', 'privateKey', 'clientId'];
const matchmake = new Function(
  ...parameters,
  `return (async () => {${example.replaceAll(/^#/gm, '')}})()`,
);

/** Returns what Agones answers to an allocation: the public address comes first. */
const allocated = (address, port) => ({
  state: 'Allocated',
  gameServerName: 'game-x7k2p-abcde',
  address: '203.0.113.7',
  addresses: [
    { type: 'Hostname', address: 'node-5' },
    { type: 'ExternalIP', address: '203.0.113.7' },
    { type: 'InternalIP', address },
    { type: 'PodIP', address: '10.4.0.9' },
  ],
  ports: [{ name: 'game', port }],
});

test('the manifests fit each other and those of the relay', async () => {
  const { spec, metadata } = agones.Fleet;
  assert.equal(agones.FleetAutoscaler.spec.fleetName, metadata.name);
  assert.equal(spec.replicas, undefined, 'the autoscaler alone says how many there are');
  assert.equal(spec.template.spec.ports[0].protocol, 'UDP');
  const create = ({ apiVersion, kind, spec: { selectors } }) => {
    assert.equal(`${apiVersion} ${kind}`, 'allocation.agones.dev/v1 GameServerAllocation');
    assert.deepEqual(selectors, [{ matchLabels: { 'agones.dev/fleet': metadata.name } }]);
    return { status: allocated('10.128.0.5', 7123) };
  };
  const { servers } = await matchmake(create, (options) => options);
  assert.deepEqual(servers, ['10.128.0.5:7123']);
  assert.match(config, /^upstream = 10\.128\.0\.0\/16:7000-8000$/m, 'the relay may send there');
  const other = named(manifests('kubernetes.yaml')).ConfigMap;
  assert.equal(agones.ConfigMap.metadata.name, other.metadata.name);
  const rest = (text) => text.replaceAll(/^(#|upstream).*\n/gm, '');
  assert.equal(rest(config), rest(other.data['relay.conf']));
  writeFileSync(file, config);
  const { code, stderr } = await run(['--config', file, '--check-config']);
  assert.equal(code, 0, stderr);
});

test('each player comes to the allocated server, and to no other', async (t) => {
  const fleet = [await startGameServer(t), await startGameServer(t)];
  const stranger = await startGameServer(t);
  const upstreams = fleet.map(({ port }) => `upstream = 127.0.0.0/8:${port}-${port}`).join('\n');
  writeFileSync(
    file,
    config
      .replace(/^upstream = .*$/m, upstreams)
      .replace(/^(listen|rtc) = .*$/gm, '$1 = 127.0.0.1:0')
      .replace(/^admin = .*$/m, 'admin = 127.0.0.1:0')
      .replace(/^trusted-proxy = .*\n/m, ''), // players come without one
  );
  const relay = await startRelay(t, { listen: '', gated: true, args: ['--config', file] });
  const play = async (server) =>
    join(`http://127.0.0.1:${relay.port}/`, {
      token: await matchmake(
        () => ({ status: allocated('127.0.0.1', server.port) }),
        ({ servers }) => server.token({ servers, timeoutSeconds: 10 }),
      ),
      schema: messages,
      transports: ['websocket'],
      WebSocket,
    });
  for (const server of fleet) {
    const client = await play(server);
    own(t, () => client.disconnect());
    await startPlayer(client).rest();
  }
  await assert.rejects(play(stranger), { code: 'SERVER_NOT_ALLOWED' });
});
