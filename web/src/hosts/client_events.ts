import type { Schema } from '../messages/schema.js';
import type { Farewell } from '../secure/core_client.js';
import type { TransportKind } from '../transports/transport.js';
import type { DisconnectReason } from './ending.js';
import type { ReceivedEvent } from './host.js';

/**
 * The states of a client, in this order: its transport is being opened, it asks the server for a connection, it answers
 * the server's challenge, it is connected, it is connected but nothing comes and the way to the server is being
 * replaced, it is not connected.
 */
export type GameClientState =
  'opening' | 'requesting' | 'responding' | 'connected' | 'reconnecting' | 'disconnected';

/** The end of a connection; code and text are those that the game server passed to `cw_server_disconnect`. */
export interface Disconnect extends Farewell {
  readonly reason: DisconnectReason;
  /** One sentence about the end, for people. */
  readonly message: string;
}

/** The connection has ended. */
export class DisconnectedEvent extends Event implements Disconnect {
  readonly reason: DisconnectReason;
  readonly message: string;
  readonly code: number;
  readonly text: string;

  constructor({ reason, message, code, text }: Disconnect) {
    super('disconnect');
    this.reason = reason;
    this.message = message;
    this.code = code;
    this.text = text;
  }
}

/** The client is in another state. */
export class StateEvent extends Event {
  constructor(readonly state: GameClientState) {
    super('state');
  }
}

/** The connection goes over another kind of transport. */
export class TransportEvent extends Event {
  constructor(readonly transport: TransportKind) {
    super('transport');
  }
}

/** The events of a `GameClient`. */
export interface GameClientEvents<Of extends Schema> {
  message: ReceivedEvent<Of>;
  drain: Event;
  state: StateEvent;
  transport: TransportEvent;
  disconnect: DisconnectedEvent;
}
