import { CoreError } from '../errors.js';
import { KEY_SIZE, TOKEN_MAX_ADDRESSES, USER_DATA_SIZE } from '../generated.js';

// Options of tokens and servers, which may have been given from JavaScript: an error names the option.

export const unsigned64 = (name: string, value: unknown): bigint => {
  if (typeof value !== 'bigint' && typeof value !== 'number')
    throw new TypeError(`${name}: a bigint or a whole number is needed`);
  if (typeof value === 'number' && !Number.isSafeInteger(value))
    throw new RangeError(`${name}: ${value} is not a whole number below 2^53; take a bigint`);
  const number = BigInt(value);
  if (BigInt.asUintN(64, number) !== number)
    throw new RangeError(`${name}: ${number} is not from 0 to 2^64 - 1`);
  return number;
};

export const wholeSeconds = (name: string, value: unknown, least: number, most: number): number => {
  if (typeof value !== 'number') throw new TypeError(`${name}: a number of seconds is needed`);
  if (!(Number.isInteger(value) && value >= least && value <= most))
    throw new RangeError(`${name}: ${value} is not a whole number from ${least} to ${most}`);
  return value;
};

export const keyBytes = (key: unknown): Uint8Array => {
  if (key instanceof Uint8Array) {
    if (key.length === KEY_SIZE) return key;
  } else if (typeof key !== 'string') {
    throw new TypeError('privateKey: a Uint8Array or hexadecimal digits are needed');
  } else if (/^[0-9a-f]{64}$/i.test(key)) {
    return Uint8Array.from(key.match(/../g)!, (digits) => Number.parseInt(digits, 16));
  }
  // What was given is not told: it may be most of a key.
  throw new RangeError('privateKey: it does not have 32 bytes, or 64 hexadecimal digits');
};

export const addressList = (name: string, list: unknown, least: number): readonly string[] => {
  if (!Array.isArray(list) || !list.every((each) => typeof each === 'string'))
    throw new TypeError(`${name}: an array of strings is needed`);
  if (list.length < least || list.length > TOKEN_MAX_ADDRESSES)
    throw new RangeError(
      `${name}: ${list.length} addresses are not ${least} to ${TOKEN_MAX_ADDRESSES}`,
    );
  return list;
};

export const userDataBytes = (data: unknown): Uint8Array => {
  if (!(data instanceof Uint8Array)) throw new TypeError('userData: a Uint8Array is needed');
  if (data.length > USER_DATA_SIZE)
    throw new RangeError(`userData: ${data.length} bytes are more than ${USER_DATA_SIZE}`);
  return data;
};

/** Addresses as the module reads them. One with a NUL must stay one, and be refused. */
export const addressBytes = (list: readonly string[]): Uint8Array<ArrayBuffer> =>
  new TextEncoder().encode(list.map((each) => `${each.replaceAll('\0', '?')}\0`).join(''));

/** What the address of this index is not, in lists that were given one behind the other under these names. */
export function noAddress(
  lists: Readonly<Record<string, readonly string[]>>,
  index: number,
): CoreError {
  const all = Object.entries(lists).flatMap(([name, list]) =>
    list.map((each, i) => `${name}[${i}]: '${each}'`),
  );
  return new CoreError(
    'ADDRESS',
    `${all[index]} is not an IP address with a port, as 127.0.0.1:40000 or [::1]:40000; look host names ` +
      'up before',
  );
}
