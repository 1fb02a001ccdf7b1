// Messages of every kind, for a client in JavaScript and a server in C.
import {
  array,
  bits,
  bool,
  bytes,
  compressedFloat,
  constant,
  enumeration,
  f32,
  f64,
  fixed,
  flags,
  int,
  int128,
  int64,
  message,
  optional,
  schema,
  string,
  struct,
  uint,
  uint128,
  uint64,
  wideString,
} from '../../web/dist/core/index.js';

/** The struct has this name in C too. */
export const point = struct({ known: bool(), x: f64(), name: string(5) });

/** The names of these are constants in C. */
export const team = enumeration('none', 'red', 'blue');
export const abilities = flags('swim', 'fly', 'dig');

const leg = struct({ from: point, stops: array(point, 3), to: optional(point), kind: bits(3) });

export const interop = schema(
  message('everything', {
    flag: bool(),
    small: int(-3, 4),
    wide: int(-(2 ** 31), 2 ** 31 - 1),
    count: uint(0, 2 ** 32 - 1),
    nibble: bits(4),
    low: int64(-(2n ** 63n), 2n ** 63n - 1n),
    high: uint64(0n, 2n ** 64n - 1n),
    single: f32(),
    exact: f64(),
    angle: compressedFloat(-180, 180, 0.1),
    raw: bytes(90),
    name: string(130),
    path: array(int(-100, 100), 40),
    far: array(int64(0n, 1n << 40n), 3),
    names: array(string(6), 3),
    blobs: array(bytes(5), 3),
    maybe: optional(bool()),
    target: optional(bits(12)),
    big: optional(uint64(0n, 1n << 60n)),
    nick: optional(string(7)),
  }),
  message('journey', {
    start: point,
    legs: array(leg, 4),
    back: optional(leg),
    far: struct({ away: array(struct({ by: int64(0n, 1n << 40n) }), 2) }),
  }),
  message('values', {
    begin: constant(0x12345678, 32),
    team,
    teams: array(team, 3),
    abilities: optional(abilities),
    powers: flags(...Array.from({ length: 40 }, (_, i) => `power${i}`)),
    speed: fixed(8, 8, -100, 100),
    far: array(fixed(48, 16, -30000, 30000), 2),
    end: constant(2n ** 63n, 64),
    id: uint128(),
    balance: optional(int128()),
    text: wideString(7),
  }),
  message('ping', {}),
  message('file', { fileName: string(30) }, { block: true }),
);
