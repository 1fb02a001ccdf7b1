// npx causeway-net doctor where nothing is wrong: DOCTOR_RUNS says how often, 3 by default.
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { once } from 'node:events';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { certify } from '../support/certificate.mjs';
import { own, share, temporaryFolder } from '../support/fixture.mjs';
import { runProgram } from '../support/programs.mjs';
import { startGate, startGameServer } from '../support/secure.mjs';
import { RTCPeerConnection } from '../support/wrtc.mjs';
import { doctor } from '../../web/dist/doctor/index.js';
import { examine } from '../../web/dev/doctor.mjs';

/** The runs to be reported keep the time that people give the doctor; the others have any. */
const timeoutSeconds = process.env.DOCTOR_RUNS ? 4 : 60;
const RUNS = Number(process.env.DOCTOR_RUNS ?? 3);
const web = fileURLToPath(new URL('../../web', import.meta.url));

const place = share(async (t) => {
  const folder = temporaryFolder(t);
  const { options, certificate } = certify(folder);
  const server = await startGameServer(t);
  const relay = await startGate(t, server);
  const secure = await startGate(t, server, options);
  return { folder, certificate, server, relay, secure };
});

test(`no fault is named in ${RUNS} runs`, async (t) => {
  const { folder, server, relay } = place();
  const token = join(folder, 'token');
  let longest = 0;
  for (let run = 0; run < RUNS; run++) {
    writeFileSync(token, await server.token());
    const began = performance.now();
    const lines = [];
    const { url } = relay;
    const all = { url, origin: new URL(url).origin, token, key: server.key, timeoutSeconds };
    assert.ok(await examine(all, (line) => lines.push(line)), lines.join('\n'));
    longest = Math.max(longest, performance.now() - began);
    assert.equal(lines.length, 8, lines.join('\n'));
    assert.match(lines[1], new RegExp(`, for ${server.upstream}, expires in`));
    assert.ok(
      lines.every((line) => / ok | ok$|^OK/.test(line)),
      lines.join('\n'),
    );
  }
  t.diagnostic(`the longest took ${(longest / 1000).toFixed(1)} s`);
});

test('a key without a token is no fault', async () => {
  const { server, relay } = place();
  const lines = [];
  const all = { url: relay.url, key: server.key, timeoutSeconds };
  assert.ok(await examine(all, (line) => lines.push(line)), lines.join('\n'));
});

test('the program, with TLS and a backend', async (t) => {
  const { certificate, server, secure } = place();
  const backend = createServer((_, response) => void server.token().then((it) => response.end(it)));
  own(t, () => backend.close());
  backend.listen(0, '127.0.0.1');
  await once(backend, 'listening');
  const token = `http://127.0.0.1:${backend.address().port}/`;
  const address = `wss://localhost:${secure.port}/`;
  const program = [join(web, 'bin/causeway-net.mjs'), 'doctor', address];
  const run = (...args) =>
    runProgram(process.execPath, [...program, ...args], {
      cwd: web,
      env: { ...process.env, NODE_EXTRA_CA_CERTS: certificate },
    });
  const healthy = await run('--token', token, '--json');
  const { ok, text, checks, path } = JSON.parse(healthy.stdout);
  assert.deepEqual([ok, text, healthy.code], [true, 'all is well', 0], healthy.stdout);
  assert.ok(checks.some(({ name, state }) => name === 'tls' && state === 'ok'));
  assert.ok(path.rtt > 0);
  const { code, stdout } = await run(
    '--token',
    `${token}nowhere`,
    '--origin',
    'https://other.example',
  );
  assert.equal(code, 1);
  assert.match(stdout, /^websocket +FAILED [^]*\nORIGIN: .+\n$/m);
});

test('the function, with a WebRTC of a package', async () => {
  const { server, relay } = place();
  const token = await server.token();
  const { ok, checks } = await doctor(relay.url, {
    transports: ['webrtc'],
    RTCPeerConnection,
    timeoutSeconds,
    token,
  });
  assert.ok(ok, JSON.stringify(checks));
  assert.ok(checks.some(({ name, state }) => name === 'path by webrtc' && state === 'ok'));
});
