import { seconds } from '../clock.js';
import type { Core } from '../core.js';
import { Connection } from '../messages/connection.js';
import type { Schema } from '../messages/schema.js';
import type { ChannelStats, ConnectionConfig } from '../messages/types.js';
import type {
  Transport,
  TransportClose,
  TransportKind,
  TransportState,
} from '../transports/transport.js';
import { Carrier, fitsTransport, tickInterval } from './carrier.js';
import { Host, type HostStats, type ReceivedEvent } from './host.js';
import { Messages } from './messages.js';

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
  readonly #connection: Connection<Of>;
  readonly #transport: Transport;
  /** @internal */
  protected override readonly messages: Messages<Of>;

  /**
   * @throws {@link MisuseError} with a code that says which part of schema or config cannot work;
   *   RangeError for the tick rate, and for a transport that does not take what would be sent.
   */
  constructor(core: Core, schema: Of, transport: Transport, config: ConnectionHostConfig = {}) {
    const interval = tickInterval(config.ticksPerSecond);
    super();
    const connection = (this.#connection = new Connection(core, schema, config));
    fitsTransport(connection.maxDatagramSize, transport);
    this.#transport = transport;
    const messages = (this.messages = new Messages(
      connection,
      this,
      () => this.state === 'open' || this.state === 'reconnecting',
    ));
    const carrier = new Carrier(connection, transport);
    this.closed = transport.closed.then((close) => {
      carrier.stop();
      messages.giveUp();
      this.finish(new ClosedEvent(close));
      return close;
    });
    const arrived = (datagram: Uint8Array): void => {
      connection.receive(datagram, seconds());
      messages.progress();
      this.hand();
    };
    const tick = (): void => {
      connection.update(seconds());
      carrier.transmit();
      messages.progress();
    };
    carrier.start(interval, arrived, tick);
  }

  get state(): TransportState {
    return this.#transport.state;
  }

  /** The kind of transport that carries the connection. */
  get transport(): TransportKind {
    return this.#transport.kind;
  }

  stats(): HostStats {
    return { ...this.#connection.stats(), transport: this.#transport.stats() };
  }

  channelStats(channel: number): ChannelStats {
    return this.#connection.channelStats(channel);
  }

  /** Ends the connection; `closed` resolves when it has ended. Nothing can be sent afterwards. */
  close(code?: number, reason?: string): void {
    this.#transport.close(code, reason);
  }
}
