import type { GameErrorCode } from './game/generated.js';
import type { ProtocolErrorCode } from './protocols/generated.js';
import {
  closeCodes as codes,
  httpStatuses as statuses,
  refusals as reserved,
  type errorCodes,
} from './generated.js';

/** The base of every error of this package. `code` is for programs, `message` for people. */
export class CausewayError extends Error {
  readonly code: string;

  constructor(code: string, message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }
}

/**
 * The codes of calls that the protocol core refuses, by the names of its `enum cw_error`, and `CONFIG` for a config
 * that cannot work.
 */
export type CoreErrorCode =
  Exclude<(typeof errorCodes)[number], 'OK'> | GameErrorCode | ProtocolErrorCode | 'CONFIG';

/** The codes of a {@link ConnectionError}: what happens to connections that are used as they should be. */
export type ConnectionErrorCode =
  | 'CLOSED'
  | 'TIMED_OUT'
  | 'REFUSED'
  | 'QUEUE_FULL'
  | 'POOL_EMPTY'
  | 'RECEIPTS_FULL'
  | 'REQUESTS_FULL'
  | 'NOT_CONNECTED';

/** With these, the protocol core refuses calls for which it is too late or too early. */
const passing: readonly string[] = [
  'QUEUE_FULL',
  'POOL_EMPTY',
  'RECEIPTS_FULL',
  'REQUESTS_FULL',
  'NOT_CONNECTED',
] satisfies ConnectionErrorCode[];

/** A call was wrong, and has changed nothing: the program has to be mended. */
export class MisuseError extends CausewayError {
  declare readonly code: Exclude<CoreErrorCode, ConnectionErrorCode> | 'DESTROYED';
  /** With `CONFIG`, the field of the config that cannot work, such as `maxPacketSize`; `message` says why. */
  readonly field: string | undefined;

  constructor(code: MisuseError['code'], message: string, field?: string) {
    super(code, message);
    this.field = field;
  }
}

/**
 * A connection has ended (`CLOSED`), takes no more now (`QUEUE_FULL`, `POOL_EMPTY`, `RECEIPTS_FULL`, `REQUESTS_FULL`), or
 * a request has no answer (`TIMED_OUT`, `REFUSED`).
 */
export class ConnectionError extends CausewayError {
  declare readonly code: ConnectionErrorCode;
  /**
   * With `REFUSED`, the number of the refusal, from 0 to 65535. Three are the library's: 65533 says that the function
   * which answers failed, 65534 that there is none, 65535 that too many requests were unanswered.
   */
  readonly refusal: number | undefined;

  constructor(code: ConnectionErrorCode, message: string, refusal?: number) {
    super(code, message);
    this.refusal = refusal;
  }
}

/** Makes the error of a call that the protocol core refused. @internal */
export const coreError = (code: CoreErrorCode, message: string): MisuseError | ConnectionError =>
  passing.includes(code)
    ? new ConnectionError(code as ConnectionErrorCode, message)
    : new MisuseError(code as MisuseError['code'], message);

/** Makes the error of a call for a connection that has ended. @internal */
export const closedError = (): ConnectionError =>
  new ConnectionError('CLOSED', 'the connection has ended');

const whyRefused: Readonly<Record<number, string>> = {
  [reserved.FAILED]: 'the function that answers it failed',
  [reserved.NO_ANSWER]: 'no function answers it; the other end has to pass one to `answer`',
  [reserved.BUSY]: 'too many requests have not been answered yet',
};

/** Makes the error of a request that was refused. @internal */
export const refusedError = (refusal: number, message?: string): ConnectionError =>
  new ConnectionError(
    'REFUSED',
    message ?? whyRefused[refusal] ?? `the other end refused it with ${refusal}`,
    refusal,
  );

/** Returns the number with which an error refuses a request; `undefined` for any other error. @internal */
export const refusalOf = (error: unknown): number | undefined =>
  error instanceof ConnectionError ? error.refusal : undefined;

/**
 * Refuses a request, in the function that answers it: the other end's `request` rejects with a {@link ConnectionError}
 * `REFUSED` that has the number.
 * @param refusal a number of the application's
 * @throws that error, and RangeError for a number that is no whole one from 0 to 65535
 */
export function refuse(refusal: number, message?: string): never {
  if (!(Number.isInteger(refusal) && refusal >= 0 && refusal <= 65535))
    throw new RangeError(`refusal: ${String(refusal)} is not a whole number from 0 to 65535`);
  throw refusedError(refusal, message);
}

/**
 * The stage at which a transport failed: before anything was sent (`setup`), in the WebSocket's handshake, in the
 * exchange of WebRTC's descriptions (`signalling`), in the search for a path (`ice`), in the encryption (`dtls`), or
 * while the data channel opened (`channel`).
 */
export type TransportStage = 'setup' | 'handshake' | 'signalling' | 'ice' | 'dtls' | 'channel';

/** The reasons for which a relay does not carry a player, or no longer does. */
export type RelayCode =
  | 'ORIGIN'
  | 'NO_RTC'
  | 'RELAY_FULL'
  | 'RELAY_STOPPING'
  | 'SERVER_NOT_ALLOWED'
  | 'SERVER_DOWN'
  | 'NOT_ANSWERED'
  | 'BLOCKED';

/**
 * The reasons for which the browser keeps a page from its relay: the page's Content-Security-Policy, the sandbox of its
 * frame, or a user who has not allowed it to reach local addresses.
 */
export type PageCode = 'POLICY' | 'SANDBOX' | 'LOCAL_NETWORK';

/**
 * Each of the relay's reasons has numbers that stand for it, and a meaning. A number is the code that closes a
 * WebSocket, which a data channel carries in a message, or the status of the answer to an offer.
 */
const refusals: readonly (readonly [code: RelayCode, numbers: readonly number[], means: string])[] =
  [
    ['ORIGIN', [codes.ORIGIN, statuses.FORBIDDEN], "does not allow this page's origin (--origin)"],
    [
      'NO_RTC',
      [statuses.NOT_FOUND, statuses.METHOD_NOT_ALLOWED, statuses.NO_CONTENT],
      'does not serve this (--rtc, --webtransport)',
    ],
    [
      'RELAY_FULL',
      [codes.EVICTED, statuses.TOO_MANY_REQUESTS, statuses.SERVICE_UNAVAILABLE],
      'is full',
    ],
    ['RELAY_STOPPING', [codes.DRAIN], 'is stopping'],
    [
      'SERVER_NOT_ALLOWED',
      [codes.SERVER, statuses.UNPROCESSABLE_CONTENT],
      'does not allow this game server (--upstream)',
    ],
    ['BLOCKED', [codes.BLOCKED], 'has ended it for its operator, or blocks this address'],
    ['SERVER_DOWN', [codes.DOWN], 'finds nobody at the address of the game server (--upstream)'],
    [
      'NOT_ANSWERED',
      [codes.UNANSWERED],
      'got no answer from the game server: it may be stuck or unreachable (--upstream), or it ignores ' +
        'this connect token, as one that was used before or is for another key, protocol id or address',
    ],
  ];

/** Returns the relay's reason for a close code or HTTP status, if it is one of the relay's own. @internal */
export function relaySays(number: number): { code: RelayCode; means: string } | undefined {
  const [code, , means = ''] = refusals.find(([, numbers]) => numbers.includes(number)) ?? [];
  return code && { code, means };
}

/** With these codes, the same attempt would always fail again. */
const final: readonly string[] = [
  'ORIGIN',
  'NO_RTC',
  'BLOCKED',
  'SERVER_NOT_ALLOWED',
  'INVALID_TOKEN',
  'TOKEN_EXPIRED',
  'NOT_YET',
  'SCHEMA',
] satisfies (RelayCode | HandshakeCode)[];

/**
 * The stage that a handshake had reached: the token was looked at (`token`), the server was asked (`request`), its
 * challenge was answered (`response`).
 */
export type HandshakeStage = 'token' | 'request' | 'response';

/** The reasons for which a server did not take a client. */
export type HandshakeCode =
  | RelayCode
  | 'INVALID_TOKEN'
  | 'TOKEN_EXPIRED'
  | 'SCHEMA'
  | 'DENIED'
  | 'ID_CONNECTED'
  | 'NOT_YET'
  | 'REQUEST_TIMED_OUT'
  | 'RESPONSE_TIMED_OUT'
  | 'TRANSPORT_CLOSED';

/**
 * The stage that connecting had reached: that of a transport or of a handshake, or the WebAssembly module was being
 * fetched and compiled (`load`).
 */
export type ConnectStage = TransportStage | HandshakeStage | 'load';

/**
 * The reasons for which there is no connection: those of the server and the relay, of the browser, a transport that
 * failed (`TRANSPORT`), all transports that failed (`CONNECT`), a module that cannot be had (`LOAD`).
 */
export type ConnectErrorCode = HandshakeCode | PageCode | 'TRANSPORT' | 'CONNECT' | 'LOAD';

/** The details of a {@link ConnectError}. */
interface ConnectErrorOptions extends ErrorOptions {
  readonly timedOut?: boolean;
  readonly retryAfterSeconds?: number | undefined;
}

/** There is no connection. `code` says why, `message` what to do about it. */
export class ConnectError extends CausewayError {
  declare readonly code: ConnectErrorCode;
  /** The id of the attempt's connect token, see {@link connectTokenId}; `undefined` before there was one. */
  declare tokenId: string | undefined;
  /** The stage at which it failed; `undefined` with `CONNECT`. */
  readonly stage: ConnectStage | undefined;
  /** True when the time allowed was over. */
  readonly timedOut: boolean;
  /** True when the same attempt, with the same token, may succeed later. */
  readonly retryable: boolean;
  /** The seconds until it may succeed, if a relay said when. */
  readonly retryAfterSeconds: number | undefined;
  /** With `CONNECT`, the errors of the transports, in the order in which they were tried. */
  readonly errors: readonly unknown[] = [];

  constructor(
    code: ConnectErrorCode,
    stage: ConnectStage | undefined,
    message: string,
    options: ConnectErrorOptions = {},
  ) {
    super(code, message, options);
    this.stage = stage;
    this.timedOut = options.timedOut ?? false;
    this.retryable = stage !== 'setup' && !final.includes(code);
    this.retryAfterSeconds = options.retryAfterSeconds;
  }

  /** Makes the error of an attempt whose transports have all failed. @internal */
  static ofAll(errors: readonly unknown[]): ConnectError {
    const texts = errors.map((error) => (error as Partial<Error> | null)?.message ?? String(error));
    const later = errors.filter(
      (error): error is ConnectError => error instanceof ConnectError && error.retryable,
    );
    const all = new ConnectError('CONNECT', undefined, texts.join('; '), {
      retryAfterSeconds: later.find((error) => error.retryAfterSeconds)?.retryAfterSeconds,
    });
    return Object.assign(all, { errors, retryable: later.length > 0 });
  }
}

/** Makes the error of an attempt to reach a relay. @internal */
export const relayError = (
  relay: URL | string,
  stage: TransportStage,
  what: string,
  options?: ConnectErrorOptions,
  code: ConnectErrorCode = 'TRANSPORT',
): ConnectError => new ConnectError(code, stage, `the relay at ${relay} ${what}`, options);

/**
 * The classes of errors by their names, which are written out because minifiers rename classes.
 * @internal
 */
export const errorClasses = {
  CausewayError,
  ConnectError,
  ConnectionError,
  MisuseError,
};
for (const [name, { prototype }] of Object.entries(errorClasses)) prototype.name = name;
