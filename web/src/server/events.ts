import type { Schema } from '../messages/schema.js';
import type { ServerClient } from './client.js';

/** A client has connected. */
export class ConnectEvent<Of extends Schema = Schema> extends Event {
  constructor(readonly client: ServerClient<Of>) {
    super('connect');
  }
}

/** It is time for the next step of the game. Everything that the listeners send goes out right after it. */
export class TickEvent extends Event {
  /** The number of the tick, from 0. */
  readonly tick: number;

  constructor(tick: number) {
    super('tick');
    this.tick = tick;
  }
}

/**
 * Requests for a connection were refused because of their connect tokens. There is one such event in a second at most
 * for each reason, and with it comes the number of requests since the last one. A client repeats its request ten times a
 * second.
 */
export class RefusedTokensEvent extends Event {
  constructor(
    /** The reason, one of the keys of `stats().dropped`. */
    readonly code: RefusedTokenCode,
    readonly count: number,
    /** The reason in words. */
    readonly message: string,
  ) {
    super('refusedtokens');
  }
}

/** The reasons for which a server refuses a connect token. */
export const refusedTokenCodes = [
  'VERSION',
  'PROTOCOL_ID',
  'NOT_AUTHENTIC',
  'TOKEN_EXPIRED',
  'TOKEN_SERVER',
  'TOKEN_USED',
  'TOKEN_LIFE',
] as const;
/** The reason why a server refused a connect token. */
export type RefusedTokenCode = (typeof refusedTokenCodes)[number];

/** The system has reported an error of the socket, which stays open, or a function for `tokens` has thrown. */
export class SocketErrorEvent extends Event {
  constructor(readonly error: Error) {
    super('error');
  }
}

/** The events of a `GameServer`. */
export interface GameServerEvents<Of extends Schema> {
  connect: ConnectEvent<Of>;
  tick: TickEvent;
  refusedtokens: RefusedTokensEvent;
  error: SocketErrorEvent;
}
