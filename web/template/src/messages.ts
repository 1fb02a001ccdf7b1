// The messages that the page and the server send each other.
import { array, bits, message, schema, struct, uint } from 'causeway-net';

/** The field is a square of this size. */
export const SIZE = 1000;
export const MAX_PLAYERS = 64;

const place = { x: uint(0, SIZE), y: uint(0, SIZE) };

export const messages = schema(
  message('move', place),
  message('world', { players: array(struct({ slot: bits(6), ...place }), MAX_PLAYERS) }),
);
