import type { EndpointConfig } from '../endpoint.js';
import {
  INSECURE_KEY,
  KEY_SIZE,
  TOKEN_SIZE,
  addressStruct,
  tokenGrantAt,
  tokenGrantStruct,
} from '../generated.js';
import type { Channel } from '../messages/channels.js';
import { fingerprint } from '../messages/connection.js';
import type { Schema } from '../messages/schema.js';
import {
  addressList,
  keyBytes,
  unsigned64,
  userDataBytes,
  wholeSeconds,
  writeAddresses,
} from './checks.js';
import { serverCoreOf, type ServerCoreOptions } from './core.js';

/** The contents that {@link generateConnectToken} puts into a token, and the key that it needs. */
export interface ConnectTokenOptions extends ServerCoreOptions {
  /** The game's number, 64 bits. Relays and servers take only their own. */
  readonly protocolId: bigint | number;
  /** The key that the game servers have too: 32 bytes, or 64 hexadecimal digits. */
  readonly privateKey: Uint8Array | string;
  /** The player's number, 64 bits: the backend's own numbering. */
  readonly clientId: bigint | number;
  /** Addresses of game servers, tried in this order: `'127.0.0.1:40000'`, `'[::1]:40000'`; 1 to 32. */
  readonly servers: readonly string[];
  /** The same servers as they know themselves, when that differs, as behind NAT. */
  readonly internalServers?: readonly string[];
  /** The token can be used for so long. Servers refuse long lives; default 45. */
  readonly expireSeconds?: number;
  /** A connection lives for so long without a packet; default 15. */
  readonly timeoutSeconds?: number;
  /** For the server's application: up to 256 bytes, with a fingerprint up to 240. */
  readonly userData?: Uint8Array;
  /** The types of messages that the client must have. Default: none are asked for. */
  readonly schema?: Schema;
  /** With the schema: the channels. Default: those that its messages need. */
  readonly channels?: readonly Channel[];
  /** With the schema: the endpoint's config, when it is not the default. */
  readonly endpoint?: EndpointConfig;
  /** Instead of schema, channels and endpoint: their {@link fingerprint}. */
  readonly fingerprint?: bigint;
}

/** A new private key for {@link generateConnectToken} and the game servers. */
export const generateKey = (): Uint8Array<ArrayBuffer> =>
  crypto.getRandomValues(new Uint8Array(KEY_SIZE));

/**
 * Makes a connect token for a player whom the backend knows: 2048 bytes, for that player and no one
 * else. It is good for one connection.
 * @throws TypeError or RangeError that names the option; {@link MisuseError} `ADDRESS` for a server that is
 *   no address with a port, such as a host name, `USER_DATA` when it leaves no room for a fingerprint, and
 *   `KEY` for a key of zeros.
 */
export async function generateConnectToken(
  options: ConnectTokenOptions,
): Promise<Uint8Array<ArrayBuffer>> {
  const protocolId = unsigned64('protocolId', options.protocolId);
  const clientId = unsigned64('clientId', options.clientId);
  const given = unsigned64('fingerprint', options.fingerprint ?? 0n);
  const expire = wholeSeconds('expireSeconds', options.expireSeconds, 1, 2 ** 32 - 1);
  const timeout = wholeSeconds('timeoutSeconds', options.timeoutSeconds, 1, 2 ** 31 - 1);
  const userData = userDataBytes(options.userData ?? new Uint8Array());
  const privateKey = keyBytes(options.privateKey);
  const servers = addressList('servers', options.servers, 1);
  const internal = addressList('internalServers', options.internalServers ?? [], 0);

  const core = await serverCoreOf(options);
  const { exports, memory } = core;
  const wanted = options.schema
    ? fingerprint(core, options.schema, options.channels, options.endpoint)
    : given;
  const addressesAt = tokenGrantStruct.size;
  const keyAt = addressesAt + (servers.length + internal.length) * addressStruct.size;
  const outAt = keyAt + KEY_SIZE;
  return core.withSecret(outAt + TOKEN_SIZE, (grant) => {
    const now = Date.now();
    exports.cw_token_grant_default(grant);
    memory.setStruct(grant, tokenGrantStruct.fields, {
      protocolId,
      clientId,
      createTime: Math.floor(now / 1000),
      // A token without a fingerprint is one of the standard, to the byte.
      createMilliseconds: wanted === 0n ? 0 : now,
      fingerprint: wanted,
      lifeSeconds: expire,
      timeoutSeconds: timeout,
      addressCount: servers.length,
      addresses: grant + addressesAt,
      serverAddressCount: internal.length,
      serverAddresses:
        internal.length > 0 ? grant + addressesAt + servers.length * addressStruct.size : 0,
    });
    writeAddresses(core, grant + addressesAt, { servers, internalServers: internal });
    memory.bytes.set(userData, grant + tokenGrantAt.userData);
    memory.bytes.set(privateKey, grant + keyAt);
    core.check(exports.cw_token_generate(grant, grant + keyAt, grant + outAt));
    return memory.copy(grant + outAt, TOKEN_SIZE);
  });
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
