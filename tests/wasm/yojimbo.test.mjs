// The preset for servers made with yojimbo has yojimbo's defaults, which come from C.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  Connection,
  fingerprint,
  loadCore,
  message,
  reliable,
  schema,
  uint,
  yojimboDefaults,
} from '../support/causeway.mjs';

const core = await loadCore();
const note = schema(message('note', { number: uint(0, 1000) }));

test('the preset is what yojimbo has by default, where that is not what ours have', () => {
  const channel = {
    kind: 'reliable',
    blocks: true,
    maxMessageSize: 0,
    receiveQueueSize: 1024,
    sendQueueSize: 1024,
  };
  assert.deepEqual(yojimboDefaults(), {
    channels: [channel, channel],
    endpoint: { fragmentAbove: 1024, maxReassemblies: 64 },
    maxMessages: 2048,
  });
});

test('both ends agree that have it, spelled out or not', () => {
  const spelledOut = reliable({
    maxMessagesPerPacket: 256,
    receiveQueueSize: 1024,
    sendQueueSize: 1024,
    blocks: true,
    maxBlockSize: 256 * 1024,
    blockFragmentSize: 1024,
  });
  const { channels, endpoint } = yojimboDefaults();
  assert.equal(
    fingerprint(core, note, channels, endpoint),
    fingerprint(core, note, [spelledOut, spelledOut], { maxPacketSize: 8192, fragmentSize: 1024 }),
  );
});

// The C test core.connection_yojimbo has the same number for cw_connection_config_yojimbo.
test('the preset is the same as in C', () => {
  const { channels, endpoint } = yojimboDefaults();
  assert.equal(fingerprint(core, note, channels, endpoint), 0x8a5e74094d342b78n);
});

test('a connection that has it holds what the preset says', () => {
  const connection = new Connection(core, note, yojimboDefaults());
  assert.equal(connection.channelStats(1).capacity, 1024);
  assert.equal(connection.maxDatagramSize, 1024 + 5 + 9);
  const rest = Array.from({ length: 2048 }, (_, number) => [number % 2, 'note', { number: 1 }]);
  rest.forEach((each) => connection.send(...each, 0));
  assert.throws(() => connection.send(0, 'note', { number: 1 }, 0), { name: 'ConnectionError' });
});
