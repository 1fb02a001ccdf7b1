// The script web/lab/run, with the build that is there in place of the one that it would make.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { freePort } from '../support/free_port.mjs';
import { until } from '../support/patience.mjs';
import { lineOf, startProgram } from '../support/programs.mjs';
import { temporaryFolder } from '../support/fixture.mjs';

const folder = temporaryFolder(test);
for (const name of ['build', 'tests/support']) mkdirSync(join(folder, name), { recursive: true });
symlinkSync(fileURLToPath(new URL('../../web', import.meta.url)), join(folder, 'web'));
symlinkSync(process.env.CAUSEWAY_BUILD, join(folder, 'build/release'));
symlinkSync('/bin/true', join(folder, 'tests/support/setup'));
const run = join(folder, 'web/lab/run');

/** Resolves with the resource at an address, as soon as something answers there. */
const fetchPatiently = (address) =>
  until(`an answer of ${address}`, () => fetch(address).catch(() => false));

test('it names the address of the lab, and serves page, module and relay there', async (t) => {
  const port = await freePort('tcp');
  const lab = startProgram(t, run, [String(port)], { stdio: ['ignore', 'pipe', 'inherit'] });
  const exited = once(lab, 'exit');
  const [line] = await lineOf(lab, /.*/);
  const address = `http://127.0.0.1:${port}/`;
  assert.equal(line, `Open ${address} in a browser; Ctrl-C ends the lab`);
  const page = await (await fetchPatiently(address)).text();
  assert.match(page, /<title>Causeway lab<\/title>/);
  const scripts = [...page.matchAll(/(?:src|href)="\.\/(assets\/[^"]+\.js)"/g)];
  const texts = scripts.map(async ([, path]) => (await fetch(address + path)).text());
  const [, module] = /(causeway-lab-[\w-]+\.wasm)/.exec((await Promise.all(texts)).join());
  const { headers } = await fetch(`${address}assets/${module}`);
  assert.equal(headers.get('content-type'), 'application/wasm');
  assert.match(await (await fetch(`${address}uplot-license.txt`)).text(), /MIT License/);
  // The relay for the switch "My network" is there too. It takes an offer, which this is not.
  const { status } = await fetch(`${address}rtc`, { method: 'POST', body: 'no offer' });
  assert.equal(status, 400);
  const other = await (await fetch(`${address}lockstep.html`)).text();
  assert.match(other, /<title>Lockstep beside prediction<\/title>/);
  lab.kill('SIGINT');
  await exited;
  await assert.rejects(fetch(address));
});

for (const port of ['0', '65536', 'x', '80 80', ''])
  test(`the port "${port}" is refused at once`, () => {
    const { status, stdout, stderr } = spawnSync(run, [port], { encoding: 'utf8' });
    assert.equal(status, 2);
    assert.equal(stdout, '');
    assert.equal(stderr, 'web/lab/run: the port is a number from 1 to 65535, as in 8090\n');
  });
