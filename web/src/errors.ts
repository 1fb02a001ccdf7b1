import type { errorCodes } from './generated.js';

/** The base of every error of this package. `code` is for programs, `message` for people. */
export class CausewayError extends Error {
  readonly code: string;

  constructor(code: string, message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }

  static {
    this.prototype.name = 'CausewayError';
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

  static {
    this.prototype.name = 'CoreError';
  }
}

/** The WebAssembly module could not be fetched, compiled or used. */
export class LoadError extends CausewayError {
  constructor(message: string, options?: ErrorOptions) {
    super('LOAD', message, options);
  }

  static {
    this.prototype.name = 'LoadError';
  }
}

/** An object was used after its `destroy()`. */
export class DestroyedError extends CausewayError {
  constructor(what: string) {
    super('DESTROYED', `this ${what} has been destroyed`);
  }

  static {
    this.prototype.name = 'DestroyedError';
  }
}

/** How far a transport came before it failed. */
export type TransportStage = 'setup' | 'handshake' | 'timeout' | 'open';

/** A transport could not be opened, or broke. */
export class TransportError extends CausewayError {
  /** How far it came. */
  readonly stage: TransportStage;

  constructor(stage: TransportStage, message: string, options?: ErrorOptions) {
    super(`TRANSPORT_${stage.toUpperCase()}`, message, options);
    this.stage = stage;
  }

  static {
    this.prototype.name = 'TransportError';
  }
}
