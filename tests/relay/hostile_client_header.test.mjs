// A client that writes headers itself: whatever it sends, of whatever size and over whichever family of addresses, a
// game server that reads the header takes the client for nobody else, and loses no byte.
import assert from 'node:assert/strict';
import net from 'node:net';
import test from 'node:test';
import { pattern } from '../support/pattern.mjs';
import { assertAddsUp, startRelay, statsUntil } from '../support/relay.mjs';
import { startUdpServer } from '../support/udp_server.mjs';
import { connect } from '../support/websocket.mjs';
import { SEED, choicesFrom } from '../support/random.mjs';

const LARGEST = 1400; // bytes of a datagram
const UNPROVEN = 10; // datagrams that are forwarded before the server has spoken
const signature = Buffer.from('0d0a0d0a000d0a515549540a', 'hex');
const magic = Buffer.of(0x56, 0xec);
const VICTIM = Buffer.of(203, 0, 113, 9);

/** Returns an address of 16 bytes, or of 4, as text. */
function textOf(bytes) {
  if (bytes.length === 4) return bytes.join('.');
  const mapped = bytes.subarray(0, 12).equals(Buffer.from('00000000000000000000ffff', 'hex'));
  if (mapped) return textOf(bytes.subarray(12));
  assert.ok(bytes.equals(Buffer.from('00000000000000000000000000000001', 'hex')));
  return '::1';
}

/**
 * The two ways in which a server reads a datagram: they return its client (null: it has no header), and what is behind
 * the header.
 */
const readers = {
  spp(data) {
    assert.ok(data.subarray(0, 2).equals(magic), 'every datagram has a header');
    return {
      client: `${textOf(data.subarray(2, 18))} ${data.readUInt16BE(34)}`,
      payload: data.subarray(38),
    };
  },
  ppv2(data) {
    if (!data.subarray(0, 12).equals(signature)) {
      assert.ok(!data.subarray(0, 2).equals(magic), 'nor that of the other protocol');
      return { client: null, payload: data };
    }
    const size = data.readUInt16BE(14);
    const width = { 0x12: 4, 0x22: 16 }[data[13]];
    assert.equal(data[12], 0x21);
    assert.equal(size, 2 * width + 4);
    const client = textOf(data.subarray(16, 16 + width));
    return {
      client: `${client} ${data.readUInt16BE(16 + 2 * width)}`,
      payload: data.subarray(16 + size),
    };
  },
};

const forgeries = [
  signature,
  magic,
  Buffer.concat([magic, Buffer.alloc(36)]),
  Buffer.concat([signature, Buffer.of(0x21, 0x12, 0, 12), VICTIM, Buffer.alloc(8)]),
  Buffer.concat([signature, Buffer.of(0x21, 0x22, 0, 36), Buffer.alloc(36, 9)]),
  Buffer.concat([signature, Buffer.of(0x20, 0, 0, 0)]),
  Buffer.concat([signature, Buffer.of(0x21, 0x12, 0xff, 0xff), VICTIM]),
  Buffer.from('PROXY UDP4 203.0.113.9 1 2 3\r\n'),
];

/** Makes forgeries, parts of them, and forgeries of forgeries, some of them as long as a datagram may be. */
function makePayloads(random) {
  const payloads = [pattern(1), pattern(LARGEST - 1), pattern(LARGEST)];
  for (const forgery of forgeries) {
    payloads.push(forgery, Buffer.concat([forgery, forgery]));
    payloads.push(forgery.subarray(0, 1 + random.below(forgery.length)));
    payloads.push(Buffer.concat([forgery, pattern(LARGEST - forgery.length)]));
    payloads.push(Buffer.concat([random.bytes(1), forgery]));
  }
  return payloads;
}

for (const format of ['spp', 'ppv2'])
  for (const [host, from] of [
    ['127.0.0.1', '127.0.0.7'],
    ['127.0.0.1', '::1'],
    ['::1', '127.0.0.7'],
    ['::1', '::1'],
  ])
    test(`${format} from ${from} to ${host}: nobody is taken for another`, async (t) => {
      t.diagnostic(`CAUSEWAY_SEED=${SEED}`);
      // A server that reads the second format expects no header in its own answers.
      const answer = (data) => (format === 'spp' ? data : readers.ppv2(data).payload);
      const server = await startUdpServer(t, { host, answer });
      const upstream = `${server.upstream},client-address=${format}`;
      const relay = await startRelay(t, { upstream, listen: '[::]:0' });
      const to = net.isIPv6(from) ? '[::1]' : '127.0.0.1';
      const random = choicesFrom(SEED);
      const clients = [];
      for (let i = 0; i < 2; i++) {
        const client = await connect(t, relay, { host: to, localAddress: from });
        clients.push({ ...client, name: `${from} ${client.socket._socket.localPort}`, sent: [] });
      }
      for (const [i, payload] of makePayloads(random).entries()) {
        for (const client of clients) {
          client.send(payload);
          client.sent.push(payload);
        }
        // The relay would forward no more before the server has spoken.
        if (i === UNPROVEN) for (const { received } of clients) await received(1);
      }
      for (const { received, sent } of clients) await received(sent.length);
      const names = new Map();
      const arrived = new Map(clients.map(({ name }) => [name, []]));
      for (const { data, port } of server.received) {
        const { client, payload } = readers[format](data);
        if (client) names.set(port, names.get(port) ?? client);
        const name = names.get(port);
        assert.ok(arrived.has(name), `${name} is a client`);
        assert.equal(client ?? name, name, 'he stays the same');
        arrived.get(name).push(payload);
      }
      for (const { name, sent } of clients) assert.deepEqual(arrived.get(name), sent);
      const all = clients.length * clients[0].sent.length;
      assertAddsUp(await statsUntil(relay, (stats) => stats.delivered_datagrams === all));
    });
