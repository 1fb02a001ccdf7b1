// Certificates and keys are replaced while clients come: by others, by halves, by noise, in the wrong order, with
// reloads at any moment. Every client is shown a pair that belongs together, connected clients stay, and the last good
// pair is there in the end.
import assert from 'node:assert/strict';
import { X509Certificate } from 'node:crypto';
import { readFileSync, renameSync, writeFileSync } from 'node:fs';
import test from 'node:test';
import tls from 'node:tls';
import { patiently, sleep } from '../support/patience.mjs';
import { startRelay } from '../support/relay.mjs';
import { startUdpServer } from '../support/udp_server.mjs';
import { connect } from '../support/websocket.mjs';
import { temporaryFolder } from '../support/fixture.mjs';
import { SEED, choicesFrom } from '../support/random.mjs';
import { certify } from '../support/certificate.mjs';

const STEPS = 150;

const folder = temporaryFolder(test);
const kinds = [['ec', '-pkeyopt', 'ec_paramgen_curve:P-256'], ['rsa:2048']];
const pairs = [...kinds, ...kinds].map((kind, i) => {
  const { key, certificate } = certify(folder, { name: i, kind });
  return { key: readFileSync(key), certificate: readFileSync(certificate) };
});
const files = { key: `${folder}/live.key`, certificate: `${folder}/live.pem` };

function put(which, bytes, atOnce = true) {
  if (!atOnce) return writeFileSync(files[which], bytes);
  writeFileSync(`${folder}/new`, bytes);
  renameSync(`${folder}/new`, files[which]);
}

const putPair = ({ key, certificate }) => (put('certificate', certificate), put('key', key));

/** Does one thing to the files that is wrong, or right. */
function change(random) {
  const which = random.pick(['key', 'certificate']);
  const [one, other] = [random.pick(pairs), random.pick(pairs)];
  const part = one[which].subarray(0, random.below(one[which].length));
  random.pick([
    () => putPair(one),
    () => put(which, one[which]),
    () => put(which, part, random.chance(0.5)),
    () => put(which, Buffer.concat([one[which], other[which]])),
    () => put(which, Buffer.concat([one[which], part])),
    () => put(which, Buffer.concat([one.key, one.certificate])),
    () => put(which, random.bytes(random.below(500))),
  ])();
}

/**
 * Resolves with the name in the certificate that the next client is shown; the relay has proven that it has the key.
 */
const shown = (relay, maxVersion) =>
  patiently(
    new Promise((resolve, reject) => {
      const to = { port: relay.port, host: '127.0.0.1', rejectUnauthorized: false, maxVersion };
      const socket = tls.connect(to, () => {
        resolve(new X509Certificate(socket.getPeerCertificate().raw).subject);
        socket.destroy();
      });
      socket.once('error', reject);
    }),
    'a TLS handshake',
  );

for (const workers of [1, 2])
  test(`pairs that do not belong together are never shown, with ${workers} serving`, async (t) => {
    t.diagnostic(`CAUSEWAY_SEED=${SEED}`);
    const random = choicesFrom(SEED);
    putPair(pairs[0]);
    const { upstream } = await startUdpServer(t);
    const several = workers > 1 ? ['--workers', String(workers)] : [];
    const mine = ['--tls-certificate', files.certificate, '--tls-key', files.key, ...several];
    const args = [...mine, '--max-sessions-per-address', '0'];
    const relay = await startRelay(t, { upstream, args });
    const player = await connect(t, relay, { scheme: 'wss', rejectUnauthorized: false });
    let over = false;
    const come = async (version) => {
      while (!over) assert.match(await shown(relay, version), /^CN=[0-3]$/);
    };
    const comers = Promise.all([come('TLSv1.2'), come('TLSv1.3')]);
    for (let i = 0; i < STEPS; i++) {
      change(random);
      for (let left = random.below(3); left > 0; left--) relay.kill('SIGHUP');
      player.send(Buffer.from('still there'));
      await sleep(random.below(10));
    }
    over = true;
    await comers;
    await player.received(STEPS);
    const last = pairs.length - 1;
    putPair(pairs[last]);
    let seen = 0;
    await patiently(
      (async () => {
        // A dozen connections one after the other do not all come to the same worker.
        while (seen < 12) seen = (await shown(relay)) === `CN=${last}` ? seen + 1 : 0;
      })(),
      'the last certificate',
    );
  });
