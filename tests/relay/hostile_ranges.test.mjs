// Clients that ask for ranges of files, however many, overlapping or huge, are sent the whole file like anybody else,
// once; those that do not read it, or whose file is cut meanwhile, cost others nothing.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { truncateSync, writeFileSync } from 'node:fs';
import test from 'node:test';
import { startCrowd } from './hostile_crowd.mjs';
import { startRig } from './hostile_rig.mjs';
import { patiently } from '../support/patience.mjs';
import { statsUntil } from '../support/relay.mjs';
import { temporaryFolder } from '../support/fixture.mjs';
import { memoryOf } from '../support/programs.mjs';
import { openTcp, replyTo } from '../support/tcp.mjs';

const SIZE = 100_000;
const LARGE = 8 << 20;
const EIGHT_MEGABYTES = 8 << 10; // eight megabytes in kB

const most = '18446744073709551615';
const ranges = {
  'a byte': 'Range: bytes=0-0',
  'the end': 'Range: bytes=-1',
  'what is beyond the file': `Range: bytes=${SIZE}-`,
  'from the end to the beginning': 'Range: bytes=9-2',
  'numbers of 64 bits': `Range: bytes=${most}-${most}, -${most}`,
  'numbers without end': `Range: bytes=${'9'.repeat(500)}-`,
  'no numbers': 'Range: bytes=-, --, ,,,',
  'another unit': 'Range: lines=1-2',
  'the whole, a hundred times': `Range: bytes=${'0-,'.repeat(100)}0-`,
  'bytes apart': `Range: bytes=${Array.from({ length: 100 }, (_, i) => `${2 * i}-${2 * i}`)}`,
  'several times': Array(50).fill('Range: bytes=0-0').join('\r\n'),
  'if it is what it was': 'Range: bytes=0-0\r\nIf-Range: "x"',
  'if it is as old': 'Range: bytes=5-\r\nIf-Range: Thu, 01 Jan 1970 00:00:00 GMT',
};

const folder = temporaryFolder(test);
writeFileSync(`${folder}/some.bin`, Buffer.alloc(SIZE, 'some'));

/** Resolves with all that comes back for some.bin. */
async function ask(relay, method, lines) {
  const bytes = `${method} /some.bin HTTP/1.1\r\nHost: a\r\n${lines}\r\n\r\n`;
  const reply = await replyTo(null, relay.port, bytes, { localAddress: '127.3.0.1' });
  const [head] = reply.split('\r\n\r\n', 1);
  return { head, size: reply.length - head.length - 4 };
}

test('ranges of any kind get the whole file', async (t) => {
  const rig = await startRig(t, { args: ['--root', folder] });
  for (const [name, lines] of Object.entries(ranges)) {
    for (const [method, body] of [
      ['GET', SIZE],
      ['HEAD', 0],
    ]) {
      const { head, size } = await ask(rig.relay, method, lines);
      assert.match(head, /^HTTP\/1\.1 200 /, `${method} of ${name}`);
      assert.match(head, new RegExp(`\r\ncontent-length: ${SIZE}\r\n`), `${method} of ${name}`);
      assert.doesNotMatch(head, /content-range/i);
      assert.equal(size, body, `${method} of ${name}`);
    }
  }
  await rig.check();
});

test('those who ask for many and read nothing cost others nothing', async (t) => {
  const rig = await startRig(t, { args: ['--root', folder] });
  const large = `${folder}/large.bin`;
  writeFileSync(large, Buffer.alloc(LARGE));
  const before = memoryOf(rig.relay.pid);
  const lines = Object.values(ranges);
  let asked = 0;
  const begin = (socket) => {
    socket.pause();
    socket.write(`GET /large.bin HTTP/1.1\r\nHost: a\r\n${lines[asked++ % lines.length]}\r\n\r\n`);
  };
  const reader = openTcp(t, rig.relay.port);
  begin(reader);
  const crowd = startCrowd(t, rig.relay, { count: 200, addresses: 4, begin });
  await crowd.reached();
  for (let i = 0; i < 3; i++) await rig.newcomer();
  assert.ok(memoryOf(rig.relay.pid) - before < EIGHT_MEGABYTES, 'it is not in memory');
  truncateSync(large, SIZE);
  await patiently(once(reader.resume(), 'close'), 'the end of a file that is cut');
  await rig.newcomer();
  crowd.stop();
  await statsUntil(rig.relay, ({ sessions_open }) => sessions_open === 10);
  await rig.check();
});
