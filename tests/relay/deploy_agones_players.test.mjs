// The Agones example: a relay in front of all nodes carries each player to the game server that the matchmaker was
// given.
import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import test from 'node:test';
import { connect as join } from '../support/causeway.mjs';
import { require } from '../support/packages.mjs';
import { startPlayer } from '../support/player.mjs';
import { messages, startGameServer } from '../support/secure.mjs';
import { run, startRelay } from '../support/relay.mjs';
import { WebSocket } from '../support/websocket.mjs';
import { own, temporaryFolder } from '../support/fixture.mjs';

const { loadAll } = require('js-yaml');
const shipped = (name) =>
  loadAll(readFileSync(new URL(`../../relay/deploy/${name}`, import.meta.url), 'utf8'));
const kind = (manifests, name) => manifests.find((manifest) => manifest.kind === name);
const agones = shipped('agones.yaml');
const config = kind(agones, 'ConfigMap').data['relay.conf'];

const folder = temporaryFolder(test);
const file = path.join(folder, 'relay.conf');

test('the manifests fit each other and those of the relay', async () => {
  const { spec, metadata } = kind(agones, 'Fleet');
  const [{ matchLabels }] = kind(agones, 'GameServerAllocation').spec.selectors;
  assert.deepEqual(matchLabels, { 'agones.dev/fleet': metadata.name });
  assert.equal(spec.template.spec.ports[0].protocol, 'UDP');
  const other = kind(shipped('kubernetes.yaml'), 'ConfigMap');
  assert.equal(kind(agones, 'ConfigMap').metadata.name, other.metadata.name);
  const rest = (text) => text.replaceAll(/^(#|upstream).*\n/gm, '');
  assert.equal(rest(config), rest(other.data['relay.conf']));
  writeFileSync(file, config);
  const { code, stderr } = await run(['--config', file, '--check-config']);
  assert.equal(code, 0, stderr);
});

test('each player comes to the allocated server, and to no other', async (t) => {
  const fleet = [await startGameServer(t), await startGameServer(t)];
  const stranger = await startGameServer(t);
  assert.match(config, /^upstream = \S+\/\d+:\d+-\d+$/m);
  const upstreams = fleet.map(({ port }) => `upstream = 127.0.0.0/8:${port}-${port}`).join('\n');
  writeFileSync(
    file,
    config
      .replace(/^upstream = .*$/m, upstreams)
      .replace(/^(listen|rtc) = .*$/gm, '$1 = 127.0.0.1:0')
      .replace(/^admin = .*$/m, 'admin = 127.0.0.1:0'),
  );
  const relay = await startRelay(t, { listen: '', gated: true, args: ['--config', file] });
  const play = async (server) =>
    join(`http://127.0.0.1:${relay.port}/`, {
      token: await server.token({ timeoutSeconds: 10 }), // the token names this server
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
