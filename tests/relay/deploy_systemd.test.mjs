// The systemd unit and the configuration that are shipped, as systemd and the relay see them.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import test from 'node:test';
import { certify } from '../support/certificate.mjs';
import { program, run } from '../support/relay.mjs';
import { temporaryFolder } from '../support/fixture.mjs';

const folder = temporaryFolder(test);
const { certificate, key } = certify(folder);

const shipped = (name) =>
  readFileSync(new URL(`../../relay/deploy/${name}`, import.meta.url), 'utf8');
const analyze = (...args) => spawnSync('systemd-analyze', args, { encoding: 'utf8' });
const skip = analyze('--version').error ? 'systemd is not installed' : false;

/** The most that `systemd-analyze security` may find exposed, of 100. */
const EXPOSURE_MAX = 20;

for (const name of ['causeway-relay.service', '../../web/template/deploy/game.service'])
  test(`systemd finds no mistake in ${path.basename(name)}`, { skip }, () => {
    const unit = path.join(folder, path.basename(name));
    writeFileSync(unit, shipped(name).replace('/usr/bin/causeway-relay', program));
    const { status, stderr } = analyze('verify', '--man=no', unit);
    assert.equal(status, 0, stderr);
    assert.equal(stderr, '');
  });

test('systemd tries again for as long as it takes, but not after a bad option', () => {
  const unit = shipped('causeway-relay.service');
  assert.match(unit, /\[Unit\][^[]*^StartLimitIntervalSec=0$/m);
  assert.match(unit, /^Restart=on-failure$/m);
  assert.match(unit, /^RestartPreventExitStatus=2$/m);
});

test('the unit leaves the relay little that it does not need', { skip }, () => {
  const unit = new URL('../../relay/deploy/causeway-relay.service', import.meta.url).pathname;
  const threshold = `--threshold=${EXPOSURE_MAX}`;
  const { status, stdout } = analyze('security', '--offline=true', '--no-pager', threshold, unit);
  assert.equal(status, 0, stdout);
});

test('systemd waits for longer than the relay drains', async () => {
  const { stdout } = await run(['--help']);
  const drain = Number(/--drain-timeout[^-]*default:? (\d+)/s.exec(stdout)[1]);
  const stop = Number(/TimeoutStopSec=(\d+)/.exec(shipped('causeway-relay.service'))[1]);
  assert.ok(stop > drain, `${stop} and ${drain} seconds`);
});

/** Puts a certificate that is there in the place of certbot's. */
const withFiles = (text) =>
  text
    .replaceAll('/etc/letsencrypt/live/game.example/fullchain.pem', certificate)
    .replaceAll('/etc/letsencrypt/live/game.example/privkey.pem', key);

test('the relay takes the configurations in the guide', async () => {
  const guide = readFileSync(new URL('../../relay/README.md', import.meta.url), 'utf8');
  const blocks = [...guide.matchAll(/^ {4}# \/etc\/causeway-relay\.conf\n((?: {4}.*\n)+)/gm)];
  assert.ok(blocks.length > 0);
  for (const [, block] of blocks) {
    const file = path.join(folder, 'guide.conf');
    writeFileSync(file, withFiles(block.replaceAll(/^ {4}/gm, '')));
    const { code, stderr } = await run(['--config', file, '--check-config']);
    assert.equal(code, 0, stderr);
  }
});

test('the relay takes the configuration, also with all that is commented out', async () => {
  const text = shipped('causeway-relay.conf');
  for (const version of [text, text.replaceAll(/^#(?=\S+ = )/gm, '')]) {
    const file = path.join(folder, 'relay.conf');
    writeFileSync(file, withFiles(version));
    const { code, stderr } = await run(['--config', file, '--check-config']);
    assert.equal(code, 0, stderr);
  }
});
