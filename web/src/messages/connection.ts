import type { Core } from '../core.js';
import type { Transport, TransportClose, TransportState } from '../transports/transport.js';
import { Conversation, type ConversationConfig } from './conversation.js';
import type { Schema } from './schema.js';
import { Session, fitsTransport, tickInterval, type MessageEvent } from './session.js';

/** What a {@link Connection} can be told. */
export interface ConnectionConfig extends ConversationConfig {
  /** Rounds of datagrams in a second, at most 1000. Default 60. */
  readonly tickRate?: number;
}

/** The connection has ended. */
export class CloseEvent extends Event implements TransportClose {
  readonly code: number;
  readonly reason: string;

  constructor({ code, reason }: TransportClose) {
    super('close');
    this.code = code;
    this.reason = reason;
  }
}

/** The events of a connection. */
export interface ConnectionEvents<Of extends Schema> {
  message: MessageEvent<Of>;
  close: CloseEvent;
}

/** A {@link Session} with a game server that takes anybody: without token and encryption. */
export class Connection<Of extends Schema = Schema> extends Session<Of, ConnectionEvents<Of>> {
  /** Resolves when the connection has ended, for whatever reason; never rejects. */
  readonly closed: Promise<TransportClose>;

  /**
   * @throws {@link CoreError} with a code that says which part of schema or config cannot work;
   *   RangeError for the tick rate, and for a transport that does not take what would be sent.
   */
  constructor(core: Core, schema: Of, transport: Transport, config: ConnectionConfig = {}) {
    const interval = tickInterval(config.tickRate);
    super(new Conversation(core, schema, config), transport);
    fitsTransport(this.peer.maxDatagramSize, transport);
    this.closed = transport.closed.then((close) => {
      this.finish(new CloseEvent(close));
      return close;
    });
    this.start(interval);
  }

  get state(): TransportState {
    return this.carrier.state;
  }

  protected override get open(): boolean {
    return this.state === 'open';
  }

  /** Ends the connection; `closed` resolves when it has ended. Nothing can be sent afterwards. */
  close(code?: number, reason?: string): void {
    this.carrier.close(code, reason);
  }
}
