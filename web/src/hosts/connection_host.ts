import type { Core } from '../core.js';
import { Connection } from '../messages/connection.js';
import type { Schema } from '../messages/schema.js';
import type { ConnectionConfig } from '../messages/types.js';
import type { Transport, TransportClose, TransportState } from '../transports/transport.js';
import { Host, fitsTransport, tickInterval } from './host.js';
import type { ReceivedEvent } from './message_target.js';

/** The options of a {@link ConnectionHost}. */
export interface ConnectionHostConfig extends ConnectionConfig {
  /** The rounds of datagrams in a second, at most 1000. Default 60. */
  readonly ticksPerSecond?: number;
}

/** The connection has ended. */
export class ClosedEvent extends Event implements TransportClose {
  readonly code: number;
  readonly reason: string;

  constructor({ code, reason }: TransportClose) {
    super('close');
    this.code = code;
    this.reason = reason;
  }
}

/** The events of a connection. */
export interface ConnectionHostEvents<Of extends Schema> {
  message: ReceivedEvent<Of>;
  drain: Event;
  close: ClosedEvent;
}

/** A {@link Host} for a game server that takes anybody, without token and encryption. */
export class ConnectionHost<Of extends Schema = Schema> extends Host<Of, ConnectionHostEvents<Of>> {
  /** Resolves when the connection has ended, for whatever reason; never rejects. */
  readonly closed: Promise<TransportClose>;

  /**
   * @throws {@link CoreError} with a code that says which part of schema or config cannot work;
   *   RangeError for the tick rate, and for a transport that does not take what would be sent.
   */
  constructor(core: Core, schema: Of, transport: Transport, config: ConnectionHostConfig = {}) {
    const interval = tickInterval(config.ticksPerSecond);
    super(new Connection(core, schema, config));
    fitsTransport(this.connection.maxDatagramSize, transport);
    this.closed = transport.closed.then((close) => {
      this.finish(new ClosedEvent(close));
      return close;
    });
    this.start(transport, interval);
  }

  get state(): TransportState {
    return this.carrier.state;
  }

  protected override get open(): boolean {
    return this.state === 'open' || this.state === 'reconnecting';
  }

  /** Ends the connection; `closed` resolves when it has ended. Nothing can be sent afterwards. */
  close(code?: number, reason?: string): void {
    this.carrier.close(code, reason);
  }
}
