// A match of the lab in WebAssembly, in virtual time: what the first article says of lockstep and of prediction. The
// test lab.match says more of it, natively.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { Headers } from '../../../wasm/headers.mjs';

const headers = new Headers();
const { instance } = await WebAssembly.instantiate(readFileSync(process.env.LAB_WASM), {
  causeway: { random: () => assert.fail('the lab needs no random bytes') },
});
const { exports } = instance;
exports._initialize();
const SECOND = 60;
const PLAYERS = [0, 1, 2];
const SLOW = 2;
const SERVER = 3;

const view = () => new DataView(exports.memory.buffer);
const READERS = { u32: 'getUint32', f64: 'getFloat64' };
const WRITERS = { bool: 'setUint8', f64: 'setFloat64' };
const room = exports.allocate(256);

/** Plays a match, and returns it. */
function play(seconds, config) {
  exports.cw_lab_match_config_default(room);
  for (const { name, reader, place } of headers.layout('cw_lab_match_config').fields)
    if (name in config) view()[WRITERS[reader]](room + place, config[name], true);
  assert.equal(exports.cw_lab_match_create(room, room), 0);
  const match = view().getUint32(room, true);
  exports.cw_lab_match_step(match, seconds * SECOND);
  return match;
}

function statsOf(match, player) {
  exports.cw_lab_match_get_stats(match, player, room);
  const read = ({ name, reader, place }) => [name, view()[READERS[reader]](room + place, true)];
  return Object.fromEntries(headers.layout('cw_lab_match_stats').fields.map(read));
}

const hashOf = (match, player, turns) =>
  BigInt.asUintN(64, exports.cw_lab_match_hash(match, player, turns)).toString(16);

/** Plays both designs with the same players on the same network. */
const both = (seconds, config) => [
  play(seconds, { ...config, prediction: 0 }),
  play(seconds, { ...config, prediction: 1 }),
];

test('all players of lockstep, and the server of the other design, have the same state after each turn', () => {
  const [lockstep, other] = both(12, { loss: 0.02 });
  for (let turns = 1; turns <= 11 * SECOND; turns++) {
    const hashes = PLAYERS.map((player) => hashOf(lockstep, player, turns));
    assert.deepEqual(new Set([...hashes, hashOf(other, SERVER, turns)]).size, 1, `turn ${turns}`);
    assert.notEqual(hashes[0], '0');
  }
});

test('in lockstep everybody waits for the slowest, and with prediction nobody does', () => {
  for (const slowRttSeconds of [0.05, 0.2, 0.5, 1]) {
    const [lockstep, other] = both(20, { rttSeconds: 0.05, slowRttSeconds });
    const way = (0.05 + slowRttSeconds) / 2;
    for (const player of PLAYERS) {
      const { ownSeconds } = statsOf(lockstep, player);
      assert.ok(ownSeconds >= way && ownSeconds < way + 1.1 / SECOND, `${ownSeconds} s`);
      assert.equal(statsOf(other, player).ownSeconds, 0);
    }
  }
});

test('when the slow line is cut, lockstep stands still for everybody', () => {
  for (const match of both(3, {})) {
    exports.cw_lab_match_cut(match, 1);
    exports.cw_lab_match_step(match, 2 * SECOND);
    exports.cw_lab_match_cut(match, 0);
    exports.cw_lab_match_step(match, 3 * SECOND);
    const stalls = PLAYERS.map((player) => statsOf(match, player).longestStallSeconds);
    const stands = statsOf(match, 0).ownSeconds > 0;
    for (const stall of stalls) assert.ok(stands ? stall > 1.9 && stall < 2.4 : stall === 0);
    assert.equal(statsOf(match, SLOW).late > 0, !stands);
  }
});

test('the hash is that of every machine', () => {
  const match = play(11, { loss: 0.05 });
  assert.equal(hashOf(match, SLOW, 10 * SECOND), '98bccb72e4cd0598');
});
