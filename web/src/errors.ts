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

/** The protocol core refused a call, which has changed nothing. */
export class CoreError extends CausewayError {
  declare readonly code: CoreErrorCode;
  /** With `CONFIG`, the field of the config that cannot work, such as `maxPacketSize`; `message` says why. */
  readonly field: string | undefined;

  constructor(code: CoreErrorCode, message: string, field?: string) {
    super(code, message);
    this.field = field;
  }
}

/** The WebAssembly module could not be fetched, compiled or used. */
export class LoadError extends CausewayError {
  constructor(message: string, options?: ErrorOptions) {
    super('LOAD', message, options);
  }
}

/** An object was used after its `destroy()`. */
export class DestroyedError extends CausewayError {
  constructor(what: string) {
    super('DESTROYED', `this ${what} has been destroyed`);
  }
}

/** A connection was used after it had ended. */
export class ClosedError extends CausewayError {
  constructor() {
    super('CLOSED', 'the connection has ended');
  }
}

/** The other end has not answered a request in time. */
export class TimedOutError extends CausewayError {
  declare readonly code: 'TIMED_OUT';

  constructor(request: string, timeoutSeconds: number) {
    super('TIMED_OUT', `${request}: no answer came in ${timeoutSeconds} s`);
  }
}

const refused: Readonly<Record<number, string>> = {
  [reserved.FAILED]: 'the function that answers it failed',
  [reserved.NO_ANSWER]: 'no function answers it; the other end has to pass one to `answer`',
  [reserved.BUSY]: 'too many requests have not been answered yet',
};

/**
 * A request was refused. The function that answers a request throws this, with a number of the application's, and the
 * other end's `request` rejects with it.
 */
export class RefusedError extends CausewayError {
  declare readonly code: 'REFUSED';
  /**
   * The number of the refusal, from 0 to 65535. Three are the library's: 65533 says that the function which answers
   * failed, 65534 that there is none, 65535 that too many requests were unanswered.
   */
  readonly refusal: number;

  /** @throws RangeError for a refusal that is no whole number from 0 to 65535 */
  constructor(refusal: number, message?: string) {
    if (!(Number.isInteger(refusal) && refusal >= 0 && refusal <= 65535))
      throw new RangeError(`refusal: ${String(refusal)} is not a whole number from 0 to 65535`);
    super('REFUSED', message ?? refused[refusal] ?? `the other end refused it with ${refusal}`);
    this.refusal = refusal;
  }
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

/** The relay of `causeway-net dev` answers offers with this, because browsers print other answers as errors. */
const NO_CONTENT = 204;

/**
 * Each of the relay's reasons has numbers that stand for it, and a meaning. A number is the code that closes a
 * WebSocket, which a data channel carries in a message, or the status of the answer to an offer.
 */
const refusals: readonly (readonly [code: RelayCode, numbers: readonly number[], means: string])[] =
  [
    ['ORIGIN', [codes.ORIGIN, statuses.FORBIDDEN], "does not allow this page's origin (--origin)"],
    [
      'NO_RTC',
      [statuses.NOT_FOUND, statuses.METHOD_NOT_ALLOWED, NO_CONTENT],
      'does not serve WebRTC (--rtc)',
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
    [
      'BLOCKED',
      [codes.BLOCKED],
      "has ended it on its operator's behalf, or has blocked this address",
    ],
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

/** The details of a {@link TransportError}. */
interface TransportErrorOptions extends ErrorOptions {
  readonly code?: RelayCode | PageCode | undefined;
  readonly timedOut?: boolean;
  readonly retryAfterSeconds?: number | undefined;
}

/** A transport could not be opened. `code` is the reason of the relay or the browser, or else `TRANSPORT`. */
export class TransportError extends CausewayError {
  declare readonly code: RelayCode | PageCode | 'TRANSPORT';
  /** The stage at which it failed. */
  readonly stage: TransportStage;
  /** True when the time allowed was over. */
  readonly timedOut: boolean;
  /** True when the same attempt may succeed later. */
  readonly retryable: boolean;
  /** The seconds until it may succeed, if the relay said when. */
  readonly retryAfterSeconds: number | undefined;

  constructor(stage: TransportStage, message: string, options: TransportErrorOptions = {}) {
    super(options.code ?? 'TRANSPORT', message, options);
    this.stage = stage;
    this.timedOut = options.timedOut ?? false;
    this.retryable = stage !== 'setup' && !final.includes(this.code);
    this.retryAfterSeconds = options.retryAfterSeconds;
  }
}

/** None of the transports could be opened. */
export class ConnectError extends CausewayError {
  /** The errors of the transports, in the order in which they were tried. */
  readonly errors: readonly unknown[];
  /** True when the same attempt may succeed later, over any of them. */
  readonly retryable: boolean;
  /** The seconds until it may succeed, if a relay said when. */
  readonly retryAfterSeconds: number | undefined;

  constructor(errors: readonly unknown[]) {
    super(
      'CONNECT',
      errors.map((error) => (error instanceof Error ? error.message : String(error))).join('; '),
    );
    this.errors = errors;
    const later = errors.filter((error) => error instanceof TransportError && error.retryable);
    this.retryable = later.length > 0;
    this.retryAfterSeconds = (later as TransportError[]).find(
      (error) => error.retryAfterSeconds !== undefined,
    )?.retryAfterSeconds;
  }
}

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
 * The server did not take the client, or never answered. `DENIED` means that it is full. When the relay ended the
 * transport, `code` is the relay's reason, or else `TRANSPORT_CLOSED`.
 */
export class HandshakeError extends CausewayError {
  declare readonly code: HandshakeCode;
  readonly stage: HandshakeStage;
  /** True when the same attempt, with the same token, may succeed later. */
  readonly retryable: boolean;

  constructor(code: HandshakeCode, stage: HandshakeStage, message: string, options?: ErrorOptions) {
    super(code, message, options);
    this.stage = stage;
    this.retryable = !final.includes(code);
  }
}

/**
 * The classes of errors by their names, which are written out because minifiers rename classes.
 * @internal
 */
export const errorClasses = {
  CausewayError,
  CoreError,
  LoadError,
  DestroyedError,
  ClosedError,
  TimedOutError,
  RefusedError,
  TransportError,
  ConnectError,
  HandshakeError,
};
for (const [name, { prototype }] of Object.entries(errorClasses)) prototype.name = name;
