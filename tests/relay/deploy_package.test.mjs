// The contents of the Debian package, and whether its relay takes its configuration.
import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { readdirSync } from 'node:fs';
import path from 'node:path';
import test from 'node:test';
import { temporaryFolder } from '../support/fixture.mjs';

const folder = temporaryFolder(test);

const skip = spawnSync('dpkg-shlibdeps', ['--version']).error ? 'dpkg-dev is not installed' : false;
const output = (...[command, ...args]) =>
  execFileSync(command, args, { cwd: process.env.CAUSEWAY_BUILD, encoding: 'utf8', stdio: 'pipe' });

test('the package holds the relay, and what runs it', { skip }, () => {
  output('cpack', '-G', 'DEB', '-B', folder);
  const file = path.join(
    folder,
    readdirSync(folder).find((name) => name.endsWith('.deb')),
  );
  const listed = [...output('dpkg-deb', '-c', file).matchAll(/^-(\S+) (\S+) .* \.(\/\S+)$/gm)];
  assert.deepEqual(listed.map(([, mode, owner, name]) => `${mode} ${owner} ${name}`).sort(), [
    'rw-r--r-- root/root /etc/causeway-relay.conf',
    'rw-r--r-- root/root /usr/lib/systemd/system/causeway-relay.service',
    'rw-r--r-- root/root /usr/lib/sysusers.d/causeway-relay.conf',
    'rw-r--r-- root/root /usr/share/causeway-relay/Caddyfile',
    'rw-r--r-- root/root /usr/share/causeway-relay/agones.yaml',
    'rw-r--r-- root/root /usr/share/causeway-relay/alerts.yaml',
    'rw-r--r-- root/root /usr/share/causeway-relay/causeway.lua',
    'rw-r--r-- root/root /usr/share/causeway-relay/grafana.json',
    'rw-r--r-- root/root /usr/share/causeway-relay/haproxy.cfg',
    'rw-r--r-- root/root /usr/share/causeway-relay/kubernetes.yaml',
    'rw-r--r-- root/root /usr/share/causeway-relay/nginx.conf',
    'rw-r--r-- root/root /usr/share/causeway/causeway.cdx.json',
    'rw-r--r-- root/root /usr/share/doc/causeway-relay/copyright',
    'rwxr-xr-x root/root /usr/bin/causeway-load',
    'rwxr-xr-x root/root /usr/bin/causeway-relay',
  ]);
  const field = (name) => output('dpkg-deb', '-f', file, name).trim();
  assert.equal(field('Package'), 'causeway-relay');
  for (const needed of ['libwebsockets', 'libwebsockets-evlib-uv', 'libssl', 'libinih'])
    assert.match(field('Depends'), new RegExp(`\\b${needed}`));

  const root = path.join(folder, 'root');
  output('dpkg-deb', '-R', file, root);
  const relay = path.join(root, 'usr/bin/causeway-relay');
  assert.equal(output(relay, '--version'), `causeway-relay ${field('Version')}\n`);
  const config = path.join(root, output('cat', path.join(root, 'DEBIAN/conffiles')).trim());
  assert.equal(output(relay, '--config', config, '--check-config'), 'ok\n');
  for (const script of ['postinst', 'prerm']) output('sh', '-n', path.join(root, 'DEBIAN', script));
});
