// The game that both libraries play: players walk in a box and cannot walk into each other.
export const TICKS_PER_SECOND = 60;
export const PLAYERS = 8;
const SIZE = 20000;
const SPEED = 80;
const REACH = 1500;

const clamp = (value) => Math.max(0, Math.min(SIZE, value));

/** Where the player with this number begins. */
export const begin = (number) => ({ x: 2000 + 2200 * number, y: 2000 + 2200 * number });

/** Plays a tick: changes the player's place by the input, unless another one stands there. */
export function step(player, { right, up }, others) {
  const x = clamp(player.x + SPEED * right);
  const y = clamp(player.y + SPEED * up);
  for (const other of others)
    if (Math.abs(other.x - x) < REACH && Math.abs(other.y - y) < REACH) return;
  player.x = x;
  player.y = y;
}

/** Returns a function that gives a player's keys for one tick after the other: he changes his mind about twice a second. */
export function walker(random) {
  let keys;
  let left = 0;
  return () => {
    if (left-- === 0) {
      left = 10 + Math.floor(random() * 40);
      keys = { right: Math.floor(random() * 3) - 1, up: Math.floor(random() * 3) - 1 };
    }
    return keys;
  };
}
