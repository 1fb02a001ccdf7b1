// Random numbers that are the same for the same seed.

/** The seed of the tests that make things up: always the same one, unless CAUSEWAY_SEED is another. */
export const SEED = Number(process.env.CAUSEWAY_SEED ?? 1);

/** Returns a source of numbers from 0 to 1 (mulberry32). */
export const randomFrom = (seed) => {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), state | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  };
};

/** Returns choices from such a source. */
export function choicesFrom(seed) {
  const random = randomFrom(seed);
  const below = (count) => Math.floor(random() * count);
  const pick = (values) => values[below(values.length)];
  return {
    below,
    pick,
    chance: (share) => random() < share,
    bytes: (size) => Buffer.from(Array.from({ length: size }, () => below(256))),
    /** Picks mostly the first of them. */
    mostly: (...values) => (random() < 0.75 ? values[0] : pick(values)),
  };
}

/** Returns a function that loses a share of the datagrams. */
export const atRandom = (loss, seed = 1) => {
  const random = randomFrom(seed);
  return () => random() < loss;
};
