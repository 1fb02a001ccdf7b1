import type { Core } from '../core.js';
import { ConnectError, MisuseError } from '../errors.js';
import { tokenAt, tokenSize } from '../generated.js';
import { connectTokenId } from '../secure/token_id.js';
import { relayList, type RelayAddresses } from '../transports/session.js';

/** A connect token from the game's backend: 2048 bytes, for one connection only. */
export type ConnectToken = Uint8Array | ArrayBuffer;

/** A connect token, and the relays by which its player is to connect, in place of those that the page knows. */
export interface TokenWithRelays {
  readonly token: ConnectToken;
  readonly relays: RelayAddresses;
}

/** The answer of a function that asks the backend for a token. */
export type TokenAnswer = ConnectToken | TokenWithRelays;

/**
 * A connect token, or a function that asks the backend for one. The function is called for each connection, so that a
 * client can connect again.
 */
export type TokenOption = ConnectToken | (() => TokenAnswer | Promise<TokenAnswer>);

/** A token, with its public part. */
export interface ReadToken {
  readonly bytes: Uint8Array;
  readonly id: string;
  /** The time when it expires, in seconds of Unix time. */
  readonly expireTime: number;
  /** The fingerprint of its schema; 0 when the token does not say. */
  readonly fingerprint: bigint;
  /** Its game servers, under the names that a relay expects. */
  readonly servers: readonly string[];
  /** The relays that came with it. */
  readonly relays?: readonly URL[];
}

/** One client's tokens come from here. */
export class Tokens {
  readonly #core: Core;
  readonly #option: TokenOption;
  readonly #fingerprint: () => bigint;
  #used = false;

  /** @param fingerprint returns the fingerprint of the schema that the tokens must be for; 0 stands for any */
  constructor(core: Core, option: TokenOption, fingerprint: () => bigint = () => 0n) {
    this.#core = core;
    this.#option = option;
    this.#fingerprint = fingerprint;
  }

  /** True when there can be another token. */
  get renewable(): boolean {
    return typeof this.#option === 'function';
  }

  /**
   * Returns the token for the next connection.
   * @throws {@link ConnectError} `INVALID_TOKEN`, `TRANSPORT` for an address that is none, and `SCHEMA` when it is for another one; {@link MisuseError}
   *   `TOKEN_USED` when there is no other token; the error of the application's function.
   */
  async next(): Promise<ReadToken> {
    if (this.#used && !this.renewable)
      throw new MisuseError(
        'TOKEN_USED',
        'a connect token is good for one connection; pass a function as token to connect again',
      );
    this.#used = true;
    const answer = typeof this.#option === 'function' ? await this.#option() : this.#option;
    const { token, relays } =
      answer instanceof Object && 'relays' in answer ? answer : { token: answer };
    const read = readToken(this.#core, new Uint8Array(token));
    const own = read.fingerprint && this.#fingerprint();
    if (own && own !== read.fingerprint)
      throw new ConnectError(
        'SCHEMA',
        'token',
        'the connect token is for another schema; build client and backend from the same one',
      );
    return relays === undefined ? read : { ...read, relays: relayList(relays) };
  }
}

function readToken(core: Core, bytes: Uint8Array): ReadToken {
  const { exports, memory } = core;
  return core.withSecret(tokenSize + bytes.length, (token) => {
    const copy = token + tokenSize;
    memory.bytes.set(bytes, copy);
    const code = exports.cw_token_read(copy, bytes.length, token);
    if (code !== 0) {
      const cause = core.error(code);
      // A token begins with the name of its protocol.
      const message = /^\s*</.test(new TextDecoder().decode(bytes))
        ? 'the connect token is an HTML page: check what the `token` function asks, and its status'
        : cause.message;
      throw new ConnectError('INVALID_TOKEN', 'token', message, { cause });
    }
    return {
      bytes,
      id: connectTokenId(bytes),
      expireTime: Number(memory.u64(token + tokenAt.expireTime)),
      fingerprint: memory.u64(token + tokenAt.fingerprint),
      servers: serversOf(bytes),
    };
  });
}

/**
 * The offset of the number of addresses in a token (netcode 1.02); each address is a type, 4 bytes or 8 words, and a
 * port.
 */
const ADDRESSES = 1089;
const IPV4 = 1;

/** Returns the game servers of a token that has been read: `10.0.0.5_7000`, `2001-db8-0-0-0-0-0-5_7000`. */
function serversOf(bytes: Uint8Array): readonly string[] {
  const view = new DataView(bytes.buffer);
  let at = ADDRESSES + 4;
  const word = (): number => view.getUint16((at += 2) - 2, true);
  return Array.from({ length: view.getUint32(ADDRESSES, true) }, () => {
    const isIpv4 = bytes[at++] === IPV4;
    const host = isIpv4
      ? bytes.slice(at, (at += 4)).join('.')
      : Array.from({ length: 8 }, () => word().toString(16)).join('-');
    return `${host}_${word()}`;
  });
}
