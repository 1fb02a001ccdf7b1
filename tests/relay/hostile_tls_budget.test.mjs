// TLS handshakes that cost far more than others, many at a time: they get a quarter of a core and no more. The clients
// wait; those of other addresses wait for less time.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import net from 'node:net';
import test from 'node:test';
import tls from 'node:tls';
import { patiently } from '../support/patience.mjs';
import { oneProcess } from '../support/relay.mjs';
import { startServed } from '../support/served.mjs';
import { temporaryFolder } from '../support/fixture.mjs';
import { certify } from '../support/certificate.mjs';

/** The share of a core that handshakes get. */
const SHARE = 0.25;
/** The share includes the relay's other work in the meantime: it accepts, reads and closes. */
const SHARE_OF_ALL = SHARE + 0.1;
const CROWD = 100;

const folder = temporaryFolder(test);

/** Signatures of this kind cost some ten times those of P-256. */
const slow = certify(folder, { name: 'slow', kind: ['rsa:4096'] });

const ticks = Number(execFileSync('getconf', ['CLK_TCK'], { encoding: 'utf8' }));

/** Returns the seconds of processor time that a process has had. */
function processorSeconds(pid) {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1].split(' ');
  return (Number(fields[11]) + Number(fields[12])) / ticks;
}

/** Returns the first message of a client, which is cheaper to repeat than to make. */
function helloOf(maxVersion) {
  return new Promise((resolve) => {
    const server = net.createServer((socket) => {
      socket.once('data', (hello) => {
        socket.destroy();
        server.close();
        resolve(hello);
      });
    });
    server.listen(0, '127.0.0.1', () => {
      const { port } = server.address();
      tls.connect({ host: '127.0.0.1', port, maxVersion }).on('error', () => {});
    });
  });
}

/** Sends a hello and waits for the answer, which holds the signature. */
function greet(relay, localAddress, hello) {
  return new Promise((resolve, reject) => {
    const socket = net.connect({ host: '127.0.0.1', port: relay.port, localAddress });
    socket.once('error', reject);
    socket.once('end', () => reject(new Error('closed')));
    socket.once('data', () => {
      socket.destroy();
      resolve();
    });
    socket.write(hello);
  });
}

for (const maxVersion of ['TLSv1.3', 'TLSv1.2'])
  test(`a crowd of handshakes, ${maxVersion}`, { skip: oneProcess }, async (t) => {
    const { relay } = await startServed(t, { args: slow.options });
    const hello = await helloOf(maxVersion);
    await greet(relay, '127.0.0.3', hello); // the first handshake loads code
    const before = { cpu: processorSeconds(relay.pid), at: performance.now() };
    let made = 0;
    const crowd = Array.from({ length: CROWD }, async () => {
      await greet(relay, '127.0.0.1', hello);
      made++;
    });
    // The measurement begins as soon as the crowd has begun to wait.
    let stats = await relay.stats();
    while (stats.handshakes_waited < CROWD / 2 && made < CROWD) stats = await relay.stats();
    // Some of the crowd come while this process gets no turn, so the best of some newcomers counts: of the first, and of
    // those who leave some of the crowd behind.
    let between = Infinity;
    for (let newcomer = 10; newcomer < 15; newcomer++) {
      const ahead = made;
      await patiently(greet(relay, `127.0.0.${newcomer}`, hello), 'a newcomer');
      if (newcomer === 10 || made < CROWD) between = Math.min(between, made - ahead);
      if (made === CROWD) break;
    }
    await patiently(Promise.all(crowd), 'the crowd');
    const seconds = (performance.now() - before.at) / 1000;
    const cpu = processorSeconds(relay.pid) - before.cpu;
    t.diagnostic(`${cpu} s of ${seconds} s`);
    assert.ok(cpu <= seconds * SHARE_OF_ALL, `${cpu} s of ${seconds} s went to handshakes`);
    assert.ok(between < CROWD / 10, `${between} of the crowd came before a newcomer`);
    stats = await relay.stats();
    assert.equal(stats.handshakes_refused + stats.connections_refused, 0);
  });
