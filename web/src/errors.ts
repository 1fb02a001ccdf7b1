import type { errorCodes } from './generated.js';

/** The base of every error of this package. `code` is for programs, `message` for people. */
export class CausewayError extends Error {
  readonly code: string;

  constructor(code: string, message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }
}

/** What the protocol core can refuse, by the names of its `enum cw_error`. */
export type CoreErrorCode = Exclude<(typeof errorCodes)[number], 'OK'>;

/** The protocol core refused a call. Nothing was changed by it. */
export class CoreError extends CausewayError {
  declare readonly code: CoreErrorCode;

  constructor(code: CoreErrorCode, message: string) {
    super(code, message);
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

/**
 * Where a transport failed: before anything was sent (`setup`), in the WebSocket's handshake, in the
 * exchange of WebRTC's descriptions (`signalling`), in the search for a path (`ice`), in the encryption
 * (`dtls`), or while the data channel opened (`channel`).
 */
export type TransportStage = 'setup' | 'handshake' | 'signalling' | 'ice' | 'dtls' | 'channel';

/** A transport could not be opened. */
export class TransportError extends CausewayError {
  /** How far it came. */
  readonly stage: TransportStage;
  /** Whether it is the time allowed that was over. */
  readonly timedOut: boolean;

  constructor(
    stage: TransportStage,
    message: string,
    options: ErrorOptions & { readonly timedOut?: boolean } = {},
  ) {
    super('TRANSPORT', message, options);
    this.stage = stage;
    this.timedOut = options.timedOut ?? false;
  }
}

/** None of the transports could be opened. */
export class ConnectError extends CausewayError {
  /** What each of them failed of, in the order in which they were tried. */
  readonly errors: readonly unknown[];

  constructor(errors: readonly unknown[]) {
    super(
      'CONNECT',
      errors.map((error) => (error instanceof Error ? error.message : String(error))).join('; '),
    );
    this.errors = errors;
  }
}

/**
 * How far a handshake came: the token was looked at (`token`), the server was asked (`request`), its
 * challenge was answered (`response`).
 */
export type HandshakeStage = 'token' | 'request' | 'response';

/** Why a server did not take a client. */
export type HandshakeCode =
  | 'INVALID_TOKEN'
  | 'TOKEN_EXPIRED'
  | 'SCHEMA'
  | 'DENIED'
  | 'ID_CONNECTED'
  | 'REQUEST_TIMED_OUT'
  | 'RESPONSE_TIMED_OUT'
  | 'TRANSPORT_CLOSED';

/** The server did not take the client, or never answered. `DENIED` means that it is full. */
export class HandshakeError extends CausewayError {
  declare readonly code: HandshakeCode;
  readonly stage: HandshakeStage;

  constructor(code: HandshakeCode, stage: HandshakeStage, message: string, options?: ErrorOptions) {
    super(code, message, options);
    this.stage = stage;
  }
}

// Minifiers rename classes, so the names by which errors are known are written out.
const named = {
  CausewayError,
  CoreError,
  LoadError,
  DestroyedError,
  ClosedError,
  TransportError,
  ConnectError,
  HandshakeError,
};
for (const [name, { prototype }] of Object.entries(named)) prototype.name = name;
