// The reverse proxies of relay/deploy, as they are shipped but for addresses and files, with players on two relays.
import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { get } from 'node:https';
import net from 'node:net';
import path from 'node:path';
import { text } from 'node:stream/consumers';
import test from 'node:test';
import { connect as join } from '../support/causeway.mjs';
import { startPlayer } from '../support/player.mjs';
import { PROTOCOL_ID, messages, startGameServer } from '../support/secure.mjs';
import { patiently, sleep } from '../support/patience.mjs';
import { runProgram } from '../support/programs.mjs';
import { startRelay, statsUntil } from '../support/relay.mjs';
import { startServed } from '../support/served.mjs';
import { WebSocket } from '../support/websocket.mjs';
import { own, temporaryFolder } from '../support/fixture.mjs';
import { certify } from '../support/certificate.mjs';
import { freePort } from '../support/free_port.mjs';

const PLAYERS = 6;
/** The players who come at once. OPERATING.md has the figures for 2,000. */
const HERD = Number(process.env.CAUSEWAY_HERD ?? 300);
const folder = temporaryFolder(test);

const file = (name) => path.join(folder, name);
const isInstalled = (program) => spawnSync('sh', ['-c', `command -v ${program}`]).status === 0;

/** Returns the shipped file with each of these replaced. */
function render(name, replacements) {
  let text = readFileSync(new URL(`../../relay/deploy/${name}`, import.meta.url), 'utf8');
  for (const [from, to] of Object.entries(replacements)) {
    assert.ok(text.includes(from), `${name} has ${from}`);
    text = text.replaceAll(from, to);
  }
  return text;
}

/** The command line of each program. The name is the one that its certificate is for. */
const proxies = {
  haproxy: {
    arguments: ['-db', '-f', file('haproxy.cfg')],
    configure(port, relays) {
      const pem = file('both.pem');
      writeFileSync(pem, readFileSync(file('fullchain.pem')) + readFileSync(file('privkey.pem')));
      writeFileSync(
        file('haproxy.cfg'),
        render('haproxy.cfg', {
          ...relays,
          'bind :443': `bind 127.0.0.1:${port}`,
          '/etc/haproxy/game.example.pem': pem,
        }),
      );
    },
  },
  nginx: {
    arguments: ['-p', folder, '-e', 'stderr', '-c', file('all.conf'), '-g', 'daemon off;'],
    configure(port, relays) {
      writeFileSync(
        file('nginx.conf'),
        render('nginx.conf', {
          ...relays,
          'listen 443': `listen 127.0.0.1:${port}`,
          '/etc/letsencrypt/live/game.example': folder,
        }),
      );
      const places = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map(
        (kind) => `${kind}_temp_path ${folder}/${kind};`,
      );
      writeFileSync(
        file('all.conf'),
        `pid ${file('pid')}; events { worker_connections 16384; } http { access_log off; ${places.join(' ')} include nginx.conf; }`,
      );
    },
  },
  caddy: {
    arguments: ['run', '--adapter', 'caddyfile', '--config', file('Caddyfile')],
    configure(port, relays) {
      const own = '{\n\tadmin off\n\tauto_https disable_redirects\n}\n';
      const tls = `tls ${file('fullchain.pem')} ${file('privkey.pem')}`;
      const site = render('Caddyfile', {
        ...relays,
        'game.example {': `localhost:${port} {\n\t${tls}`,
      });
      writeFileSync(file('Caddyfile'), own + site);
    },
  },
};

/** The page's server, for all that is not below /relay/. */
async function startBackend(t) {
  const backend = createServer(({ url }, response) => response.end(`the page's ${url}`));
  own(t, () => backend.close());
  await once(backend.listen(0, '127.0.0.1'), 'listening');
  return backend.address().port;
}

async function startProxy(t, program, relays) {
  const port = await freePort('tcp');
  const { configure, arguments: args } = proxies[program];
  const [one, two] = relays;
  configure(port, {
    '10.0.0.10:8080': `127.0.0.1:${await startBackend(t)}`,
    '10.0.0.11:8080': `${one.host}:${one.port}`,
    '10.0.0.12:8080': `${two.host}:${two.port}`,
  });
  const child = spawn(program, args, {
    stdio: ['ignore', 'ignore', 'pipe'],
    env: { ...process.env, HOME: folder, XDG_DATA_HOME: folder, XDG_CONFIG_HOME: folder },
  });
  let log = '';
  child.stderr.on('data', (text) => (log += text));
  const ended = once(child, 'close').then(() => assert.fail(`${program} ended:\n${log}`));
  ended.catch(() => {});
  own(t, () => child.kill());
  const reachable = async () => {
    for (;;) {
      const socket = net.connect(port, '127.0.0.1');
      const opened = await Promise.race([once(socket, 'connect').then(() => true), ended]).catch(
        (error) => error.code === 'ECONNREFUSED' || Promise.reject(error),
      );
      socket.destroy();
      if (opened && !socket.errored) return;
      await sleep(20);
    }
  };
  await patiently(reachable(), program);
  return port;
}

/** Returns a page of the host that it plays at, at an address of its own; its sockets go into the list. */
const at = (localAddress, sockets) =>
  class extends WebSocket {
    constructor(url, protocols) {
      const origin = new URL(url).origin.replace('wss:', 'https:');
      super(url, protocols, { localAddress, family: 4, rejectUnauthorized: false, origin });
      sockets.push(this);
    }
  };

const { options: tls } = certify(folder, { certificate: 'fullchain.pem', key: 'privkey.pem' });

/** Starts two relays, of which the first has so many places. */
async function startRelays(t, server, places) {
  const gate = ['--protocol-id', String(PROTOCOL_ID), '--trusted-proxy', '127.0.0.1'];
  const limits = ['--max-sessions-per-address', '2', '--log-level', 'debug'];
  const relays = [];
  for (const max of [places, 100])
    relays.push(
      await startRelay(t, {
        upstream: `127.0.0.1:${server.port}`,
        gated: true,
        args: [...gate, ...limits, '--max-sessions', String(max), '--drain-timeout', '60'],
      }),
    );
  return relays;
}

for (const program of Object.keys(proxies))
  test(`two relays behind ${program}: one is full, the other is killed`, async (t) => {
    if (!isInstalled(program)) return t.skip(`${program} is not installed`);
    const server = await startGameServer(t);
    const [one, two] = await startRelays(t, server, PLAYERS);
    const port = await startProxy(t, program, [one, two]);
    const url = (name) => `https://localhost:${port}/relay/${name}`;
    const sockets = [];
    const players = [];
    own(t, () => players.forEach(({ client }) => client.disconnect()));
    const play = async (names, address) => {
      const client = await join(names.map(url), {
        token: await server.token({ timeoutSeconds: 10 }),
        schema: messages,
        transports: ['websocket'],
        WebSocket: at(address, sockets),
      });
      players.push(startPlayer(client));
    };
    for (let i = 0; i < PLAYERS; i++) await play([''], `127.0.0.${10 + i}`);
    for (let i = 0; i < PLAYERS; i++)
      await one.logged(new RegExp(` from 127\\.0\\.0\\.${10 + i}\\b`));

    // The relay is full: its own players come back after a break, and a newcomer goes to the other relay.
    const seated = [...sockets];
    await play(['', 'two/'], '127.0.0.30');
    for (const socket of seated) socket.terminate();
    await statsUntil(one, ({ sessions_resumed }) => sessions_resumed >= PLAYERS);
    assert.equal((await one.stats()).sessions_open, PLAYERS);

    // The newcomer's relay dies, and the other has a place again.
    players[0].client.disconnect();
    await statsUntil(one, ({ sessions_open }) => sessions_open === PLAYERS - 1);
    two.kill('SIGKILL');
    await statsUntil(one, ({ sessions_open }) => sessions_open === PLAYERS);
    await Promise.all(players.slice(1).map((player) => player.rest()));

    // The page and its tokens are at the same origin.
    const asked = get(`https://localhost:${port}/token`, { family: 4, rejectUnauthorized: false });
    const [answer] = await patiently(once(asked, 'response'), 'the answer of the page');
    assert.equal(await text(answer), "the page's /token");

    // A foreign page may not play.
    const foreign = new WebSocket(url('').replace('https', 'wss'), ['causeway.v1'], {
      ...{ family: 4, rejectUnauthorized: false, origin: 'https://foreign.example' },
    });
    const [code] = await patiently(once(foreign, 'close'), 'the end of a foreign page');
    assert.equal(code, 4004);
  });

for (const program of [undefined, 'nginx', 'haproxy'])
  test(`a herd of players comes ${program ? `behind ${program}` : 'with TLS'}`, async (t) => {
    if (program && !isInstalled(program)) return t.skip(`${program} is not installed`);
    // A machine that is busy may take long for so many handshakes.
    const limits = ['--max-sessions-per-address', '0', '--request-timeout', '120'];
    const { relay } = await startServed(t, {
      args: [
        ...['--max-sessions', String(HERD), ...limits],
        ...(program ? ['--trusted-proxy', '127.0.0.1'] : tls),
      ],
    });
    const port = program ? await startProxy(t, program, [relay, relay]) : relay.port;
    const herd = ['--players', String(HERD), '--ramp', '100000', '--rate', '1', '--seconds', '0'];
    const { stdout } = await runProgram(
      process.env.CAUSEWAY_LOAD,
      ['--json', ...herd, `wss://localhost:${port}/${program ? 'relay/' : ''}`],
      { env: { ...process.env, SSL_CERT_FILE: file('fullchain.pem') } },
    );
    const { websocket } = JSON.parse(stdout);
    t.diagnostic(stdout);
    assert.ok(websocket.refused + websocket.dropped <= 0.05 * HERD, stdout);
  });
