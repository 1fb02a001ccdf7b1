// The relay as one program that needs no library, in a folder that has nothing else.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { newKey, openRtcAs } from './links.mjs';
import { temporaryFolder } from '../support/fixture.mjs';
import { until } from '../support/patience.mjs';
import { startRelay } from '../support/relay.mjs';
import { startUdpServer } from '../support/udp_server.mjs';
import { connect } from '../support/websocket.mjs';

const made = path.join(process.env.CAUSEWAY_BUILD, 'package');
const script = new URL('../../relay/deploy/package', import.meta.url).pathname;
execFileSync(script, [made], { stdio: 'pipe' });

/** Returns a program that runs the relay where there is no other file but those of /dev, which each container has. */
function locked(t) {
  const folder = temporaryFolder(t);
  const root = path.join(folder, 'root');
  cpSync(path.join(made, 'causeway-relay'), path.join(root, 'causeway-relay'));
  mkdirSync(path.join(root, 'dev'));
  const program = path.join(folder, 'locked');
  const user = process.getuid() === 0 ? '' : '--map-root-user';
  const enter = `mount --rbind /dev "${root}/dev" && exec chroot "${root}" /causeway-relay "$@"`;
  const text = `#!/bin/sh\nexec unshare ${user} --mount sh -c '${enter}' sh "$@"\n`;
  writeFileSync(program, text, { mode: 0o755 });
  return program;
}

test('the static relay carries players where there are no libraries', async (t) => {
  const { upstream } = await startUdpServer(t);
  const relay = await startRelay(t, { path: locked(t), upstream, args: ['--rtc', '127.0.0.1:0'] });
  const socket = await connect(t, relay);
  await socket.echo('over WebSocket');
  const link = await openRtcAs(t, relay, newKey());
  link.channel.send(Buffer.from('over WebRTC'));
  await until('an answer', () => link.arrived.length > 0);
});

test('the Debian package beside it has the same version', () => {
  const [file] = readdirSync(made).filter((name) => name.endsWith('.deb'));
  const said = execFileSync(path.join(made, 'causeway-relay'), ['--version'], { encoding: 'utf8' });
  const [, version] = /^causeway-relay (\S+)\n$/.exec(said);
  assert.match(file, new RegExp(`^causeway-relay_${version}_`));
});
