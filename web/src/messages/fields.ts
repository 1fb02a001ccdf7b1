import { STRUCT_MAX_DEPTH } from '../generated.js';
import { OPERATIONS, operations } from './expression.js';
import {
  SLOT,
  arraySlot,
  boolSlot,
  bytesSlot,
  compressedFloatSlot,
  doubleSlot,
  floatSlot,
  int64Slot,
  noSlot,
  optionalSlot,
  stringSlot,
  structSlot,
  uint64Slot,
  wholeSlot,
  type SlotMaker,
} from './slots.js';

/** The numbers of `enum cw_kind`. */
export const kinds = {
  bool: 0,
  int: 1,
  uint: 2,
  int64: 3,
  uint64: 4,
  float: 5,
  double: 6,
  compressedFloat: 7,
  bytes: 8,
  string: 9,
  struct: 10,
  align: 11,
  relative: 12,
  constant: 13,
} as const;

/** The kinds of values that a field can hold. */
export type Kind = keyof typeof kinds;

declare const value: unique symbol;

/** A field declares a member that holds a `Value`. Make one with {@link int}, {@link string} and so on. */
export interface Field<Value> {
  /** This member exists only for the compiler. */
  readonly [value]?: Value;
  readonly kind: Kind;
  readonly optional: boolean;
  /** The most items of an array; 0 for a field that is not an array. */
  readonly array: number;
  /**
   * The limits of integers. For a constant, `min` is its value and `max` has all its bits set; for bytes and strings,
   * `max` is the longest; for a relative number that wraps it is 65535.
   */
  readonly min: bigint;
  readonly max: bigint;
  /** The limits and the step of a compressed float. */
  readonly low: number;
  readonly high: number;
  readonly resolution: number;
  /** The fields of a struct. */
  readonly fields?: Fields;
  /** The expression that tells whether the value is there or how many items there are, after `>=` how many at least. */
  readonly count?: string;
  /** The expression of the number before, or of the number of bytes. */
  readonly operand?: string;
  /** Turns the expressions into operations, if there are any. @internal */
  readonly [OPERATIONS]?: typeof operations;
  /** Makes the slot in which a message has the value. @internal */
  readonly [SLOT]: SlotMaker;
  /** The form of the value here, when it is not that of the kind. */
  readonly view?: View;
}

/** Another form of a value than the core's. */
export interface View {
  /** The type of the value, as `typeof` gives it, and a text for it in errors. */
  readonly type: 'string' | 'number' | 'bigint' | 'object';
  readonly wanted: string;
  /** Returns the value of the kind, or undefined when there is none for this one. */
  toCore(value: unknown): unknown;
  fromCore(value: never): unknown;
  /** The field in a C header. */
  readonly macro: string;
  /** True when it is the form of an array, not of its items. */
  readonly whole?: true;
  /** The names of an enumeration or of flags, in order. */
  readonly names?: readonly string[];
}

/** Names and declarations of the fields of a message or a struct. */
export type Fields = Readonly<Record<string, Field<unknown>>>;

/** A field that may be left out. */
export interface OptionalField<Value> extends Field<Value> {
  readonly optional: true;
}

/** A field that has a place on the wire and no value. */
export interface WireField extends Field<never> {
  readonly kind: 'align' | 'constant';
}

/** The type of an object with such fields. Editors show it as the object, without the names of the types behind it. */
export type Values<Of extends Fields> = keyof Of extends never
  ? Record<string, never>
  : {
        -readonly [
          Name in keyof Of as Of[Name] extends OptionalField<unknown> | WireField ? never : Name
        ]: Held<Of[Name]>;
      } & {
        -readonly [Name in keyof Of as Of[Name] extends OptionalField<unknown> ? Name : never]?:
          Held<Of[Name]> | undefined;
      } extends infer Both
    ? { [Name in keyof Both]: Both[Name] }
    : never;

type Held<Of> = Of extends Field<infer Value> ? Value : never;

const field = <Value>(
  kind: Kind,
  slot: SlotMaker,
  rest: Partial<Field<Value>> = {},
): Field<Value> => ({
  kind,
  [SLOT]: slot,
  optional: false,
  array: 0,
  min: 0n,
  max: 0n,
  low: 0,
  high: 0,
  resolution: 0,
  ...rest,
});

const limited = <Value>(
  kind: Kind,
  slot: (limits: Pick<Field<Value>, 'min' | 'max'>, kind: Kind) => SlotMaker,
  min: number | bigint,
  max: number | bigint,
  least: bigint,
  most: bigint,
): Field<Value> => {
  const whole = [min, max].every((limit) => typeof limit === 'bigint' || Number.isInteger(limit));
  if (!(whole && BigInt(min) >= least && BigInt(max) <= most && min <= max))
    throw new RangeError(
      `${kind}: ${min} to ${max} is no range of whole numbers within ${least} to ${most}`,
    );
  const limits = { min: BigInt(min), max: BigInt(max) };
  return field(kind, slot(limits, kind), limits);
};

const I32 = 2n ** 31n;
const U32 = 2n ** 32n;
const I64 = 2n ** 63n;
const U64 = 2n ** 64n;

/** Declares a field of `true` or `false`, in one bit. */
export const bool = (): Field<boolean> => field('bool', boolSlot);

/** Declares a whole number from `min` to `max`, which lie within 32 bits with a sign, in as few bits as hold it. */
export const int = (min: number, max: number): Field<number> =>
  limited('int', wholeSlot, min, max, -I32, I32 - 1n);

/** Declares a whole number from `min` to `max`, which lie from 0 to 2^32 - 1. */
export const uint = (min: number, max: number): Field<number> =>
  limited('uint', wholeSlot, min, max, 0n, U32 - 1n);

/** Declares a whole number of 1 to 32 bits. */
export const bits = (count: number): Field<number> => uint(0, 2 ** count - 1);

/** Declares a whole number from `min` to `max`, which lie within 64 bits with a sign. */
export const int64 = (min: bigint, max: bigint): Field<bigint> =>
  limited('int64', int64Slot, min, max, -I64, I64 - 1n);

/** Declares a whole number from `min` to `max`, which lie from 0 to 2^64 - 1. */
export const uint64 = (min: bigint, max: bigint): Field<bigint> =>
  limited('uint64', uint64Slot, min, max, 0n, U64 - 1n);

/** Declares a number in 32 bits of floating point. */
export const f32 = (): Field<number> => field('float', floatSlot);

/** Declares a number in 64 bits of floating point. */
export const f64 = (): Field<number> => field('double', doubleSlot);

/** Declares a number from `min` to `max` in steps of `resolution`. A number outside arrives as the limit. */
export const compressedFloat = (min: number, max: number, resolution: number): Field<number> => {
  if (!(min < max && resolution > 0))
    throw new RangeError('a compressed float needs min < max and a resolution above 0');
  return field('compressedFloat', compressedFloatSlot, { low: min, high: max, resolution });
};

/** Declares a field of up to `max` bytes. */
export const bytes = (max: number): Field<Uint8Array> =>
  limited('bytes', bytesSlot, 0, max, 0n, U32 - 1n);

/** Declares a text of up to `max` bytes in UTF-8, without the character U+0000. */
export const string = (max: number): Field<string> =>
  limited('string', stringSlot, 0, max, 0n, U32 - 1n);

/** Returns a least number of items or bytes. */
const counted = (min: number, max: number): number => {
  if (!(Number.isInteger(min) && min >= 0 && min <= max))
    throw new RangeError(`there cannot be ${min} to ${max} of something`);
  return min;
};

/** Declares a field of at least `min` and at most `max` bytes. */
export const bytesFrom = (min: number, max: number): Field<Uint8Array> =>
  bytesOf(`>= ${counted(min, max)}`, max);

/**
 * Declares as many bytes as an expression says, at most `max`; their number is not on the wire. An expression is made of
 * names of earlier fields, whole numbers and the operators of C: `'count * 2 + 1'`.
 */
export const bytesOf = (size: string | number, max: number): Field<Uint8Array> => ({
  ...bytes(max),
  operand: `${size}`,
  [OPERATIONS]: operations,
});

/** Declares a field of exactly so many bytes. */
export const fixedBytes = (size: number): Field<Uint8Array> => bytesOf(size, size);

/** Declares a field without a value that is zeros up to the next byte on the wire. */
export const align = (): WireField => field<never>('align', noSlot) as WireField;

/**
 * Declares a number of 1 to 64 bits that is always the same on the wire and has no value. A message with another one is
 * refused.
 */
export const constant = (number: number | bigint, bits: number): WireField => {
  if (!(bits >= 1)) throw new RangeError(`a constant has 1 to 64 bits, not ${bits}`);
  return limited<never>(
    'constant',
    () => noSlot,
    number,
    2n ** BigInt(bits) - 1n,
    0n,
    U64 - 1n,
  ) as WireField;
};

const relativeTo = (previous: string | number, max: bigint): Field<number> => {
  const slot = wholeSlot({ min: 0n, max }, 'relative');
  return field('relative', slot, { max, operand: `${previous}`, [OPERATIONS]: operations });
};

/**
 * Declares a whole number greater than the value of an expression, of at most 32 bits. In an array each is relative to
 * the one before it, and the first to the expression.
 */
export const relative = (previous: string | number): Field<number> =>
  relativeTo(previous, U32 - 1n);

/** Declares a sequence number of 16 bits, which wraps, other than the value of an expression. */
export const sequenceRelative = (previous: string | number): Field<number> =>
  relativeTo(previous, 65535n);

/**
 * Throws when these are not fields. The compiler alone cannot find that out, because schemas are written in JavaScript
 * too.
 */
export const checkFields = (owner: string, fields: Fields): void => {
  if (typeof fields !== 'object' || fields === null)
    throw new TypeError(`${owner}: the fields are missing; {} where there are none`);
  for (const [name, field] of Object.entries(fields))
    if (!Object.hasOwn(kinds, field?.kind))
      throw new TypeError(
        `${owner}.${name}: this is no field; make it with int(0, 7), bool() or the like`,
      );
};

/** Returns how deep structs are nested in these fields. */
const depth = (fields: Fields): number =>
  Math.max(...Object.values(fields).map((field) => (field.fields ? 1 + depth(field.fields) : 0)));

/**
 * Declares an object with fields of its own: `struct({ x: f32(), y: f32() })`. On the wire there are only its fields.
 */
export const struct = <const Of extends Fields>(fields: Of): Field<Values<Of>> => {
  checkFields('struct', fields);
  if (Object.keys(fields).length === 0) throw new TypeError('a struct needs at least one field');
  if (depth(fields) >= STRUCT_MAX_DEPTH)
    throw new RangeError(`structs can be ${STRUCT_MAX_DEPTH} deep in one another, not deeper`);
  return field('struct', (path) => structSlot(fields, path), { fields });
};

/** Declares an array of up to `max` items of a kind. */
export const array = <Value>(item: Field<Value>, max: number): Field<Value[]> => {
  if (item.array > 0 || item.optional)
    throw new TypeError('the items of an array can be neither arrays nor optional');
  if (!(Number.isInteger(max) && max > 0 && max < 2 ** 32))
    throw new RangeError(`an array cannot have up to ${max} items`);
  return {
    ...(item as Field<never>),
    array: max,
    [SLOT]: (path) => arraySlot(item[SLOT](path), max, path),
  };
};

/** Declares an array of at least `min` and at most `max` items. */
export const arrayFrom = <Value>(item: Field<Value>, min: number, max: number): Field<Value[]> => ({
  ...array(item, max),
  count: `>= ${counted(min, max)}`,
  [OPERATIONS]: operations,
});

/** Declares an array of as many items as an expression says, at most `max`; their number is not on the wire. */
export const repeat = <Value>(
  count: string | number,
  item: Field<Value>,
  max: number,
): Field<Value[]> => ({ ...array(item, max), count: `${count}`, [OPERATIONS]: operations });

/** Declares an array of exactly so many items. */
export const fixedArray = <Value>(item: Field<Value>, count: number): Field<Value[]> =>
  repeat(count, item, count);

/** Declares a field that is there when an expression of earlier fields is not 0, and is left out otherwise. */
export const when = <Value>(condition: string, item: Field<Value>): OptionalField<Value> => ({
  ...optional(item),
  count: condition,
  [OPERATIONS]: operations,
});

/** Declares a field that may be left out; one bit tells whether it is there. */
export const optional = <Value>(item: Field<Value>): OptionalField<Value> => {
  if (item.array > 0) throw new TypeError('an array cannot be optional; it can be empty');
  return { ...item, optional: true, [SLOT]: (path) => optionalSlot(item[SLOT](path)) };
};
