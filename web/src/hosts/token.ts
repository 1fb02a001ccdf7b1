import type { Core } from '../core.js';
import { CoreError, HandshakeError } from '../errors.js';
import { tokenFacts } from '../generated.js';

/** A connect token from the game's backend: 2048 bytes, for one connection only. */
export type ConnectToken = Uint8Array | ArrayBuffer;

/**
 * A connect token, or what asks the backend for one: it is called for each connection, so that a client
 * can connect again.
 */
export type TokenOption = ConnectToken | (() => ConnectToken | Promise<ConnectToken>);

/** A token, with what everybody can read of it. */
interface ReadToken {
  readonly bytes: Uint8Array;
  /** By the clock of the world, in seconds. */
  readonly expireTime: number;
  /** Of the schema; 0 when it does not say. */
  readonly fingerprint: bigint;
  /** Its game servers, as a relay wants them named. */
  readonly servers: readonly string[];
}

/** Where the tokens of one client come from. */
export class Tokens {
  readonly #core: Core;
  readonly #option: TokenOption;
  readonly #fingerprint: () => bigint;
  #used = false;

  /** @param fingerprint gives that of the schema, which the tokens must be for; 0: any */
  constructor(core: Core, option: TokenOption, fingerprint: () => bigint = () => 0n) {
    this.#core = core;
    this.#option = option;
    this.#fingerprint = fingerprint;
  }

  /** Whether there can be another one. */
  get renewable(): boolean {
    return typeof this.#option === 'function';
  }

  /**
   * The token for the next connection.
   * @throws {@link HandshakeError} `INVALID_TOKEN`, and `SCHEMA` when it is for another one;
   *   {@link CoreError} `TOKEN_USED` when there is no other token; what the application's function throws.
   */
  async next(): Promise<ReadToken> {
    if (this.#used && !this.renewable)
      throw new CoreError(
        'TOKEN_USED',
        'a connect token is good for one connection; pass a function as token to connect again',
      );
    this.#used = true;
    const token = typeof this.#option === 'function' ? await this.#option() : this.#option;
    const read = readToken(this.#core, new Uint8Array(token));
    const own = read.fingerprint === 0n ? 0n : this.#fingerprint();
    if (own !== 0n && own !== read.fingerprint)
      throw new HandshakeError(
        'SCHEMA',
        'token',
        'the connect token is for another schema; build client and backend from the same one',
      );
    return read;
  }
}

function readToken(core: Core, bytes: Uint8Array): ReadToken {
  const { exports, memory, scratch } = core;
  const copy = core.allocate(bytes.length + 1);
  try {
    memory.bytes.set(bytes, copy);
    const code = exports.token_read(copy, bytes.length);
    if (code !== 0) {
      const cause = core.error(code);
      throw new HandshakeError('INVALID_TOKEN', 'token', cause.message, { cause });
    }
    return {
      bytes,
      expireTime: Number(memory.u64(scratch + tokenFacts.expireTime)),
      fingerprint: memory.u64(scratch + tokenFacts.fingerprint),
      servers: serversOf(bytes),
    };
  } finally {
    exports.release_secret(copy, bytes.length);
  }
}

/** Where a token (netcode 1.02) counts its addresses; each is a type, 4 bytes or 8 words, and a port. */
const ADDRESSES = 1089;
const IPV4 = 1;

/** The game servers of a token that has been read: `10.0.0.5_7000`, `2001-db8-0-0-0-0-0-5_7000`. */
function serversOf(bytes: Uint8Array): readonly string[] {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
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
