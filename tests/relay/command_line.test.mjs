import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import net from 'node:net';
import test from 'node:test';
import { run } from '../support/relay.mjs';
import { startUdpServer } from '../support/udp_server.mjs';
import { own } from '../support/fixture.mjs';

const good = ['--listen', '127.0.0.1:0', '--upstream', '127.0.0.1:9'];

test('--help and --version print and end with 0', async () => {
  const help = await run(['--help']);
  assert.equal(help.code, 0);
  assert.equal(help.stderr, '');
  for (const option of [
    '--listen',
    '--upstream',
    '--root',
    '--origin',
    '--max-sessions',
    '--idle-timeout',
    '--resume-seconds',
    '--watchdog',
    '--config',
    '--check-config',
  ])
    assert.match(help.stdout, new RegExp(`${option}\\s`));
  const version = await run(['--version']);
  assert.equal(version.code, 0);
  assert.match(version.stdout, /^causeway-relay \d+\.\d+\.\d+\n$/);
});

test('every option of --help stands in a guide', async () => {
  const read = (name) => readFileSync(new URL(`../../relay/${name}.md`, import.meta.url), 'utf8');
  const guides = ['README', 'OPERATING', 'SECURITY'].map(read).join('');
  const { stdout } = await run(['--help']);
  const options = [...stdout.matchAll(/^ {2}(--[a-z-]+)/gm)].map(([, option]) => option);
  assert.ok(options.includes('--watchdog'));
  const missing = options.filter((option) => !new RegExp(`${option}(?![a-z-])`).test(guides));
  assert.deepEqual(missing, []);
});

const bad = {
  'an unknown option': [[...good, '--nonsense'], /--nonsense/],
  'a short option': [[...good, '-x'], /-x/],
  'several short options': [[...good, '-xy'], /-xy/],
  'a word': [[...good, 'word'], /word/],
  'a missing value': [[...good, '--root'], /--root/],
  'no --listen': [['--upstream', '127.0.0.1:9'], /--listen/],
  'no --upstream': [['--listen', '127.0.0.1:0'], /--upstream/],
  'an upstream without a port': [
    ['--listen', '127.0.0.1:0', '--upstream', '127.0.0.1'],
    /--upstream/,
  ],
  'an upstream with port 0': [
    ['--listen', '127.0.0.1:0', '--upstream', '127.0.0.1:0'],
    /--upstream/,
  ],
  'a port that is too high': [
    ['--listen', '127.0.0.1:65536', '--upstream', '127.0.0.1:9'],
    /--listen/,
  ],
  'IPv6 without brackets': [['--listen', '::1:80', '--upstream', '127.0.0.1:9'], /--listen/],
  'a host that is a pattern': [
    ['--check-config', '--listen', '*:8080', '--upstream', '127.0.0.1:9'],
    /\[::\]:8080/,
  ],
  'an upstream that is a pattern': [
    ['--check-config', '--listen', ':0', '--upstream', '*:9'],
    /--upstream needs/,
  ],
  'a proxy with bits behind its prefix': [
    [...good, '--check-config', '--trusted-proxy', '10.1.2.3/8'],
    /not '10\.1\.2\.3\/8': that network is 10\.0\.0\.0\/8 /,
  ],
  'an upstream with bits behind its prefix': [
    ['--check-config', '--listen', ':0', '--upstream', '[2001:db8::5]/32:7000-7999'],
    /not '\[2001:db8::5\]\/32:7000-7999': that network is 2001:db8::\/32 /,
  ],
  'a prefix that is too long': [
    [...good, '--check-config', '--trusted-proxy', '10.0.0.1/33'],
    /10\.0\.0\.1\/33' /,
  ],
  'a negative timeout': [[...good, '--idle-timeout', '-1'], /--idle-timeout/],
  'no time to ask in': [[...good, '--request-timeout', '0'], /--request-timeout/],
  'no time to answer in': [[...good, '--answer-timeout', '0'], /--answer-timeout/],
  'a negative time to resume in': [[...good, '--resume-seconds', '-1'], /--resume-seconds/],
  'a negative rate': [[...good, '--upstream-packets', '-1'], /--upstream-packets/],
  'an age in milliseconds': [[...good, '--queue-age', '250'], / a number of seconds from 0 to 60/],
  'half a second for a turn': [[...good, '--watchdog', '0.5'], /--watchdog/],
  'a time with its unit': [
    [...good, '--check-config', '--coalesce-us', '300us'],
    / a number of microseconds /,
  ],
  'a size with its unit': [
    [...good, '--check-config', '--peer-rate', '256k'],
    / a number of bytes /,
  ],
  'no number': [[...good, '--max-sessions', 'many'], /--max-sessions/],
  'no sessions': [[...good, '--max-sessions', '0'], /--max-sessions/],
  'half a session': [[...good, '--max-sessions', '1.5'], /--max-sessions/],
  'neither raw nor not': [[...good, '--raw=maybe'], /--raw needs yes or no/],
  'a protocol that is no number': [[...good, '--protocol-id', 'game'], /--protocol-id/],
  'a protocol of more than 64 bits': [[...good, '--protocol-id', '0x10000000000000000'], /64/],
  'a protocol for raw datagrams': [[...good, '--raw', '--protocol-id', '1'], /--raw/],
  'an unknown level': [[...good, '--log-level', 'loud'], /--log-level/],
  'an origin with a path': [[...good, '--origin', 'https://a.example/b'], /--origin/],
  'an origin that is a pattern': [
    [...good, '--check-config', '--origin', 'https://*.example'],
    /or \* alone/,
  ],
  'an address of no WebRTC': [
    [...good, '--check-config', '--rtc-advertise', '192.0.2.1'],
    /without --rtc/,
  ],
  'WebTransport without WebRTC': [[...good, '--check-config', '--webtransport'], /give that too/],
  'a certificate of no WebTransport': [
    [...good, '--check-config', '--webtransport-certificate', 'a.pem'],
    /without --webtransport/,
  ],
  'an origin without a scheme': [[...good, '--origin', 'a.example'], /--origin/],
};
for (const [name, [args, pattern]] of Object.entries(bad)) {
  test(`${name} is one line and exit code 2`, async () => {
    const { code, stdout, stderr } = await run(args);
    assert.equal(code, 2);
    assert.equal(stdout, '');
    assert.match(stderr, /^causeway-relay: [^\n]+\n$/);
    assert.match(stderr, pattern);
  });
}

test('times are in seconds and may have fractions', async () => {
  const times = [
    'queue-age',
    'ping-interval',
    'request-timeout',
    'answer-timeout',
    'idle-timeout',
    'resume-seconds',
  ];
  const { code, stdout, stderr } = await run([
    ...good,
    ...times.flatMap((time) => [`--${time}`, '1.25']),
    '--check-config',
  ]);
  assert.equal(stderr, '');
  assert.equal(stdout, 'ok\n');
  assert.equal(code, 0);
});

test('a port in use is one line and exit code 1', async (t) => {
  const holder = net.createServer();
  await new Promise((resolve) => holder.listen(0, '127.0.0.1', resolve));
  own(t, () => holder.close());
  const taken = `127.0.0.1:${holder.address().port}`;
  const { code, stderr } = await run([
    '--listen',
    taken,
    '--upstream',
    '127.0.0.1:9',
    '--log-level',
    'error',
  ]);
  assert.equal(code, 1);
  assert.match(
    stderr,
    new RegExp(`^\\S+ error cannot listen on ${taken}: Address already in use\\n$`),
  );
});

test('an unresolvable upstream is one line and exit code 1', async () => {
  const { code, stderr } = await run([
    '--listen',
    '127.0.0.1:0',
    '--upstream',
    'no-such-host.invalid:4000',
    '--log-level',
    'error',
  ]);
  assert.equal(code, 1);
  assert.match(
    stderr,
    /^\S+ error cannot resolve the upstream no-such-host\.invalid:4000: [^\n]+\n$/,
  );
});

test('a root that is no directory is one line and exit code 1', async (t) => {
  const server = await startUdpServer(t);
  for (const root of ['/no/such/directory', process.execPath]) {
    const { code, stderr } = await run([
      '--listen',
      '127.0.0.1:0',
      '--upstream',
      server.upstream,
      '--root',
      root,
      '--log-level',
      'error',
    ]);
    assert.equal(code, 1);
    assert.match(stderr, /^\S+ error cannot serve files from [^\n]+\n$/);
  }
});
