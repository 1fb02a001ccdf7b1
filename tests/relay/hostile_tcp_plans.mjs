// Plans of a stranger for the relay's TCP port, made from a seed: requests and WebSockets, valid and broken, in a row,
// cut anywhere.
import { once } from 'node:events';
import net from 'node:net';
import { sleep } from '../support/patience.mjs';

const text = (value) => Buffer.from(value, 'latin1');

const paths = [
  '/',
  '/index.html',
  '/large.bin',
  '/none',
  '/sub',
  '/sub/',
  '/rtc',
  '/rtc/',
  '/rtc/1',
  '/rtc?a=b',
  '/metrics',
  '/sessions?limit=1&after=%zz',
  '/blocks',
  '/%00',
  '/%2e%2e/x',
  '/../x',
  '//x',
  '*',
  'x',
  '',
  'http://x/',
  `/${'a'.repeat(300)}`,
  `/${'b/'.repeat(2500)}`,
];
const methods = ['GET', 'POST', 'OPTIONS', 'DELETE', 'HEAD', 'PUT', 'PATCH', 'CONNECT', 'PRI', 'X'];
const subprotocols = ['x, causeway.v1', '(http)', '(loop)', ',', ''];
const extensions = [
  'permessage-deflate',
  'permessage-deflate; client_max_window_bits',
  'x; y=z',
  ';;,',
];
const lengths = ['0', '1', '5', '4096', '5000000', '-1', '1, 1', 'a', '', '99999999999999999999'];

function headersOf(random, body) {
  const lines = [`Host: ${random.mostly('127.0.0.1', '', 'a:b:c', 'y'.repeat(600))}`];
  const some = (share, ...more) => random.chance(share) && lines.push(...more);
  if (body.length > 0 || random.chance(0.3))
    lines.push(`Content-Length: ${random.mostly(String(body.length), ...lengths)}`);
  some(0.05, `Content-Length: ${random.pick(lengths)}`);
  some(0.1, `Transfer-Encoding: ${random.pick(['chunked', 'gzip', 'chunked, identity', ''])}`);
  some(0.1, `Connection: ${random.pick(['close', 'keep-alive', 'Upgrade', 'x, Upgrade'])}`);
  some(0.1, `Origin: ${random.pick(['http://x', 'http://evil.example', 'null', ''])}`);
  some(0.1, `Range: bytes=${random.pick(['0-0', '5-', '-1', '9-2', '0-0,2-2', 'x'])}`);
  some(0.1, 'Content-Type: application/sdp');
  some(0.05, 'Expect: 100-continue');
  some(0.05, `Upgrade: ${random.pick(['h2c', 'x', 'websocket', ''])}`);
  some(0.03, 'HTTP2-Settings: AAMAAABkAAQAAP__');
  some(0.05, `X-Long: ${'z'.repeat(random.pick([100, 1000, 5000]))}`);
  some(0.05, ...Array.from({ length: random.pick([10, 100]) }, (_, i) => `X-${i}: ${i}`));
  some(0.03, random.pick(['no colon', ': no name', 'Space : x', ' folded', '\0', 'a\rb: c']));
  return lines;
}

function request(random, offer) {
  const method = random.mostly(...methods.slice(0, 2), ...methods);
  const path = random.mostly(random.pick(['/', '/rtc', '/large.bin']), ...paths);
  const body =
    method === 'POST' || random.chance(0.1)
      ? random.pick([...['', 'a', offer, '1\r\na\r\n0\r\n\r\n'].map(text), random.bytes(70)])
      : text('');
  const version = random.mostly('HTTP/1.1', 'HTTP/1.0', 'HTTP/2.0', 'HTTP/1.1.1', '', 'X');
  const end = random.mostly('\r\n', '\n', '\r');
  const head = [`${method} ${path} ${version}`, ...headersOf(random, body), '', ''].join(end);
  return Buffer.concat([text(head), body]);
}

function handshake(random) {
  const lines = [
    `GET ${random.mostly('/', ...paths)} HTTP/1.1`,
    'Host: x',
    `Upgrade: ${random.mostly('websocket', 'WebSocket', 'h2c', 'x')}`,
    `Connection: ${random.mostly('Upgrade', 'keep-alive, Upgrade', 'close')}`,
    `Sec-WebSocket-Key: ${random.mostly('AAAAAAAAAAAAAAAAAAAAAA==', '', 'A', 'A'.repeat(300))}`,
    `Sec-WebSocket-Version: ${random.mostly('13', '8', '0', 'x')}`,
    `Sec-WebSocket-Protocol: ${random.mostly('causeway.v1', ...subprotocols)}`,
  ];
  if (random.chance(0.3)) lines.push(`Sec-WebSocket-Extensions: ${random.pick(extensions)}`);
  if (random.chance(0.1)) lines.splice(random.below(lines.length), 1);
  if (random.chance(0.05)) lines.push('Content-Length: 5');
  if (random.chance(0.05)) lines.push('Transfer-Encoding: chunked');
  return text([...lines, '', ''].join('\r\n'));
}

function frame(random) {
  const opcode = random.mostly(2, 0, 1, 8, 9, 10, 3, 11, 15);
  const size = random.pick([0, 1, 2, 20, 125, 126, 127, 1400, 1401, 3000]);
  const declared = random.mostly(size, size + 1, 65_535, 65_536, 2 ** 40);
  const first = (random.chance(0.8) ? 0x80 : 0) | (random.chance(0.05) ? 0x70 : 0) | opcode;
  const masked = random.chance(0.9) ? 0x80 : 0;
  const form = random.mostly(declared < 126 ? 0 : declared < 65_536 ? 2 : 8, 2, 8);
  const head = Buffer.alloc(2 + form);
  head[0] = first;
  head[1] = masked | (form === 0 ? Math.min(declared, 125) : form === 2 ? 126 : 127);
  if (form === 2) head.writeUInt16BE(declared & 0xffff, 2);
  if (form === 8) head.writeBigUInt64BE(BigInt(declared), 2);
  const mask = masked ? random.bytes(4) : Buffer.alloc(0);
  return Buffer.concat([head, mask, Buffer.alloc(size, random.below(256))]);
}

const junk = (random) =>
  random.pick([
    () => text('\r\n\r\n'),
    () => text('\n'),
    () => text('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'),
    () => random.bytes(1 + random.below(40)),
    () => Buffer.alloc(5000, 'a'),
    () => Buffer.of(0x16, 3, 1, 2, 0, 1, 0, 1, 0xfc, 3, 3), // the beginning of TLS
    () => text('GET '),
  ])();

/** Damages bytes as on a bad way. */
function damage(random, bytes) {
  const at = random.below(bytes.length + 1);
  const [before, after] = [bytes.subarray(0, at), bytes.subarray(at)];
  return random.pick([
    () => before,
    () => after,
    () => Buffer.concat([before, random.bytes(1), after]),
    () => Buffer.concat([before, random.bytes(1), after.subarray(1)]),
    () => Buffer.concat([before, after.subarray(random.below(20))]),
    () => Buffer.concat([before, before]),
  ])();
}

/** Returns a row of parts that may follow each other on one connection. */
function row(random, offer) {
  const parts = [];
  const wild = random.chance(0.3);
  if (random.chance(0.3)) {
    if (random.chance(0.2)) parts.push(request(random, offer));
    parts.push(handshake(random));
    for (let left = random.below(8); left > 0; left--) parts.push(frame(random));
    if (random.chance(0.1)) parts.push(request(random, offer));
  } else {
    for (let left = 1 + random.below(4); left > 0; left--) parts.push(request(random, offer));
  }
  if (wild) parts.splice(random.below(parts.length + 1), 0, junk(random));
  const bytes = Buffer.concat(parts);
  return random.chance(0.2) ? damage(random, bytes) : bytes;
}

/** Returns the places where it is cut into writes. */
function cuts(random, size) {
  const places = random.pick([
    () => [],
    () => [1 + random.below(size)],
    () => Array.from({ length: random.below(6) }, () => 1 + random.below(size)),
    () => Array.from({ length: Math.min(size, 300) }, (_, i) => i + 1),
    () => Array.from({ length: Math.min(size, 300) }, (_, i) => size - i),
  ])();
  return [...new Set(places)].filter((at) => at < size).sort((a, b) => a - b);
}

/**
 * Plans one connection: the writes, the pause between them in ms (0 = none, so that they may join), whether it reads at
 * all, and how it ends: it waits for the relay to close, or for nothing, closes its side, or resets.
 */
export function makePlan(random, offer) {
  const bytes = row(random, offer);
  const writes = [];
  let from = 0;
  for (const to of [...cuts(random, Math.max(bytes.length, 1)), bytes.length]) {
    writes.push(bytes.subarray(from, to));
    from = to;
  }
  return {
    writes,
    pause: random.pick([0, 0, 1]),
    reads: random.chance(0.9),
    end: random.pick(['leave', 'leave', 'half', 'reset', 'wait']),
  };
}

export const connectTo = (relay) =>
  net.connect({ port: relay.port, host: '127.0.0.1', allowHalfOpen: true });

/**
 * Carries out one plan over a socket that is being opened (`under` a socket of TLS is that of TCP); resolves when the
 * connection has ended as planned.
 */
export async function performPlan(relay, { writes, pause, reads, end }, socket = connectTo(relay)) {
  const closed = new Promise((resolve) => socket.once('close', resolve));
  socket.on('error', () => {});
  socket.setNoDelay(true);
  let over = false;
  socket.once('end', () => (over = true));
  const ready = socket.under ? 'secureConnect' : 'connect';
  const opened = new Promise((resolve) => socket.once(ready, resolve).once('close', resolve));
  // Bytes before TLS may have kept it from beginning.
  await (socket.under ? Promise.race([opened, sleep(100)]) : opened);
  if (reads) socket.resume();
  for (const part of writes) {
    if (over || socket.destroyed) break;
    socket.write(part);
    if (pause > 0) await sleep(pause);
    else await new Promise(setImmediate);
  }
  if (end === 'half') socket.end();
  if (end === 'reset') (socket.under ?? socket).resetAndDestroy();
  // The wait has a limit: the relay gives up by itself only after many seconds.
  if (end === 'wait') await Promise.race([closed, once(socket, 'end').catch(() => {}), sleep(20)]);
  else if (end !== 'reset') await sleep(2);
  socket.destroy();
  await closed;
}

/** Describes the whole plan in one line. */
export const describePlan = ({ writes, pause, reads, end }) =>
  `pause ${pause}, ${reads ? 'reads' : 'does not read'}, ${end}: ` +
  writes.map((part) => JSON.stringify(part.toString('latin1'))).join(' | ');
