// No file descriptor is left: to the relay, a worker, or the supervisor. Players go on, a step that needs a descriptor
// fails with one line of the log, and all is as before as soon as there are some again.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import net from 'node:net';
import test from 'node:test';
import { askAdmin } from './admin.mjs';
import { startRig } from './hostile_rig.mjs';
import { patiently, until } from '../support/patience.mjs';
import { temporaryFolder } from '../support/fixture.mjs';
import { childrenOf } from '../support/programs.mjs';

const folder = temporaryFolder(test);
const config = `${folder}/relay.conf`;
writeFileSync(config, 'log-level = info\n');
writeFileSync(`${folder}/index.html`, 'index');

/** Lets a process open nothing more; returns a function that undoes that. */
function starve(pid) {
  const limits = readFileSync(`/proc/${pid}/limits`, 'ascii');
  const [, before] = /^Max open files\s+(\d+)/m.exec(limits);
  const set = (limit) => execFileSync('prlimit', ['--pid', String(pid), `--nofile=${limit}:`]);
  set(3);
  return () => set(before);
}

/** Sends `signal` to the relay, and waits for one line of its log. */
async function logs(relay, signal, line) {
  const from = relay.log().length;
  relay.kill(signal);
  await relay.logged(line, from);
}

test('a relay without descriptors goes on', async (t) => {
  const { relay, ...rig } = await startRig(t, { args: ['--root', folder, '--config', config] });
  const early = net.connect(relay.port, '127.0.0.1');
  let page = '';
  early.setEncoding('latin1').on('data', (data) => (page += data));
  await once(early, 'connect');
  await rig.newcomer(); // the relay has dealt with the signal before
  const feed = starve(relay.pid);
  early.write('GET / HTTP/1.1\r\nHost: a\r\n\r\n');
  await patiently(once(early, 'close'), 'the reply');
  assert.match(page, /^HTTP\/1\.1 503 /, 'nobody is to believe that the file is gone');
  assert.match(page, /^retry-after: 1\r$/im);
  const late = rig.newcomer();
  await relay.logged(/cannot accept connections: Too many open files/);
  await logs(relay, 'SIGHUP', /not reloaded: cannot read \S+: Too many open files/);
  await logs(relay, 'SIGUSR2', /no upgrade: cannot start \S+: Too many open files/);
  feed();
  await late;
  await logs(relay, 'SIGHUP', /reloaded the options/);
  await rig.check();
});

test('a worker without descriptors goes on', async (t) => {
  const rig = await startRig(t, { args: ['--workers', '2', '--config', config] });
  const feed = starve(childrenOf(rig.relay.pid)[0]);
  await logs(rig.relay, 'SIGHUP', /worker 1: not reloaded: cannot read \S+: Too many open files/);
  await logs(rig.relay, 'SIGUSR1', / stats /);
  feed();
  await logs(rig.relay, 'SIGHUP', /worker 1: reloaded the options/);
  await rig.check();
});

test('a supervisor without descriptors goes on', async (t) => {
  const args = ['--workers', '2', '--config', config, '--admin', '127.0.0.1:0'];
  const { relay, ...rig } = await startRig(t, { sessions: 0, args });
  const [, port] = await relay.logged(/admin listener on 127\.0\.0\.1:(\d+)\n/);
  const feed = starve(relay.pid);
  const asked = askAdmin(Number(port), '/sessions');
  await logs(relay, 'SIGHUP', /not reloaded: cannot read \S+: Too many open files/);
  await logs(relay, 'SIGUSR2', /no upgrade: cannot start \S+: Too many open files/);
  process.kill(childrenOf(relay.pid)[0], 'SIGKILL');
  await relay.logged(/cannot start worker [12]: Too many open files/);
  const late = rig.newcomer(); // the newcomer may come to the worker that is not there
  feed();
  await late;
  assert.equal((await asked).status, 200);
  await until('both workers', () => childrenOf(relay.pid).length >= 2);
  await logs(relay, 'SIGHUP', /worker [12]: reloaded .*\n(.*\n)*.*worker [12]: reloaded/);
  await rig.newcomer();
});
