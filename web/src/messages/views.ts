import { array, bits, int, int64, struct, uint, uint64, type Field, type View } from './fields.js';
import { SLOT, viewSlot } from './slots.js';

/** Returns a field of this kind whose value has another form. */
const viewed = <Value>(kind: Field<unknown>, view: View): Field<Value> => ({
  ...(kind as Field<never>),
  view,
  [SLOT]: (path) => viewSlot(kind[SLOT](path), view, path),
});

const checkNames = (what: string, names: readonly string[], most: number): void => {
  const strings = names.every((name) => typeof name === 'string' && name !== '');
  if (!(strings && names.length >= 1 && names.length <= most))
    throw new TypeError(`${what} need 1 to ${most} names`);
  if (new Set(names).size < names.length) throw new RangeError(`${what} have a name twice`);
};

/**
 * Declares one of these names, which is a number from 0 in their order on the wire and in expressions. A number without
 * a name is refused.
 */
export const enumeration = <const Names extends readonly string[]>(
  ...names: Names
): Field<Names[number]> => {
  checkNames('enumerations', names, 2 ** 16);
  const numbers = new Map<unknown, number>(names.map((name, number) => [name, number]));
  return viewed(uint(0, names.length - 1), {
    type: 'string',
    wanted: `one of ${names.join(', ')}`,
    toCore: (value) => numbers.get(value),
    fromCore: (value: number) => names[value],
    macro: `CW_ENUMERATION(${names.length})`,
    names,
  });
};

/** Declares a bit for each of these names, the first one in the lowest: `{ swim: true, fly: false }`. */
export const flags = <const Names extends readonly string[]>(
  ...names: Names
): Field<Record<Names[number], boolean>> => {
  checkNames('flags', names, 64);
  const { length } = names;
  const wide = length > 32;
  return viewed(wide ? uint64(0n, 2n ** BigInt(length) - 1n) : bits(length), {
    type: 'object',
    wanted: `an object with true or false for each of ${names.join(', ')}`,
    toCore: (value) => {
      const given = Object(value) as Record<string, unknown>;
      if (value !== given || names.some((name) => typeof given[name] !== 'boolean'))
        return undefined;
      const digits = names.map((name) => Number(given[name])).reverse();
      const number = BigInt(`0b${digits.join('')}`);
      return wide ? number : Number(number);
    },
    fromCore: (value: number | bigint) =>
      Object.fromEntries(names.map((name, i) => [name, (BigInt(value) >> BigInt(i)) % 2n === 1n])),
    macro: `CW_FLAGS${wide ? '_64' : ''}(${length})`,
    names,
  });
};

/**
 * Declares a number from `min` to `max`, both whole, in steps of 2^-`fractionBits`. Others are rounded, half away from
 * zero. It is kept in `integerBits`, which include the sign, and `fractionBits`, together 8, 16, 32 or 64.
 */
export const fixed = (
  integerBits: number,
  fractionBits: number,
  min: number,
  max: number,
): Field<number> => {
  const width = integerBits + fractionBits;
  const scale = 2 ** fractionBits;
  const [least, most] = [min * scale, max * scale];
  const limit = 2 ** (integerBits - 1);
  if (![8, 16, 32, 64].includes(width) || !(integerBits >= 1 && scale >= 1))
    throw new RangeError(`fixed: ${integerBits} and ${fractionBits} bits are not 8, 16, 32 or 64`);
  if (![min, max].every(Number.isInteger) || min > max || min < -limit || max >= limit)
    throw new RangeError(
      `fixed: ${min} to ${max} is no range of whole numbers in ${integerBits} bits`,
    );
  if (![least, most].every(Number.isSafeInteger))
    throw new RangeError(`fixed: ${min} to ${max} has more steps than a number tells apart`);
  const wide = width > 32;
  return viewed(wide ? int64(BigInt(least), BigInt(most)) : int(least, most), {
    type: 'number',
    wanted: `a number from ${min} to ${max}`,
    toCore: (value) => {
      if (typeof value !== 'number') return undefined;
      const raw = Math.sign(value) * Math.round(Math.abs(value) * scale);
      if (!(raw >= least && raw <= most)) return undefined;
      return wide ? BigInt(raw) : raw;
    },
    fromCore: (value: number | bigint) => Number(value) / scale,
    macro: `CW_FIXED${wide ? '_64' : ''}(${integerBits}, ${fractionBits}, ${min}, ${max})`,
  });
};

/** Returns the text of numbers that are UTF-16 units or whole characters. A number that is neither becomes U+FFFD. */
const textOf = (numbers: readonly number[]): string =>
  numbers
    .map((number) => String.fromCodePoint(number === 0 || number > 0x10ffff ? 0xfffd : number))
    .join('')
    .replace(/\p{Surrogate}/gu, '\ufffd');

/**
 * Declares a text of up to `max` units of UTF-16, each in 32 bits, without the character U+0000. It is an array in C and
 * here, so that it can be neither optional nor in an array.
 */
export const wideString = (max: number): Field<string> =>
  viewed(array(bits(32), max), {
    type: 'string',
    wanted: `a text of up to ${max} UTF-16 units`,
    toCore: (value) => {
      if (typeof value !== 'string' || value.length > max || /\0|\p{Surrogate}/u.test(value))
        return undefined;
      return Array.from({ length: value.length }, (_, i) => value.charCodeAt(i));
    },
    fromCore: textOf,
    whole: true,
    macro: `CW_WIDE_STRING(${max})`,
  });

const HALF = 64n;
const low = uint64(0n, 2n ** HALF - 1n);

/** Declares a whole number of 128 bits, whose upper half is such a field. */
const wideNumber = (name: string, high: Field<bigint>, macro: string): Field<bigint> => {
  const [min, max] = [high.min << HALF, ((high.max + 1n) << HALF) - 1n];
  return viewed(struct({ low, high }), {
    type: 'bigint',
    wanted: `a bigint of ${name}`,
    toCore: (value) =>
      typeof value === 'bigint' && value >= min && value <= max
        ? { low: BigInt.asUintN(64, value), high: value >> HALF }
        : undefined,
    fromCore: (value: { low: bigint; high: bigint }) => (value.high << HALF) + value.low,
    macro,
  });
};

/** Declares a whole number of 128 bits. */
export const uint128 = (): Field<bigint> => wideNumber('128 bits', low, 'CW_UINT_128');

/** Declares a whole number of 128 bits with a sign, which is on the wire as its distance from the least one. */
export const int128 = (): Field<bigint> =>
  wideNumber('128 bits with a sign', int64(-(2n ** 63n), 2n ** 63n - 1n), 'CW_INT_128');
