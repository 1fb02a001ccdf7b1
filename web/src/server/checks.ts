import { MisuseError } from '../errors.js';
import {
  KEY_SIZE,
  TOKEN_MAX_ADDRESSES,
  USER_DATA_SIZE,
  addressAt,
  addressStruct,
} from '../generated.js';
import type { ServerCore } from './core.js';

// These functions check options of tokens and servers, which may come from JavaScript. An error names the option.

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

/** Seconds that are not given stay undefined. */
export const wholeSeconds = (
  name: string,
  value: unknown,
  least: number,
  most: number,
): number | undefined => {
  if (value === undefined || value === null) return undefined;
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
  // The message does not tell the value: it may be most of a key.
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

/** The text of any address has fewer bytes. A longer text does not fit, and is then refused. */
export const ADDRESS_TEXT_SIZE = 64;

/** Reads an IP address, with or without a port, into a struct of the module; returns whether it is one. */
export function parseAddress(core: ServerCore, text: string, at: number): boolean {
  const { exports, memory, scratch } = core;
  // A NUL would end the text for C, and what follows it would be ignored.
  memory.putText(text.replaceAll('\0', '?'), scratch, ADDRESS_TEXT_SIZE);
  return exports.cw_address_parse(scratch, at) === 0;
}

/**
 * Writes lists of addresses with ports to an array of structs, one list behind the other; `lists` has the names of
 * their options.
 * @throws {@link MisuseError} `ADDRESS` for a text that is none
 */
export function writeAddresses(
  core: ServerCore,
  at: number,
  lists: Readonly<Record<string, readonly string[]>>,
): void {
  for (const [name, list] of Object.entries(lists))
    for (const [i, text] of list.entries()) {
      const isAddress = parseAddress(core, text, at);
      if (!isAddress || core.memory.view.getUint16(at + addressAt.port, true) === 0)
        throw new MisuseError(
          'ADDRESS',
          `${name}[${i}]: '${text}' is not an IP address with a port, as 127.0.0.1:40000 or [::1]:40000; look ` +
            'host names up before',
        );
      at += addressStruct.size;
    }
}
