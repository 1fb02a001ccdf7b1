// The preset for servers made with yojimbo: its defaults, value by value, and the same as in C.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
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

test('the preset is what yojimbo has by default', () => {
  const spelledOut = reliable({
    maxMessagesPerPacket: 256,
    receiveQueueSize: 1024,
    sendQueueSize: 1024,
    blocks: true,
    maxBlockSize: 256 * 1024,
    blockFragmentSize: 1024,
  });
  const preset = yojimboDefaults();
  assert.equal(
    fingerprint(core, note, preset),
    fingerprint(core, note, [spelledOut, spelledOut], { maxPacketSize: 8192, fragmentSize: 1024 }),
  );
  for (const { sendQueueSize, receiveQueueSize } of preset)
    assert.deepEqual([sendQueueSize, receiveQueueSize], [1024, 1024]);
});

// core.connection_yojimbo has the same number for cw_connection_config_yojimbo.
test('the preset is the same as in C', () => {
  assert.equal(fingerprint(core, note, yojimboDefaults()), 0x8a5e74094d342b78n);
});
