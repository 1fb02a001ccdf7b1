// Page and server share this: what is sent, what there is, and how a ship flies.
import { compressedFloat, message, schema, uint, type MessageValue } from 'causeway-net';
import { gameMessage } from 'causeway-net/game';

/** The field is a square of this size. */
export const SIZE = 1000;
export const MAX_PLAYERS = 64;

export const messages = schema(gameMessage);

const place = { x: compressedFloat(0, SIZE, 0.01), y: compressedFloat(0, SIZE, 0.01) };
const speed = compressedFloat(-20, 20, 0.01);
const part = compressedFloat(-1, 1, 0.01);
const entities = schema(
  message('ship', { ...place, right: speed, down: speed, score: uint(0, 65535) }),
  message('star', place),
  message('stick', { right: part, down: part }),
);
export type Ship = MessageValue<typeof entities, 'ship'>;
export type Stick = MessageValue<typeof entities, 'stick'>;

/** Keeps a ship within the field. */
const inside = (at: number): number => Math.max(25, Math.min(SIZE - 25, at));

/** Plays one of 60 ticks in a second: the page at once, the server when the stick's position has arrived. */
function step(ship: Ship, stick: Stick): Ship {
  const right = ship.right * 0.95 + stick.right * 0.4;
  const down = ship.down * 0.95 + stick.down * 0.4;
  return { ...ship, right, down, x: inside(ship.x + right), y: inside(ship.y + down) };
}

/** A ship glides between places that are less than 100 apart; a star jumps. */
const smooth = { ship: { x: 100, y: 100 } };
export const rules = { entities, player: 'ship', input: 'stick', step, smooth } as const;
