// One process behind a reverse proxy that ends TLS and has one port, as hosts have that give a program only HTTP: what
// SERVER.md says about them holds behind HAProxy and nginx.
import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import net from 'node:net';
import path from 'node:path';
import { test } from 'node:test';
import { certify } from '../support/certificate.mjs';
import { own, temporaryFolder } from '../support/fixture.mjs';
import { freePort } from '../support/free_port.mjs';
import { join, startOneProcess } from '../support/one_process.mjs';
import { patiently, sleep, until } from '../support/patience.mjs';
import { require } from '../support/packages.mjs';
import { WebSocket } from '../support/websocket.mjs';

const https = require('node:https');
const folder = temporaryFolder(test);
const file = (name) => path.join(folder, name);
const { certificate, key } = certify(folder);
writeFileSync(file('both.pem'), readFileSync(certificate) + readFileSync(key));

/** The seconds after which the proxies cut a connection on which nothing comes; hosts have some 60. */
const SILENCE = 2;

const proxies = {
  haproxy: {
    arguments: ['-db', '-f', file('haproxy.cfg')],
    configure: (port, app) => ({
      'haproxy.cfg': `
        defaults
          mode http
          option forwardfor
          timeout connect 2s
          timeout client ${SILENCE}s
          timeout server ${SILENCE}s
          timeout tunnel ${SILENCE}s
        frontend all
          bind 127.0.0.1:${port} ssl crt ${file('both.pem')} alpn http/1.1
          default_backend app
        backend app
          server one 127.0.0.1:${app}
      `,
    }),
  },
  nginx: {
    arguments: ['-p', folder, '-e', 'stderr', '-c', file('nginx.conf'), '-g', 'daemon off;'],
    configure: (port, app) => ({
      'nginx.conf': `
        pid ${file('pid')};
        events {}
        http {
          access_log off;
          ${['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi']
            .map((kind) => `${kind}_temp_path ${file(kind)};`)
            .join(' ')}
          map $http_upgrade $connection_of { default upgrade; '' close; }
          server {
            listen 127.0.0.1:${port} ssl;
            ssl_certificate ${certificate};
            ssl_certificate_key ${key};
            location / {
              proxy_pass http://127.0.0.1:${app};
              proxy_http_version 1.1;
              proxy_read_timeout ${SILENCE}s;
              proxy_set_header Host $http_host;
              proxy_set_header Upgrade $http_upgrade;
              proxy_set_header Connection $connection_of;
              proxy_set_header X-Forwarded-For $proxy_add_x_forwarded_for;
            }
          }
        }
      `,
    }),
  },
};

const isInstalled = (program) => spawnSync('sh', ['-c', `command -v ${program}`]).status === 0;

/** Starts a proxy, and resolves with a function that ends it when it takes connections. */
async function startProxy(t, program, port, app) {
  for (const [name, text] of Object.entries(proxies[program].configure(port, app)))
    writeFileSync(file(name), `${text.trim()}\n`);
  const child = spawn(program, proxies[program].arguments, { stdio: ['ignore', 'ignore', 'pipe'] });
  let log = '';
  child.stderr.on('data', (text) => (log += text));
  const ended = once(child, 'close');
  own(t, () => child.kill());
  await until(
    () => `${program}:\n${log}`,
    async () => {
      assert.equal(child.exitCode, null, log);
      const socket = net.connect(port, '127.0.0.1');
      const opened = await once(socket, 'connect').then(
        () => true,
        () => false,
      );
      socket.destroy();
      return opened;
    },
  );
  return async () => {
    child.kill();
    await patiently(ended, `the end of ${program}`);
  };
}

/** Returns the WebSockets of a page of this host, which come from an address and may lie about it. */
const at = (localAddress, headers = {}) =>
  class extends WebSocket {
    constructor(url, protocols) {
      const origin = new URL(url).origin.replace('wss:', 'https:');
      const options = { localAddress, family: 4, rejectUnauthorized: false, origin, headers };
      super(url, protocols, options);
    }
  };

/** Gets a token as a page of this host does. */
async function tokenFrom(url) {
  const options = { method: 'POST', headers: { origin: url }, rejectUnauthorized: false };
  const request = https.request(`${url}/token`, options).end();
  const [response] = await patiently(once(request, 'response'), 'a token');
  assert.equal(response.statusCode, 200);
  return Buffer.concat(await response.toArray());
}

for (const program of Object.keys(proxies))
  test(`two pages play through ${program}, which is started again`, async (t) => {
    if (!isInstalled(program)) return t.skip(`${program} is not installed`);
    const trust = { trustedProxies: ['127.0.0.1'], maxSessionsPerAddress: 1 };
    const place = await startOneProcess(t, trust);
    place.http.removeAllListeners('request').on('request', place.server.tokens());
    const port = await freePort('tcp');
    const stop = await startProxy(t, program, port, place.port);
    const url = `https://localhost:${port}`;
    const players = [];
    for (const [address, headers] of [
      ['127.0.0.11', {}],
      ['127.0.0.12', { 'x-forwarded-for': '127.0.0.11' }],
    ]) {
      const token = () => tokenFrom(url);
      const options = { token, WebSocket: at(address, headers) };
      const { player, client } = await join(t, { ...place, url }, options);
      assert.equal(client.address, address, 'a stranger cannot say who they are');
      players.push(player);
    }
    const say = async (text) => {
      for (const player of players) assert.equal(await player.track(0, 'say', { text }), 'acked');
    };
    await say('hello');
    await sleep(2 * SILENCE * 1000);
    await say('the proxy has cut nothing');
    await stop();
    await until('the loss of all links', () => players.every(({ state }) => state !== 'connected'));
    await startProxy(t, program, port, place.port);
    await say('the proxy is back');
    assert.equal(place.server.clients.size, 2);
    assert.equal(place.server.stats().connections, 2, 'nobody had to connect anew');
  });
