// The recipes of web/DEPLOY.md: what they say is taken from there, and played by pages behind proxies that behave as
// those of each place. A host that has only HTTP is in one_process_starter and one_process_proxies.
import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { startChromium } from '../support/browsers.mjs';
import { temporaryFolder } from '../support/fixture.mjs';
import { startDiscord, startFileHost, startFrame } from '../support/frames.mjs';
import { freePort } from '../support/free_port.mjs';
import { require } from '../support/packages.mjs';
import { until } from '../support/patience.mjs';
import { proxies, startProxy } from '../support/proxies.mjs';
import { startRelay } from '../support/relay.mjs';
import {
  makeStarter,
  openGame,
  playsOverWebRtc,
  playsOverWebSocket,
  runScript,
  startGame,
} from '../support/starter.mjs';

const { load } = require('js-yaml');
const guide = readFileSync(new URL('../../web/DEPLOY.md', import.meta.url), 'utf8');

/** Returns the blocks of a section of the guide, and its commands. */
function recipe(heading) {
  const [, text] = guide.split(`\n## ${heading}\n`);
  assert.ok(text, heading);
  const [section] = text.split('\n## ');
  return {
    blocks: [...section.matchAll(/^```\w*\n([^]*?)^```$/gm)].map(([, block]) => block),
    lines: [...section.matchAll(/^ {4}(\S.*)$/gm)].map(([, line]) => line),
  };
}

/** Replaces what a recipe names by what the test has; each of the names must be there. */
const adapt = (text, replacements) =>
  Object.entries(replacements).reduce((result, [from, to]) => {
    assert.ok(result.includes(from), `${from} in\n${text}`);
    return result.replaceAll(from, to);
  }, text);

/** Returns the variables of a line, as `A=1 B='2 3'`. */
const variables = (line) =>
  Object.fromEntries(
    [...line.matchAll(/\b([A-Z_]+)=(?:'([^']*)'|(\S+))/g)].map(([, name, quoted, plain]) => [
      name,
      quoted ?? plain,
    ]),
  );

/** Runs a command of a recipe, as `A=1 npm run build -- --base ./`. */
function build(command) {
  const [, args] = /npm run build -- (.*)$/.exec(command);
  runScript(game, 'build', { args: args.split(' '), env: variables(command) });
}

const { game } = makeStarter(test);
const machine = recipe('A machine of your own, with WebRTC');

/** Plays over WebRTC behind Caddy, which has the recipe's file. */
async function playBehindCaddy(t, { app, relay }) {
  const port = await freePort('tcp');
  const [, site] = /^game\.example \{\n([^]*)^\}$/m.exec(machine.blocks[0]);
  const ports = { '127.0.0.1:8081': `127.0.0.1:${relay}`, '127.0.0.1:8080': `127.0.0.1:${app}` };
  await startProxy(t, 'caddy', { port, site: adapt(site, ports) });
  const browser = await startChromium(t);
  for (let i = 0; i < 2; i++) {
    const { page, seen } = await openGame(browser, `https://localhost:${port}/`);
    await playsOverWebRtc(page);
    assert.deepEqual([...seen.hosts], [`localhost:${port}`]);
    assert.deepEqual(seen.errors, []);
  }
}

test('a machine with a relay', { skip: proxies.caddy.missing }, async (t) => {
  runScript(game, 'build');
  const [app, udp, rtc] = [await freePort('tcp'), await freePort('udp'), await freePort('udp')];
  const file = join(temporaryFolder(t), 'relay.conf');
  const places = {
    '127.0.0.1:8081': '127.0.0.1:0',
    '[::]:8443': `127.0.0.1:${rtc}`,
    '203.0.113.7': '127.0.0.1',
    ':40000': `:${udp}`,
  };
  writeFileSync(file, adapt(machine.blocks[1], places));
  const environment = /^Environment=(.*)$/m.exec(machine.blocks[2])[1];
  await startGame(t, game, variables(adapt(environment, { 8080: app, 40000: udp })));
  const relay = await startRelay(t, { listen: null, gated: true, args: ['--config', file] });
  await playBehindCaddy(t, { app, relay: relay.port });
});

test('a container with a relay', { skip: proxies.caddy.missing }, async (t) => {
  runScript(game, 'build');
  const { blocks } = recipe('Containers');
  const { services } = load(blocks[1]);
  const [app, udp, rtc] = [await freePort('tcp'), await freePort('udp'), await freePort('udp')];
  const [, exec] = /^ENV CAUSEWAY_RELAY_EXEC="(.*)"$/m.exec(blocks[0]);
  const { environment: env, ports } = services.game;
  assert.deepEqual(ports, [`${env.CAUSEWAY_RELAY_RTC.split(':').pop()}:8443/udp`]);
  assert.equal(env.CAUSEWAY_RELAY_UPSTREAM, `127.0.0.1:${env.UDP_PORT}`);
  const relay = await startRelay(t, {
    listen: null,
    gated: true,
    shell: `cd '${game}'`,
    env: {
      ...env,
      CAUSEWAY_RELAY_EXEC: exec,
      PORT: String(app),
      // The networks of containers become that of this machine, and the ports free ones.
      PROXIES: '127.0.0.1',
      CAUSEWAY_RELAY_TRUSTED_PROXY: '127.0.0.1',
      CAUSEWAY_RELAY_LISTEN: '127.0.0.1:0',
      CAUSEWAY_RELAY_RTC: `127.0.0.1:${rtc}`,
      CAUSEWAY_RELAY_RTC_ADVERTISE: '127.0.0.1',
      CAUSEWAY_RELAY_UPSTREAM: `127.0.0.1:${udp}`,
      UDP_PORT: String(udp),
    },
  });
  await until('the game', () => fetch(`http://127.0.0.1:${app}/`).catch(() => false));
  await playBehindCaddy(t, { app, relay: relay.port });
});

test('itch.io: a frame of another site', { skip: proxies.haproxy.missing }, async (t) => {
  const [command, environment] = recipe('itch.io').lines;
  const [app, port] = [await freePort('tcp'), await freePort('tcp')];
  const home = `https://localhost:${port}`;
  build(adapt(command, { 'https://game.example': home }));
  const host = await startFileHost(t, join(game, 'dist'), '/html/123/');
  const origins = adapt(environment, {
    'https://html-classic.itch.zone': host.origin,
    'https://game.example': home,
  });
  const env = { PORT: String(app), PROXIES: '127.0.0.1', ...variables(origins) };
  await startGame(t, game, env);
  await startProxy(t, 'haproxy', { port, app });
  const browser = await startChromium(t);
  const frame = await startFrame(t, host.address);
  const { seen } = await openGame(browser, frame, { inFrame: true });
  await playsOverWebSocket(seen);
  assert.deepEqual(seen.errors, []);
});

test('Discord: a prefix, a policy and no WebRTC', async (t) => {
  const [command, environment] = recipe('Discord Activities').lines;
  build(command);
  const app = await freePort('tcp');
  const discord = await startDiscord(t, app);
  const id = 'https://123456789012345678.discordsays.com';
  const env = variables(adapt(environment, { [id]: discord.origin }));
  await startGame(t, game, { PORT: String(app), ...env });
  const browser = await startChromium(t);
  const frame = await startFrame(t, discord.address);
  const { seen } = await openGame(browser, frame, { inFrame: true });
  await playsOverWebSocket(seen);
  assert.deepEqual(seen.errors, []);
});
