// Relays block the addresses in a list that they share: --blocks-from.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import http from 'node:http';
import https from 'node:https';
import test from 'node:test';
import { isDeepStrictEqual } from 'node:util';
import { startWatched } from './admin.mjs';
import { connectAs, newKey } from './links.mjs';
import { certify } from '../support/certificate.mjs';
import { temporaryFolder } from '../support/fixture.mjs';
import { freePort } from '../support/free_port.mjs';
import { next, until } from '../support/patience.mjs';
import { pattern } from '../support/pattern.mjs';
import { run } from '../support/relay.mjs';

const BLOCKED = { code: 4007, reason: 'ended by the operator' };

const urlOf = ({ port }, scheme = 'http') => `${scheme}://localhost:${port}/blocks`;

/** A server with a list that tests change: `answer` has its status and body. */
async function startList(t, module = http, options = {}) {
  const list = { answer: { status: 200, body: '' } };
  const server = module.createServer(options, (request, response) => {
    response.statusCode = list.answer.status;
    response.end(list.answer.body);
  });
  const port = await freePort('tcp');
  list.listen = () => server.listen(port, '127.0.0.1') && next(server, 'listening');
  await list.listen();
  const stop = () => {
    server.closeAllConnections();
    server.close();
  };
  t.after(stop);
  return Object.assign(list, { port, stop });
}

async function start(t, url, { args = [], ...options } = {}) {
  const all = ['--blocks-from', url, '--blocks-interval', '1', ...args];
  const { relay } = await startWatched(t, { ...options, args: all });
  const failures = async () =>
    Number(/_block_lists_failed_total (\d+)/.exec((await relay.ask('/metrics')).text)[1]);
  const blocks = async () => JSON.parse((await relay.ask('/blocks')).text).blocks;
  const blocked = async () => (await blocks()).map(({ prefix }) => prefix).sort();
  return {
    relay,
    player: (localAddress) => connectAs(t, relay, newKey(), { localAddress }),
    blocks,
    blocked,
    untilBlocked: (...prefixes) =>
      until(`the blocks ${prefixes}`, async () => isDeepStrictEqual(await blocked(), prefixes)),
    /** Resolves when the list has been read once more, in vain. */
    async untilFailed() {
      const before = await failures();
      await until('a failure', async () => (await failures()) > before);
    },
  };
}

test('a list is followed: who is on it is ended and refused, who is off it comes back', async (t) => {
  const list = await startList(t);
  const relay = await start(t, urlOf(list));
  const inside = await relay.player('127.9.1.1');
  const outside = await relay.player('127.9.2.1');
  for (const each of [inside, outside]) await each.echo(pattern(10));
  list.answer.body = '# two cheats\r\n127.9.1.0/24 # one\r\n\r\n  2001:db8::/32';
  assert.deepEqual(await inside.closed(), BLOCKED);
  assert.deepEqual(await (await relay.player('127.9.1.9')).closed(), BLOCKED);
  assert.equal((await relay.blocks())[0].seconds_left, null);
  list.answer.body = '2001:db8::/32\n';
  await relay.untilBlocked('2001:db8::/32');
  await (await relay.player('127.9.1.1')).echo(pattern(10));
  await outside.echo(pattern(10));
});

test('the last good list stays while there is none, and the operator has blocks of their own', async (t) => {
  const list = await startList(t);
  list.answer.body = '127.9.1.1\n';
  const relay = await start(t, urlOf(list));
  await relay.untilBlocked('127.9.1.1/32');
  await relay.relay.ask('/blocks', { method: 'POST', body: 'prefix=127.9.3.3&seconds=600' });
  const many = Array.from({ length: 1025 }, (_, i) => `10.0.${i >> 8}.${i & 255}`).join('\n');
  for (const [why, body, status = 200] of [
    ['an error', '', 500],
    ['elsewhere', '', 302],
    ['no address', '127.9.1.1\n\n127.9.1.256\n'],
    ['bits below the prefix', '127.9.1.1/24'],
    ['two in a line', '127.9.1.1 127.9.1.2'],
    ['no text', '127.9.1.1\0'],
    ['too many', many],
    ['too long', ' '.repeat(65537)],
  ]) {
    list.answer = { status, body };
    await relay.untilFailed();
    assert.deepEqual(await relay.blocked(), ['127.9.1.1/32', '127.9.3.3/32'], why);
  }
  list.stop();
  await relay.untilFailed();
  list.answer = { status: 200, body: '127.9.1.2' };
  await list.listen();
  await relay.untilBlocked('127.9.1.2/32', '127.9.3.3/32');
  await relay.relay.logged(/the blocks stay as they are, .*: .*status 500/);
  await relay.relay.logged(/--blocks-from: 1 blocked, 1 no longer, 1 in all/);
});

test('workers follow a list over HTTPS, and their successors do', async (t) => {
  const more = ['-addext', 'subjectAltName=DNS:localhost'];
  const { certificate, key } = certify(temporaryFolder(t), { more });
  const files = { cert: readFileSync(certificate), key: readFileSync(key) };
  const list = await startList(t, https, files);
  list.answer.body = '127.9.1.0/24';
  const env = { SSL_CERT_FILE: certificate };
  const relay = await start(t, urlOf(list, 'https'), { env, args: ['--workers', '2'] });
  await relay.untilBlocked('127.9.1.0/24');
  assert.deepEqual(await (await relay.player('127.9.1.1')).closed(), BLOCKED);
  list.stop();
  await relay.relay.upgrade();
  assert.deepEqual(await relay.blocked(), ['127.9.1.0/24']);
  assert.deepEqual(await (await relay.player('127.9.1.1')).closed(), BLOCKED);
  await list.listen();
  list.answer.body = '';
  await relay.untilBlocked();
  const distrustful = await start(t, urlOf(list, 'https'));
  await distrustful.untilFailed();
});

test('what is no URL is refused', async () => {
  for (const url of [
    'blocks.txt',
    'ftp://game.example/',
    'http://',
    `http://${'a'.repeat(1024)}`,
  ]) {
    const { code, stderr } = await run(['--check-config', '--blocks-from', url]);
    assert.equal(code, 2);
    assert.match(stderr, /--blocks-from needs a URL, as in https:\/\/game\.example\/blocks, not/);
  }
});
