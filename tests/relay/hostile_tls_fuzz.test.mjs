// The same as hostile_tcp_fuzz, behind proxies: a PROXY header, TLS, and in it requests in a row, WebSockets and their
// frames, each of them valid or broken; see hostile_fuzz.mjs.
import { once } from 'node:events';
import net from 'node:net';
import test from 'node:test';
import tls from 'node:tls';
import { fuzz, startServing } from './hostile_fuzz.mjs';
import { connect } from '../support/websocket.mjs';
import { temporaryFolder } from '../support/fixture.mjs';
import { certify } from '../support/certificate.mjs';

const PROXY = '127.0.0.9';

const folder = temporaryFolder(test);
const certificate = certify(folder);

const signature = Buffer.from('0d0a0d0a000d0a515549540a', 'hex');

/** Returns a PROXY header of version 2. */
const v2 = (command, family, body, declared = body.length) =>
  Buffer.concat([signature, Buffer.of(command, family, declared >> 8, declared & 0xff), body]);

/** Returns what a proxy writes first: mostly the header of a client. */
function headerOf(random) {
  const address = `203.0.113.${1 + random.below(250)}`;
  const v1 = (line) => Buffer.from(`PROXY ${line}\r\n`);
  return random.mostly(
    v1(`TCP4 ${address} 192.0.2.1 ${1 + random.below(65_535)} 443`),
    v2(0x21, 0x11, random.bytes(12)),
    v2(0x21, 0x21, random.bytes(36)),
    v2(0x21, 0x11, random.bytes(12 + random.below(500))), // the header has more behind the addresses
    v2(0x20, 0x00, Buffer.alloc(0)),
    v2(0x21, 0x11, random.bytes(12), 60_000),
    v2(random.below(256), random.below(256), random.bytes(random.below(60))),
    v1('UNKNOWN'),
    v1(`TCP4 ${address}`),
    Buffer.from('PROXY '),
    signature,
    Buffer.alloc(0),
  );
}

/** Opens a socket inside TLS, behind a header; it writes what comes before TLS in one piece or in many. */
function openTls(relay, { header, pieces = 1, plain = false, version = 'TLSv1.3' }) {
  const raw = net.connect({
    port: relay.port,
    host: '127.0.0.1',
    localAddress: PROXY,
    allowHalfOpen: plain,
  });
  raw.on('error', () => {}).setNoDelay(true);
  const size = Math.max(1, Math.ceil(header.length / pieces));
  for (let at = 0; at < header.length; at += size) raw.write(header.subarray(at, at + size));
  if (plain) return raw;
  const socket = tls.connect({ socket: raw, rejectUnauthorized: false, maxVersion: version });
  return Object.assign(socket, { under: raw });
}

function open(relay, random) {
  const header = headerOf(random);
  const pieces = random.mostly(1, 2, 20);
  if (random.chance(0.1)) {
    const part = header.subarray(0, random.below(header.length + 1));
    return openTls(relay, { header: part, pieces, plain: true }).end();
  }
  const version = random.mostly('TLSv1.3', 'TLSv1.2');
  return openTls(relay, { header, pieces, plain: random.chance(0.1), version });
}

async function get(relay) {
  const socket = openTls(relay, { header: v2(0x20, 0, Buffer.alloc(0)) });
  const chunks = [];
  socket.on('data', (data) => chunks.push(data));
  socket.on('error', () => {});
  socket.write('GET / HTTP/1.1\r\nHost: x\r\n\r\n');
  await once(socket, 'close');
  return Buffer.concat(chunks).toString();
}

test('whatever comes in TLS behind a PROXY header, the relay goes on serving', async (t) => {
  const proxied = ['--trusted-proxy', PROXY];
  const relay = await startServing(t, [...proxied, ...certificate.options]);
  const player = await connect(t, relay, { scheme: 'wss', rejectUnauthorized: false });
  await fuzz(t, relay, { rounds: 60, player, get, open });
});
