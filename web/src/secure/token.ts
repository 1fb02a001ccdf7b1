import type { EndpointConfig } from '../endpoint.js';
import { CoreError } from '../errors.js';
import {
  INSECURE_KEY,
  KEY_SIZE,
  TOKEN_MAX_ADDRESSES,
  TOKEN_OPTIONS_SIZE,
  TOKEN_SIZE,
  USER_DATA_SIZE,
  errorCodes,
  tokenOptions,
} from '../generated.js';
import { coreOf, type CoreOptions } from '../loader.js';
import type { Channel } from '../messages/channels.js';
import { fingerprint } from '../messages/connection.js';
import type { Schema } from '../messages/schema.js';

/** What {@link generateConnectToken} puts into a token, and the key that it needs. */
export interface ConnectTokenOptions extends CoreOptions {
  /** The game's number, 64 bits. Relays and servers take only their own. */
  readonly protocolId: bigint | number;
  /** The key that the game servers have too: 32 bytes, or 64 hexadecimal digits. */
  readonly privateKey: Uint8Array | string;
  /** Who the player is, 64 bits: the backend's own numbering. */
  readonly clientId: bigint | number;
  /** Addresses of game servers, tried in this order: `'127.0.0.1:40000'`, `'[::1]:40000'`; 1 to 32. */
  readonly servers: readonly string[];
  /** The same servers as they know themselves, when that differs, as behind NAT. */
  readonly internalServers?: readonly string[];
  /** How long the token can be used. Servers refuse long lives; default 45. */
  readonly expireSeconds?: number;
  /** How long a connection lives without a packet; default 5. */
  readonly timeoutSeconds?: number;
  /** For the server's application: up to 256 bytes, with a fingerprint up to 240. */
  readonly userData?: Uint8Array;
  /** The types of messages that the client must have. Default: none are asked for. */
  readonly schema?: Schema;
  /** With the schema: the channels. Default: 0 is reliable, 1 is unreliable. */
  readonly channels?: readonly Channel[];
  /** With the schema: the endpoint's config, when it is not the default. */
  readonly endpoint?: EndpointConfig;
  /** Instead of schema, channels and endpoint: their {@link fingerprint}. */
  readonly fingerprint?: bigint;
}

const unsigned64 = (name: string, value: unknown): bigint => {
  if (typeof value !== 'bigint' && typeof value !== 'number')
    throw new TypeError(`${name}: a bigint or a whole number is needed`);
  if (typeof value === 'number' && !Number.isSafeInteger(value))
    throw new RangeError(`${name}: ${value} is not a whole number below 2^53; take a bigint`);
  const number = BigInt(value);
  if (BigInt.asUintN(64, number) !== number)
    throw new RangeError(`${name}: ${number} is not from 0 to 2^64 - 1`);
  return number;
};

const seconds = (name: string, value: unknown, least: number, most: number): number => {
  if (typeof value !== 'number') throw new TypeError(`${name}: a number of seconds is needed`);
  if (!(Number.isInteger(value) && value >= least && value <= most))
    throw new RangeError(`${name}: ${value} is not a whole number from ${least} to ${most}`);
  return value;
};

const keyBytes = (key: unknown): Uint8Array => {
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

const addressList = (name: string, list: unknown, least: number): readonly string[] => {
  if (!Array.isArray(list) || !list.every((each) => typeof each === 'string'))
    throw new TypeError(`${name}: an array of strings is needed`);
  if (list.length < least || list.length > TOKEN_MAX_ADDRESSES)
    throw new RangeError(
      `${name}: ${list.length} addresses are not ${least} to ${TOKEN_MAX_ADDRESSES}`,
    );
  return list;
};

const userDataBytes = (data: unknown): Uint8Array => {
  if (!(data instanceof Uint8Array)) throw new TypeError('userData: a Uint8Array is needed');
  if (data.length > USER_DATA_SIZE)
    throw new RangeError(`userData: ${data.length} bytes are more than ${USER_DATA_SIZE}`);
  return data;
};

/** A new private key for {@link generateConnectToken} and the game servers. */
export const generateKey = (): Uint8Array<ArrayBuffer> =>
  crypto.getRandomValues(new Uint8Array(KEY_SIZE));

/**
 * Makes a connect token for a player whom the backend knows: 2048 bytes, for that player and no one
 * else. It is good for one connection.
 * @throws TypeError or RangeError that names the option; {@link CoreError} `ADDRESS` for a server that is
 *   no address with a port, such as a host name, `USER_DATA` when it leaves no room for a fingerprint, and
 *   `KEY` for a key of zeros.
 */
export async function generateConnectToken(
  options: ConnectTokenOptions,
): Promise<Uint8Array<ArrayBuffer>> {
  const protocolId = unsigned64('protocolId', options.protocolId);
  const clientId = unsigned64('clientId', options.clientId);
  const given = unsigned64('fingerprint', options.fingerprint ?? 0n);
  const expire = seconds('expireSeconds', options.expireSeconds ?? 45, 1, 2 ** 32 - 1);
  const timeout = seconds('timeoutSeconds', options.timeoutSeconds ?? 5, 1, 2 ** 31 - 1);
  const userData = userDataBytes(options.userData ?? new Uint8Array());
  const privateKey = keyBytes(options.privateKey);
  const servers = addressList('servers', options.servers, 1);
  const internal = addressList('internalServers', options.internalServers ?? [], 0);

  const core = await coreOf(options);
  const { exports, memory } = core;
  const wanted = options.schema
    ? fingerprint(core, options.schema, options.channels, options.endpoint)
    : given;
  // An address with a NUL must stay one, and be refused.
  const text = new TextEncoder().encode(
    [...servers, ...internal].map((each) => `${each.replaceAll('\0', '?')}\0`).join(''),
  );
  const textAt = TOKEN_OPTIONS_SIZE;
  const outAt = textAt + text.length;
  const size = outAt + TOKEN_SIZE;
  const address = core.allocate(size);
  try {
    const { bytes, view } = memory;
    bytes.fill(0, address, address + size);
    const createTime = BigInt(Math.floor(Date.now() / 1000));
    view.setBigUint64(address + tokenOptions.protocolId, protocolId, true);
    view.setBigUint64(address + tokenOptions.clientId, clientId, true);
    view.setBigUint64(address + tokenOptions.createTime, createTime, true);
    view.setBigUint64(address + tokenOptions.fingerprint, wanted, true);
    view.setUint32(address + tokenOptions.lifeSeconds, expire, true);
    view.setInt32(address + tokenOptions.timeoutSeconds, timeout, true);
    bytes.set(userData, address + tokenOptions.userData);
    bytes.set(privateKey, address + tokenOptions.privateKey);
    bytes.set(text, address + textAt);
    const code = exports.token_generate(
      address + outAt,
      address,
      address + textAt,
      servers.length,
      internal.length,
    );
    if (errorCodes[code] === 'ADDRESS')
      throw noAddress(servers, internal, memory.u32(core.scratch));
    core.check(code);
    return memory.copy(address + outAt, TOKEN_SIZE);
  } finally {
    exports.release_secret(address, size);
  }
}

/**
 * For development, INSECURE: makes a token without a backend, also in a page. Everybody can make one, in the name
 * of any player, so only servers whose config says `insecure` take it. Its errors are those of
 * {@link generateConnectToken}.
 */
export const generateInsecureToken = (
  options: Omit<ConnectTokenOptions, 'privateKey'>,
): Promise<Uint8Array<ArrayBuffer>> =>
  generateConnectToken({ ...options, privateKey: new TextEncoder().encode(INSECURE_KEY) });

const noAddress = (
  servers: readonly string[],
  internal: readonly string[],
  index: number,
): CoreError => {
  const [name, list, i] =
    index < servers.length
      ? ['servers', servers, index]
      : ['internalServers', internal, index - servers.length];
  return new CoreError(
    'ADDRESS',
    `${name}[${i}]: '${list[i as number]}' is not an IP address with a port, as 127.0.0.1:40000 or ` +
      '[::1]:40000; look host names up before',
  );
};
