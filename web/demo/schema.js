// The messages between the demo's page and server. The build makes messages.h and entities.h from this file, for the
// server; the fingerprint in the tokens shows when page and server differ.
import { bool, int, message, schema, string, struct, uint } from 'causeway-net';
import { gameMessage } from 'causeway-net/game';

export const PROTOCOL_ID = 0xca05e3a7de400001n;
export const TICKS_PER_SECOND = 60;
/** Units of length in a metre. Players are measured finer than bodies, because their pages predict them. */
export const METRE = 1024;
export const BODY_METRE = 64;
export const WIDTH = 32;
export const HEIGHT = 18;
export const MAX_PLAYERS = 32;
export const BODIES = 200;
export const SPEED_LIMIT = 1023;
export const ROUND_SECONDS = 90;
/** The bytes of a name. */
export const NAME_BYTES = 16;
/** The number of the round among the entities, after the players and the bodies. */
export const ROUND = MAX_PLAYERS + BODIES;

const place = (metre) => struct({ x: uint(0, WIDTH * metre), y: uint(0, HEIGHT * metre) });
const pair = (most) => struct({ x: int(-most, most), y: int(-most, most) });
const claim = { at: place(METRE), speed: pair(SPEED_LIMIT) };

export const messages = schema(
  gameMessage,
  // A client that cheats says where it is and how fast. The server answers where the player really is.
  message('claim', claim, { reliable: true }),
  message('answer', claim, { reliable: true }),
  // A player says how the others shall call it.
  message('call', { name: string(NAME_BYTES) }, { reliable: true }),
  message('shot', {
    player: uint(0, MAX_PLAYERS - 1),
    from: place(BODY_METRE),
    to: place(BODY_METRE),
  }),
);

/** The entities of the world, and a player's command for one tick. */
export const entities = schema(
  message('player', {
    at: place(METRE),
    speed: pair(SPEED_LIMIT),
    aim: pair(127),
    stun: uint(0, 63),
    reload: uint(0, 31),
    bot: bool(),
    name: string(NAME_BYTES),
  }),
  message('body', { at: place(BODY_METRE), owner: uint(0, MAX_PLAYERS) }),
  // A round ends at a tick. The winner of the one before is 1 + the player's number, 0 for nobody.
  message('round', {
    ends: uint(0, 0xffffffff),
    winner: uint(0, MAX_PLAYERS),
    bodies: uint(0, BODIES),
  }),
  // The server judges a shot by what the player saw, if he wants that.
  message('command', { move: pair(127), aim: pair(127), fire: bool(), compensate: bool() }),
);
