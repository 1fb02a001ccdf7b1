// Options from a file and from the environment.
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import test from 'node:test';
import { run, startRelay } from '../support/relay.mjs';
import { startUdpServer } from '../support/udp_server.mjs';
import { temporaryFolder } from '../support/fixture.mjs';

const good = 'listen = 127.0.0.1:0\nupstream = 127.0.0.1:9\n';
const folder = temporaryFolder(test);
const file = path.join(folder, 'relay.conf');

/** Returns what the relay says to a file, some of the environment, and further arguments. */
function check(text, { env = {}, args = [] } = {}) {
  writeFileSync(file, text);
  return run(['--config', file, '--check-config', ...args], env);
}

async function accepts(text, more) {
  assert.deepEqual(await check(text, more), { code: 0, stdout: 'ok\n', stderr: '' });
}

async function refuses(text, pattern, more) {
  const { code, stdout, stderr } = await check(text, more);
  assert.equal(code, 2);
  assert.equal(stdout, '');
  assert.match(stderr, /^causeway-relay: [^\n]+\n$/);
  assert.match(stderr.replaceAll(`${folder}/`, ''), pattern);
}

test('a file with comments, blanks and several values is all that is needed', async () => {
  await accepts(`# The relay\n${good}\n  origin = https://a.example \r\norigin=*\nraw = yes\n`);
  await accepts(`${good}max-sessions = 5 # of them\nraw = yes\t#\nroot = /a#b ; a place\n`);
});

const bad = {
  'an unknown name': ['max-session = 5', /relay\.conf:3: no such option: max-session/],
  'a bad value': ['\nmax-sessions = many', /relay\.conf:4: max-sessions needs .* not 'many'/],
  'no value': ['# none\nroot', /relay\.conf:4: this is not name = value/],
  'a value that is given twice': [
    'hsts = 1\nmax-sessions = 5\nmax-sessions = 6',
    /relay\.conf:5: max-sessions is given twice: first in line 4/,
  ],
  'an empty value': ['max-sessions =', /relay\.conf:3: max-sessions needs/],
  'neither yes nor no': ['raw = maybe', /relay\.conf:3: raw needs yes or no, not 'maybe'/],
  'too many of them': ['protocol-id = 1\n'.repeat(9), /relay\.conf:11: protocol-id .* 8 times/],
  'a section': ['[limits]\nmax-sessions = 5', /relay\.conf:4: there are no sections: limits/],
  'a file in a file': ['config = other.conf', /relay\.conf:3: not in a file: config/],
  'a line that is too long': [`root = /${'x'.repeat(300)}`, /relay\.conf:3: the line is too long/],
  'more workers than a number has room for': [
    'workers = 4294967297',
    /relay\.conf:3: workers needs/,
  ],
  'a zero byte': ['root = /a\0b', /relay\.conf:3: there is a zero byte/],
};
for (const [name, [text, pattern]] of Object.entries(bad))
  test(`${name} is one line with its place`, () => refuses(`${good}${text}\n`, pattern));

test('a file that cannot be read is one line', async () => {
  for (const [name, why] of [
    [`${folder}/none.conf`, 'No such file or directory'],
    [folder, 'Is a directory'],
    ['/dev/zero', 'File too large'],
  ]) {
    const { code, stderr } = await run(['--config', name, '--check-config']);
    assert.equal(code, 2);
    assert.match(stderr, new RegExp(`^causeway-relay: cannot read ${name}: ${why} [^\n]+\n$`));
  }
});

test('every line of noise is read or refused with one line', async () => {
  let seed = 1;
  const random = (below) => {
    seed = (Math.imul(seed, 1103515245) + 12345) >>> 0;
    return (seed >>> 16) % below;
  };
  const pieces = ['listen', 'origin', ' = ', '=', ':', '\n', '\n', '[', ']', ';', '#', '\0', 'yes'];
  pieces.push('\r', '\t', '%s%n', '\xef\xbb\xbf', '9'.repeat(210), '*', 'raw', '127.0.0.1:1');
  for (let i = 0; i < 100; i++) {
    const noise = Array.from({ length: random(40) }, () =>
      random(4) ? pieces[random(pieces.length)] : String.fromCharCode(random(256)),
    );
    const text = Buffer.from(noise.join(''), 'latin1');
    const { code, stderr } = await check(text);
    assert.ok(code === 0 || code === 2, `${code} for ${JSON.stringify(noise)}`);
    if (code === 2) assert.match(stderr, /^causeway-relay: [^\n]+\n$/);
  }
});

test('the environment has all of them, several values with blanks between them', async () => {
  const env = {
    CAUSEWAY_RELAY_LISTEN: '127.0.0.1:0 [::1]:0',
    CAUSEWAY_RELAY_UPSTREAM: '127.0.0.1:9',
    CAUSEWAY_RELAY_RAW: 'yes',
    CAUSEWAY_RELAY_ROOT: '', // an empty value counts as none
    CAUSEWAY_RELAY_SERVICE_HOST: '10.0.0.1', // Kubernetes sets this one
    CAUSEWAY_RELAY_PORT_80_TCP: 'tcp://10.0.0.1:80',
  };
  await accepts('', { env });
  const more = (name, value) => ({ env: { ...env, [`CAUSEWAY_RELAY_${name}`]: value } });
  await refuses('', /CAUSEWAY_RELAY_LISTEN needs .*'1'/, more('LISTEN', '127.0.0.1:0 1'));
  await refuses('', /CAUSEWAY_RELAY_QUEUE_AGE needs/, more('QUEUE_AGE', 'long'));
  await refuses('', /no such option: CAUSEWAY_RELAY_QUEUE_AGES/, more('QUEUE_AGES', '1'));
  const { stdout } = await run(['--check-config'], { CAUSEWAY_RELAY_CONFIG: file, ...env });
  assert.equal(stdout, 'ok\n');
});

test('the command line replaces the environment, and that the file', async (t) => {
  const server = await startUdpServer(t);
  const any = '127.0.0.1:0';
  writeFileSync(file, `listen = ${any}\n`.repeat(3));
  const listeners = async (env, args) => {
    const where = { listen: null, env, args: ['--config', file, ...args] };
    const relay = await startRelay(t, { upstream: server.upstream, ...where });
    await relay.stats(); // the counters are logged after the options
    return relay.log().match(/listening on/g).length;
  };
  assert.equal(await listeners({}, []), 3);
  assert.equal(await listeners({ CAUSEWAY_RELAY_LISTEN: `${any} ${any}` }, []), 2);
  assert.equal(await listeners({ CAUSEWAY_RELAY_LISTEN: any }, ['--listen', any]), 1);
  // An option that is replaced must be right nevertheless.
  const loud = { CAUSEWAY_RELAY_LOG_LEVEL: 'loud' };
  await refuses(good, /CAUSEWAY_RELAY_LOG_LEVEL/, { env: loud, args: ['--log-level', 'info'] });
});
