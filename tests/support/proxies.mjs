// Reverse proxies that end TLS and have one port, as hosts have that give a program only HTTP.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import net from 'node:net';
import path from 'node:path';
import { certify } from './certificate.mjs';
import { temporaryFolder } from './fixture.mjs';
import { patiently, until } from './patience.mjs';
import { startProgram } from './programs.mjs';

/** The reason to skip a test when a program is not installed. */
const missing = (program) =>
  spawnSync('sh', ['-c', `command -v ${program}`]).status !== 0 && `${program} is not installed`;

/**
 * Each proxy makes its file, in a folder with a certificate: it listens at `port`, passes all on to `app`, and cuts a
 * connection on which nothing comes for `silence` seconds. Caddy takes the lines of a `site` instead, and HAProxy the
 * `hosts` that lead to other ports, or to none.
 */
export const proxies = {
  haproxy: {
    missing: missing('haproxy'),
    arguments: (file) => ['-db', '-f', file],
    configure: (folder, { port, app, silence, hosts = {} }) => `
      defaults
        mode http
        option forwardfor
        timeout connect 2s
        timeout client ${silence}s
        timeout server ${silence}s
        timeout tunnel ${silence}s
      frontend all
        bind 127.0.0.1:${port} ssl crt ${folder}/both.pem alpn http/1.1
        ${Object.keys(hosts)
          .map((host) => `use_backend ${host} if { hdr(host) -m beg ${host}: }`)
          .join('\n')}
        default_backend app
      ${Object.entries({ ...hosts, app })
        .map(([name, to]) => `backend ${name}\n${to ? `server one 127.0.0.1:${to}` : ''}`)
        .join('\n')}
    `,
  },
  caddy: {
    missing: missing('caddy'),
    arguments: (file) => ['run', '--adapter', 'caddyfile', '--config', file],
    /** It cuts no connection. */
    configure: (folder, { port, app, site = `reverse_proxy 127.0.0.1:${app}` }) => `
      {
        admin off
        auto_https disable_redirects
      }
      localhost:${port} {
        tls ${folder}/certificate.pem ${folder}/key.pem
        ${site}
      }
    `,
  },
  nginx: {
    missing: missing('nginx'),
    arguments: (file) => [
      ...['-p', path.dirname(file), '-e', 'stderr', '-c', file, '-g', 'daemon off;'],
    ],
    configure: (folder, { port, app, silence }) => `
      pid ${folder}/pid;
      events {}
      http {
        access_log off;
        ${['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi']
          .map((kind) => `${kind}_temp_path ${folder}/${kind};`)
          .join(' ')}
        map $http_upgrade $connection_of { default upgrade; '' close; }
        server {
          listen 127.0.0.1:${port} ssl;
          ssl_certificate ${folder}/certificate.pem;
          ssl_certificate_key ${folder}/key.pem;
          location / {
            proxy_pass http://127.0.0.1:${app};
            proxy_http_version 1.1;
            proxy_read_timeout ${silence}s;
            proxy_set_header Host $http_host;
            proxy_set_header Upgrade $http_upgrade;
            proxy_set_header Connection $connection_of;
            proxy_set_header X-Forwarded-For $proxy_add_x_forwarded_for;
          }
        }
      }
    `,
  },
};

/** Starts a proxy, and resolves with a function that ends it when it takes connections. */
export async function startProxy(t, program, { port, silence = 60, ...way }) {
  const folder = temporaryFolder(t);
  const { certificate, key } = certify(folder);
  writeFileSync(`${folder}/both.pem`, readFileSync(certificate) + readFileSync(key));
  const file = `${folder}/${program}.cfg`;
  const proxy = proxies[program];
  writeFileSync(file, `${proxy.configure(folder, { port, silence, ...way }).trim()}\n`);
  const child = startProgram(t, program, proxy.arguments(file), {
    stdio: ['ignore', 'ignore', 'pipe'],
    env: { ...process.env, HOME: folder, XDG_DATA_HOME: folder, XDG_CONFIG_HOME: folder },
  });
  let log = '';
  child.stderr.on('data', (text) => (log += text));
  const ended = once(child, 'close');
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
