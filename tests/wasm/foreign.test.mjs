// Ends that were not made by us, or are configured otherwise: packets whole and in fragments, up to the longest that
// the config allows, and the effects of the endpoint's options on a connection.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  Connection,
  ConnectionHost,
  bytes,
  connect,
  fingerprint,
  generateConnectToken,
  generateKey,
  loadCore,
  message,
  reliable,
  schema,
  uint,
  unreliable,
} from '../support/causeway.mjs';

const core = await loadCore();
const types = schema(message('load', { n: uint(0, 65535), raw: bytes(1000) }));
const TICK = 1 / 60;
const FRAGMENT = 1024;

const headerSize = ([prefix]) =>
  3 + (prefix & 0x20 ? 1 : 2) + [2, 4, 8, 16].filter((bit) => prefix & bit).length;

/** Cuts a packet with more than 1,024 bytes of payload into fragments as a foreign end does. */
const fragments = (datagram) => {
  const header = headerSize(datagram);
  const payload = datagram.subarray(header);
  if (payload.length <= FRAGMENT) return [datagram];
  const count = Math.ceil(payload.length / FRAGMENT);
  return Array.from({ length: count }, (_, id) => {
    const piece = payload.subarray(id * FRAGMENT, (id + 1) * FRAGMENT);
    const head = [1, datagram[1], datagram[2], id, count - 1];
    return Uint8Array.from([...head, ...(id === 0 ? datagram.subarray(0, header) : []), ...piece]);
  });
};

const raw = (n) => new Uint8Array(600 + ((n * 7) % 400)).fill(n);

/** Sends messages both ways between a foreign end, which sends up to 8,192 bytes in a packet, and ours. */
const talk = (ours, theirs, cut) => {
  const near = new Connection(core, types, ours);
  const far = new Connection(core, types, theirs);
  const sent = [0, 0];
  const came = [0, 0];
  const longest = [0, 0];
  for (let tick = 0; came.some((count) => count < 100); tick++) {
    assert.ok(tick < 1000, `${came} messages`);
    [far, near].forEach((end, side) => {
      for (let i = 0; i < [10, 1][side] && sent[side] < 100; i++) {
        end.send(0, 'load', { n: sent[side], raw: raw(sent[side]) }, tick * TICK);
        sent[side]++;
      }
      end.update(tick * TICK);
      for (let out = end.transmit(tick * TICK); out; out = end.transmit(tick * TICK)) {
        longest[side] = Math.max(longest[side], out.length);
        for (const each of side === 0 ? cut(out) : [out])
          assert.equal([near, far][side].receive(each, tick * TICK), true);
      }
      const other = [near, far][side];
      for (let event = other.next(); event; event = other.next()) {
        assert.deepEqual(event.message.value, { n: came[side], raw: raw(came[side]) });
        came[side]++;
      }
    });
  }
  assert.ok(longest[0] > 4096, `the foreign end sent ${longest[0]} bytes at most`);
  assert.equal(near.stats().packetsMalformed + near.stats().packetsInvalid, 0);
  return { longest: longest[1], near };
};

const foreign = { endpoint: { fragmentAbove: 8192 } };

test('packets in fragments are taken by default, and none is sent', () => {
  const { longest, near } = talk({}, foreign, fragments);
  assert.ok(near.stats().fragmentsReceived > 50);
  assert.equal(near.stats().fragmentsSent, 0);
  assert.ok(longest <= near.maxDatagramSize && near.maxDatagramSize + 25 <= 1100);
});

test('long packets that come whole are taken whole', () => {
  talk({}, foreign, (datagram) => [datagram]);
});

test('the options of the endpoint are those of the connection', () => {
  const { longest, near } = talk({ endpoint: { fragmentAbove: 1040 } }, foreign, fragments);
  assert.equal(near.maxDatagramSize, 1049);
  assert.ok(longest <= 1049);
  assert.equal(
    new Connection(core, types, { endpoint: { maxSendSize: 500 } }).maxDatagramSize,
    509,
  );
  const narrow = new Connection(core, types, { endpoint: { maxPacketSize: 2048 } });
  const far = new Connection(core, types, foreign);
  for (let n = 0; n < 10; n++) far.send(0, 'load', { n, raw: raw(n) }, 0);
  far.update(0);
  assert.equal(narrow.receive(far.transmit(0), 0), false);
  assert.equal(narrow.stats().packetsMalformed, 1);
});

test('options that cannot work are refused, and the error says which', () => {
  const refuses = (config, field) =>
    assert.throws(() => new Connection(core, types, config), {
      name: 'MisuseError',
      code: 'CONFIG',
      field,
    });
  refuses({ endpoint: { maxPacketSize: 0 } }, 'maxPacketSize');
  refuses({ endpoint: { maxSendSize: 8193 } }, 'maxSendSize');
  for (const maxSendSize of [0, -1, 2 ** 32 - 1])
    refuses({ endpoint: { maxSendSize } }, 'maxSendSize');
  refuses({ endpoint: { fragmentSize: 0.5 } }, 'fragmentSize');
  refuses({ endpoint: { fragmentAbove: 0 } }, 'fragmentAbove');
  refuses({ endpoint: { maxReassemblies: 65 } }, 'maxReassemblies');
  refuses({ endpoint: { sentWindow: 100 } }, 'sentWindow');
  refuses({ endpoint: { minLossTimeoutSeconds: -1 } }, 'minLossTimeoutSeconds');
  for (const idleIntervalSeconds of [-1, 11])
    refuses({ idleIntervalSeconds }, 'idleIntervalSeconds');
  for (const maxReceivedMessages of [0, -1, 32769, 2 ** 32 - 1])
    refuses({ maxReceivedMessages }, 'maxReceivedMessages');
  refuses({ congestion: { mode: 'FAST' } }, 'mode');
  refuses({ congestion: { targetSeconds: 0 } }, 'targetSeconds');
  refuses({ congestion: { goodPacketsPerSecond: 5 } }, 'goodPacketsPerSecond');
  for (const packetBudget of [0, -1, 2 ** 32 - 1])
    refuses({ channels: [reliable({ packetBudget })] }, 'packetBudget');
  for (const extraBytes of [0, -1, 401])
    refuses({ channels: [reliable({ extraBytes })] }, 'extraBytes');
  refuses({ channels: [reliable({ recovery: 'MAGIC' })] }, 'recovery');
});

test('what both ends must agree on is in the fingerprint, and in a token', async () => {
  const own = fingerprint(core, types);
  const channels = [reliable(), unreliable()];
  assert.equal(fingerprint(core, types, channels, {}), own);
  assert.equal(fingerprint(core, types, undefined, { maxPacketSize: 8192 }), own);
  assert.equal(fingerprint(core, types, channels, { fragmentAbove: 500, sentWindow: 512 }), own);
  assert.notEqual(fingerprint(core, types, channels, { maxPacketSize: 4096 }), own);
  assert.notEqual(fingerprint(core, types, channels, { fragmentSize: 1000 }), own);

  const token = await generateConnectToken({
    protocolId: 7,
    privateKey: generateKey(),
    clientId: 1,
    servers: ['127.0.0.1:1'],
    schema: types,
    endpoint: { maxPacketSize: 4096 },
  });
  const attempt = (options) =>
    connect('http://127.0.0.1:1/', { token, schema: types, transports: ['websocket'], ...options });
  await assert.rejects(attempt({}), { code: 'SCHEMA' });
  // With the server's own options the client comes as far as the relay, which is not there.
  await assert.rejects(attempt({ endpoint: { maxPacketSize: 4096 } }), { name: 'ConnectError' });
});

test('a transport that does not take what would be sent is refused', () => {
  const transport = { maxDatagramSize: 1073, closed: new Promise(() => {}) };
  assert.throws(
    () => new ConnectionHost(core, types, transport, { endpoint: { fragmentAbove: 1065 } }),
    /^RangeError: maxDatagramSize: the transport takes 1073 bytes of the 1074 that are needed/,
  );
});
