// The dissector for Wireshark shows what the test vectors of netcode and reliable say about their packets.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { temporaryFolder } from '../support/fixture.mjs';

const folder = process.env.CAUSEWAY_VECTORS;
const noShark = spawnSync('tshark', ['--version']).error ? 'tshark is not installed' : false;
const skip = folder ? noShark : 'CAUSEWAY_VECTORS names no folder';
const vectors = (name) => JSON.parse(readFileSync(path.join(folder, name), 'utf8'));
const lua = new URL('../../relay/deploy/causeway.lua', import.meta.url).pathname;
const [CLIENT, SERVER] = [40000, 40001];

/** Returns a record of a capture: a UDP datagram over IPv4. */
function record({ from, to, data }) {
  const packet = Buffer.alloc(28 + data.length);
  packet.set([0x45, 0, packet.length >> 8, packet.length & 255, 0, 0, 0, 0, 64, 17]);
  packet.set([127, 0, 0, 1, 127, 0, 0, 1], 12);
  [from, to, 8 + data.length].forEach((value, i) => packet.writeUInt16BE(value, 20 + i * 2));
  data.copy(packet, 28);
  const header = new Uint32Array([0, 0, packet.length, packet.length]);
  return Buffer.concat([Buffer.from(header.buffer), packet]);
}

/** Returns these fields of each datagram, as tshark shows them: a list of rows of texts. */
function show(t, datagrams, fields, ...options) {
  const file = path.join(temporaryFolder(t), 'capture.pcap');
  const RAW_IP = 101;
  const header = new Uint32Array([0xa1b2c3d4, 0x00040002, 0, 0, 65535, RAW_IP]);
  writeFileSync(file, Buffer.concat([Buffer.from(header.buffer), ...datagrams.map(record)]));
  const { status, stdout, stderr } = spawnSync(
    'tshark',
    [
      ...['-n', '-r', file, '-X', `lua_script:${lua}`, '-T', 'fields', ...options],
      ...[...fields, '_ws.expert.message'].flatMap((field) => ['-e', field]),
    ],
    { encoding: 'utf8', maxBuffer: 1 << 26 },
  );
  assert.equal(status, 0, stderr);
  assert.doesNotMatch(stdout + stderr, /Lua/);
  return stdout
    .split('\n')
    .slice(0, -1)
    .map((line) => line.split('\t').slice(0, fields.length));
}

test('netcode, found by its request, and opened with the keys', { skip }, (t) => {
  const { connect_tokens: tokens, packets, ignored } = vectors('netcode.json');
  const [{ request_packet: request, protocol_id: protocol }] = tokens;
  const { key } = packets[0];
  const known = packets.filter((packet) => packet.key === key);
  const up = (data) => ({ from: CLIENT, to: SERVER, data: Buffer.from(data, 'hex') });
  const down = (data) => ({ from: SERVER, to: CLIENT, data: Buffer.from(data, 'hex') });
  const fields = ['type', 'sequence', 'size', 'opened', 'protocol'].map(
    (name) => `netcode.${name}`,
  );
  const [first, ...rows] = show(
    t,
    [
      up(request),
      ...known.map(({ packet }) => down(packet)),
      ...ignored.map(({ packet }) => up(packet)),
    ],
    fields,
    '-o',
    `netcode.server_key:${key}`,
  );
  assert.deepEqual(first, [
    '0',
    '',
    '',
    '',
    `0x${BigInt(protocol).toString(16).padStart(16, '0')}`,
  ]);
  assert.ok(known.length > 50);
  assert.deepEqual(
    rows.slice(0, known.length),
    known.map(({ type, sequence, body }) => [`${type}`, sequence, `${body.length / 2}`, body, '']),
  );
});

test('reliable, where a port is said to carry it', { skip }, (t) => {
  const { cases, malformed } = vectors('reliable_headers.json');
  const datagram = (data) => ({ from: CLIENT, to: SERVER, data: Buffer.from(data, 'hex') });
  const first = '0100000002'; // the first of three fragments of packet 0
  const header = cases.find(({ sequence }) => sequence === 0).header;
  const rows = show(
    t,
    [
      ...cases.map((each) => `${each.header}abcd`),
      `${first}${header}`,
      ...malformed.map((each) => each.datagram),
    ].map(datagram),
    ['sequence', 'ack', 'ack_bits', 'payload'].map((name) => `reliable.${name}`),
    '-d',
    `udp.port==${SERVER},reliable`,
  );
  assert.deepEqual(
    rows.slice(0, cases.length),
    cases.map(({ sequence, ack, ack_bits: bits }) => [
      `${sequence}`,
      `${ack}`,
      `0x${bits.toString(16).padStart(8, '0')}`,
      'abcd',
    ]),
  );
  assert.deepEqual(rows[cases.length].slice(0, 1), ['0,0'], 'a fragment and the header in it');
});
