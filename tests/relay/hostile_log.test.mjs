// The relay is not held up by a reader of the log who is slow, reads nothing, or has closed it.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import fs, { constants } from 'node:fs';
import test from 'node:test';
import { startRig } from './hostile_rig.mjs';
import { patiently, sleep, until } from '../support/patience.mjs';
import { startProgram } from '../support/programs.mjs';
import { program, statsUntil } from '../support/relay.mjs';
import { startUdpServer } from '../support/udp_server.mjs';
import { connect } from '../support/websocket.mjs';
import { own, temporaryFolder } from '../support/fixture.mjs';
import { freePort } from '../support/free_port.mjs';

// The number of lines of counters, each over a kilobyte: more than a pipe or a socket holds.
const LINES = 600;

/** Has a relay log its counters again and again; each signal waits for the one before, or they would count as one. */
async function makeItTalk({ pid, kill }) {
  const isPending = () =>
    /^ShdPnd:.*[1-9a-f]/m.test(fs.readFileSync(`/proc/${pid}/status`, 'ascii'));
  for (let i = 0; i < LINES; i++) {
    kill('SIGUSR1');
    await until('the signal to be taken', () => !isPending(), 1);
  }
}

test('a reader that stalls', async (t) => {
  const rig = await startRig(t);
  rig.relay.pauseLog();
  await makeItTalk(rig.relay);
  await rig.newcomer();
  rig.relay.resumeLog();
  await statsUntil(rig.relay, ({ log_lines_dropped }) => log_lines_dropped > 0);
  assert.match(rig.relay.log(), / warn +[1-9]\d* lines of this log were dropped\n/);
  await rig.check();
});

test('a reader that goes away', async (t) => {
  const rig = await startRig(t);
  rig.relay.closeLog();
  await makeItTalk(rig.relay);
  await rig.newcomer();
  await rig.check({ counters: false }); // the counters stand in the log
});

/** Starts a relay behind a shell that has done something with its descriptors, and a player. */
async function startBehind(t, shell) {
  const server = await startUdpServer(t);
  const port = await freePort('tcp');
  const args = ['--listen', `127.0.0.1:${port}`, '--upstream', server.upstream, '--raw'];
  const child = startProgram(t, 'sh', ['-c', `${shell}; exec "$0" "$@"`, program, ...args], {
    stdio: 'ignore',
  });
  const begun = async () => {
    for (;;) {
      try {
        return await connect(t, { port });
      } catch (error) {
        if (error.code !== 'ECONNREFUSED') throw error;
        await sleep(20);
      }
    }
  };
  const client = await patiently(begun(), 'the relay');
  let sent = 0;
  const echo = async () => {
    client.send(Buffer.from('hello'));
    await client.received(++sent);
  };
  await echo();
  return { pid: child.pid, kill: (signal) => child.kill(signal), echo };
}

function openFifo(t) {
  const directory = temporaryFolder(t);
  const path = `${directory}/log`;
  execFileSync('mkfifo', ['-m', '666', path]);
  const fd = fs.openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
  own(t, () => fs.closeSync(fd));
  return { path, fd };
}

// As another user, the relay may write to the pipe but not open it.
const nobody = 'set -- --reuid=65534 --clear-groups "$0" "$@"; exec setpriv "$@"';
const pipes = {
  'a pipe that is full': (path) => `exec 2>${path}`,
  "another user's pipe that is full": (path) => `exec 2>${path}; chmod 600 ${path}; ${nobody}`,
};
for (const [name, shell] of Object.entries(pipes)) {
  const skip = name.startsWith('another') && process.getuid() !== 0 && 'only root can be another';
  test(name, { skip }, async (t) => {
    const { path, fd } = openFifo(t);
    const relay = await startBehind(t, shell(path));
    await makeItTalk(relay);
    await relay.echo();
    const bytes = Buffer.alloc(1 << 20);
    const read = () => bytes.toString('utf8', 0, fs.readSync(fd, bytes));
    const lines = read().split('\n');
    assert.equal(lines.pop(), '', 'no line is torn');
    for (const line of lines) assert.match(line, /^[\d-]+T[\d:.]+Z (info|warn) /);
    relay.kill('SIGUSR1');
    await relay.echo();
    const since = read();
    assert.match(since, / warn +[1-9]\d* lines of this log were dropped\n.* stats /);
    assert.match(since, / log_lines_dropped=[1-9]/);
  });
}

test('with descriptors 0 to 2 closed the log goes into no descriptor of the relay', async (t) => {
  const relay = await startBehind(t, 'exec 0<&- 1>&- 2>&-');
  for (const fd of [0, 1, 2])
    assert.equal(fs.readlinkSync(`/proc/${relay.pid}/fd/${fd}`), '/dev/null');
  await makeItTalk(relay);
  await relay.echo();
});
