// TLS: certificates by name, read again when they change; plain HTTP is redirected to HTTPS.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { createHash, randomBytes } from 'node:crypto';
import { mkdirSync, readFileSync, renameSync, symlinkSync, writeFileSync } from 'node:fs';
import { open } from 'node:fs/promises';
import path from 'node:path';
import test from 'node:test';
import tls from 'node:tls';
import { patiently, sleep, until } from '../support/patience.mjs';
import { pattern } from '../support/pattern.mjs';
import { oneProcess, run, startRelay } from '../support/relay.mjs';
import { startUdpServer } from '../support/udp_server.mjs';
import { WebSocket } from '../support/websocket.mjs';
import { certify as makeCertificate } from '../support/certificate.mjs';
import { own, temporaryFolder } from '../support/fixture.mjs';
import { childrenOf } from '../support/programs.mjs';
import { ask } from '../support/http.mjs';

const folder = temporaryFolder(test);

/** Makes a certificate for a name and some days, as certbot keeps it; returns its two files. */
function certify(name, directory = name, days = 2) {
  const archive = path.join(folder, 'archive', directory, randomBytes(4).toString('hex'));
  const live = path.join(folder, 'live', directory);
  mkdirSync(archive, { recursive: true });
  mkdirSync(live, { recursive: true });
  const [certificate, key] = ['fullchain.pem', 'privkey.pem'];
  makeCertificate(archive, {
    name,
    certificate,
    key,
    days,
    more: ['-addext', `subjectAltName=DNS:${name}`],
  });
  for (const file of [key, certificate]) {
    const link = path.join(live, `${file}.new`);
    symlinkSync(path.join(archive, file), link);
    renameSync(link, path.join(live, file));
  }
  return { certificate: path.join(live, certificate), key: path.join(live, key) };
}

const options = ({ certificate, key }) => ['--tls-certificate', certificate, '--tls-key', key];

async function start(t, args) {
  const server = await startUdpServer(t);
  return startRelay(t, { upstream: server.upstream, args });
}

/** Resolves with the certificate that a client is shown when it asks for a name. */
function shown(relay, servername, more = {}) {
  return patiently(
    new Promise((resolve, reject) => {
      const to = { port: relay.port, host: '127.0.0.1', rejectUnauthorized: false };
      const socket = tls.connect({ ...to, servername, ALPNProtocols: ['h2', 'http/1.1'], ...more });
      socket.once('secureConnect', () => {
        const { subject, fingerprint256 } = socket.getPeerCertificate();
        const said = {
          name: subject.CN,
          fingerprint: fingerprint256,
          protocol: socket.getProtocol(),
        };
        resolve({ ...said, alpn: socket.alpnProtocol });
        socket.destroy();
      });
      socket.once('error', reject);
    }),
    'the TLS handshake',
  );
}

const get = (relay, target, { port = relay.port, plain = false, ...more } = {}) =>
  ask(port, target, { secure: !plain, ...more });

const one = certify('one.example');
const two = certify('two.example');

test('datagrams both ways over wss, many and large', async (t) => {
  const relay = await start(t, options(one));
  const socket = new WebSocket(`wss://127.0.0.1:${relay.port}/`, ['causeway.v1'], {
    rejectUnauthorized: false,
  });
  own(t, () => socket.terminate());
  let sent = [];
  let echoes = [];
  let whole = () => {};
  socket.on('message', (data) => echoes.push(data) === sent.length && whole());
  await patiently(new Promise((resolve) => socket.once('open', resolve)), 'the WebSocket');
  for (let round = 0; round < 12; round++) {
    echoes = [];
    sent = Array.from({ length: 1 + round }, (_, i) =>
      pattern(1 + ((round * 610 + i * 61) % 1400), i),
    );
    const all = new Promise((resolve) => (whole = resolve));
    for (const message of sent) socket.send(message);
    await patiently(all, `the echoes of round ${round}`);
    assert.deepEqual(echoes, sent);
  }
});

test('each name has its certificate, and others get the first', async (t) => {
  const relay = await start(t, [...options(one), ...options(two)]);
  assert.equal((await shown(relay, 'one.example')).name, 'one.example');
  assert.equal((await shown(relay, 'two.example')).name, 'two.example');
  assert.equal((await shown(relay, 'three.example')).name, 'one.example');
  assert.equal((await shown(relay, undefined)).name, 'one.example');
});

test('TLS 1.2 and later, with ALPN; nothing earlier and no plain HTTP', async (t) => {
  const relay = await start(t, options(one));
  const newest = await shown(relay, 'one.example');
  assert.deepEqual([newest.protocol, newest.alpn], ['TLSv1.3', 'http/1.1']);
  assert.equal((await shown(relay, 'one.example', { maxVersion: 'TLSv1.2' })).protocol, 'TLSv1.2');
  const old = { minVersion: 'TLSv1', maxVersion: 'TLSv1.1', ciphers: 'DEFAULT@SECLEVEL=0' };
  await assert.rejects(shown(relay, 'one.example', old));
  await assert.rejects(get(relay, '/', { plain: true }));
});

test('a file of megabytes comes whole, also to a slow reader', async (t) => {
  const root = path.join(folder, 'root');
  mkdirSync(root);
  const bytes = randomBytes(3 << 20);
  writeFileSync(path.join(root, 'large.bin'), bytes);
  const relay = await start(t, [...options(one), '--root', root, '--hsts', '3600']);
  const { headers, body } = await get(relay, '/large.bin');
  assert.equal(
    createHash('sha256').update(body).digest('hex'),
    createHash('sha256').update(bytes).digest('hex'),
  );
  assert.equal(headers['strict-transport-security'], 'max-age=3600');
  const missing = await get(relay, '/missing');
  assert.equal(missing.status, 404);
  assert.equal(missing.headers['strict-transport-security'], 'max-age=3600');
});

test(
  'certificates that are replaced are shown to the next client; bad ones are not',
  { skip: oneProcess },
  async (t) => {
    const files = certify('moving.example');
    const relay = await start(t, options(files));
    const before = await shown(relay, 'moving.example');
    const fresh = certify('moving.example');
    assert.deepEqual(fresh, files);
    await relay.logged(/reading the TLS certificates again\n/);
    const after = await shown(relay, 'moving.example');
    assert.notEqual(after.fingerprint, before.fingerprint);
    const from = relay.log().length;
    writeFileSync(files.key, 'nonsense');
    await relay.logged(/cannot use \S*privkey\.pem for TLS: /, from);
    await relay.logged(/the TLS certificates stay as they were/, from);
    relay.kill('SIGHUP');
    await relay.logged(/ not reloaded\n/, from);
    assert.equal((await shown(relay, 'moving.example')).fingerprint, after.fingerprint);
    certify('moving.example');
    relay.kill('SIGHUP');
    await relay.logged(/reloaded the options\n/, from);
    assert.notEqual((await shown(relay, 'moving.example')).fingerprint, after.fingerprint);
  },
);

const several = (workers) => (workers > 1 ? ['--workers', String(workers)] : []);

for (const workers of [1, 2]) {
  test(`files that become unusable end nothing, with ${workers} serving`, async (t) => {
    const files = certify('staying.example');
    const relay = await start(t, [
      ...[...options(files), ...several(workers), '--rtc', '127.0.0.1:0'],
      ...['--rtc-certificate', files.certificate, '--rtc-key', files.key],
    ]);
    const { fingerprint } = await shown(relay, 'staying.example');
    const still = async () =>
      assert.equal((await shown(relay, 'staying.example')).fingerprint, fingerprint);
    writeFileSync(files.certificate, 'nonsense');
    await relay.logged(/cannot use \S*fullchain\.pem for TLS: /);
    relay.kill('SIGUSR2');
    await relay.logged(/no upgrade: process \d+ .*; this one goes on\n/);
    await still();
    if (workers > 1) {
      // All workers are killed: a client may come to any.
      for (const pid of childrenOf(relay.pid)) process.kill(pid, 'SIGKILL');
      await relay.logged(/ended on signal 9[^]*ended on signal 9/);
      await still();
    }
    certify('staying.example');
    await relay.logged(/reading the TLS certificates again\n/);
    const renewed = async () => (await shown(relay, 'staying.example')).fingerprint !== fingerprint;
    await patiently(
      (async () => {
        // A dozen connections one after the other do not all come to the same worker.
        for (let seen = 0; seen < 12; seen = (await renewed()) ? seen + 1 : 0) await sleep(20);
      })(),
      'the new certificate at all workers',
    );
  });
}

test(
  'a certificate that is replaced while its files are read is read again',
  { skip: oneProcess },
  async (t) => {
    const files = certify('late.example');
    const key = readFileSync(files.key);
    const relay = await start(t, options(files));
    const before = await shown(relay, 'late.example');
    // A pipe keeps the relay waiting for the key.
    const pipe = path.join(folder, 'pipe');
    execFileSync('mkfifo', [pipe]);
    renameSync(pipe, files.key);
    relay.kill('SIGHUP');
    const end = await open(files.key, 'w');
    certify('late.example');
    await end.writeFile(key);
    await end.close();
    await relay.logged(/reading the TLS certificates again\n(.*\n)*.*reading the TLS .*\n/);
    assert.notEqual((await shown(relay, 'late.example')).fingerprint, before.fingerprint);
  },
);

test('plain HTTP is sent to the same page by HTTPS', async (t) => {
  const relay = await start(t, [
    ...options(one),
    ...['--http-redirect', '127.0.0.1:0', '--admin', '0'],
  ]);
  const port = Number(/redirecting from \S+:(\d+)\n/.exec(relay.log())[1]);
  const redirect = (target, host) => get(relay, target, { plain: true, port, headers: { host } });
  const { status, headers } = await redirect('/a/b?c=d', 'one.example:80');
  assert.equal(status, 308);
  assert.equal(headers.location, `https://one.example:${relay.port}/a/b?c=d`);
  const odd = '/a%20b%23%25?c=%26d%20&e=%3F';
  assert.equal(
    (await redirect(odd, 'one.example')).headers.location,
    `https://one.example:${relay.port}${odd}`,
  );
  // The admin listener has no TLS either, and each of the two answers for itself.
  const [, adminPort] = await relay.logged(/admin listener on 127\.0\.0\.1:(\d+)\n/);
  assert.equal((await redirect('/healthz', '127.0.0.1')).status, 308);
  const asked = await get(relay, '/healthz', { plain: true, port: adminPort });
  assert.equal(asked.status, 200);
  const ipv6 = await redirect('/', '[::1]');
  assert.equal(ipv6.headers.location, `https://[::1]:${relay.port}/`);
  for (const [target, host] of [
    ['/', 'one.example/@evil'],
    [`/?${'a'.repeat(600)}`, 'one.example'],
  ]) {
    const refused = await redirect(target, host);
    assert.equal(refused.status, 400);
    assert.equal(refused.headers.location, undefined);
  }
});

test('one address has only so many handshakes a minute', { skip: oneProcess }, async (t) => {
  const limit = 6; // the number of connections that a browser opens for a page
  const relay = await start(t, [
    ...options(one),
    ...['--max-sessions-per-address', '1', '--trusted-proxy', '127.0.0.9'],
  ]);
  const from = (localAddress) =>
    shown(relay, 'one.example', { localAddress }).then(
      () => 1,
      () => 0,
    );
  const begin = performance.now();
  let made = 0;
  for (let i = 0; i < 20; i++) made += await from('127.0.0.1');
  const minutes = (performance.now() - begin) / 60e3;
  assert.ok(made >= limit, `${made} handshakes`);
  assert.ok(made <= limit + 1 + limit * minutes, `${made} handshakes in ${minutes} minutes`);
  assert.equal(await from('127.0.0.2'), 1, 'another address');
  for (let i = 0; i < 20; i++) assert.equal(await from('127.0.0.9'), 1, 'a proxy is many clients');
  await relay.logged(
    /connection of 127\.0\.0\.1:\d+ refused: its address has made 6 TLS handshakes/,
  );
  relay.kill('SIGUSR1');
  const [, count] = await relay.logged(/ handshakes_refused=(\d+)/);
  assert.equal(Number(count), 20 - made);
});

test('files that cannot be used are one line each, and what does not fit is refused', async () => {
  const base = ['--listen', '127.0.0.1:0', '--upstream', '127.0.0.1:9'];
  const cases = [
    [
      options({ ...one, certificate: '/none.pem' }),
      2,
      /cannot use \/none\.pem for TLS: No such file/,
    ],
    [
      options({ ...one, key: two.key }),
      2,
      /cannot use \S+privkey\.pem for TLS: key values mismatch/,
    ],
    [
      options({ ...one, certificate: one.key }),
      2,
      /cannot use \S+privkey\.pem for TLS: there is no certificate in PEM format in it/,
    ],
    [['--tls-certificate', one.certificate], 2, /every --tls-certificate needs its --tls-key/],
    [['--hsts', '5'], 2, /--hsts have no meaning without --tls-certificate/],
  ];
  for (const [args, expected, line] of cases) {
    const { code, stderr } = await run([...base, ...args]);
    assert.equal(code, expected, stderr);
    assert.match(stderr, line);
    assert.equal(stderr.trim().split('\n').length, 1, stderr);
    const checked = await run([...base, ...args, '--check-config']);
    assert.deepEqual([checked.code, checked.stdout], [expected, '']);
    assert.match(checked.stderr, line);
  }
  const good = await run([...base, ...options(one), '--check-config']);
  assert.deepEqual([good.code, good.stdout], [0, 'ok\n']);
});

for (const workers of [1, 2])
  test(`of two certificates the later expiry wins, with ${workers} serving`, async (t) => {
    const files = certify('lasting.example', 'lasting.example', 20);
    const relay = await start(t, [...options(files), ...several(workers), '--admin', '0']);
    const [, port] = await relay.logged(/admin listener on 127\.0\.0\.1:(\d+)\n/);
    const days = async () => {
      const { text } = await get(relay, '/metrics', { plain: true, port });
      return Number(/^causeway_relay_certificate_expires_seconds (\d+)$/m.exec(text)[1]) / 86400;
    };
    const { fingerprint } = await shown(relay, 'lasting.example');
    assert.ok((await days()) > 19);
    certify('lasting.example', 'lasting.example', 1);
    await relay.logged(/error \S+fullchain\.pem expires at \S+Z, before the certificate in use/);
    assert.equal((await shown(relay, 'lasting.example')).fingerprint, fingerprint);
    certify('lasting.example', 'lasting.example', 30);
    await until('the new certificate', async () => (await days()) > 29);
    await until(
      'its use',
      async () => (await shown(relay, 'lasting.example')).fingerprint !== fingerprint,
    );
  });
