import type { DatagramEnd } from '../messages/message_end.js';
import type { Schema } from '../messages/schema.js';
import type { ConnectionStats } from '../messages/types.js';
import type { Transport, TransportKind, TransportStats } from '../transports/transport.js';
import { MessagePeer, seconds } from './message_peer.js';
import type { ReceivedEvent } from './message_target.js';
import { Ticks } from './ticks.js';

/** Statistics of a connection, and of the transport that carries it. */
export interface HostStats extends ConnectionStats {
  readonly transport: TransportStats;
}

/** Returns the milliseconds from tick to tick, at a rate per second that the user may have given. */
export const tickInterval = (ticksPerSecond = 60): number => {
  if (!(ticksPerSecond > 0 && ticksPerSecond <= 1000))
    throw new RangeError(`ticksPerSecond: ${ticksPerSecond} is not above 0 and at most 1000`);
  return 1000 / ticksPerSecond;
};

/** @throws RangeError when a transport does not take datagrams of so many bytes. */
export const fitsTransport = (size: number, { maxDatagramSize }: Transport): void => {
  if (maxDatagramSize < size)
    throw new RangeError(
      `maxDatagramSize: the transport takes ${maxDatagramSize} bytes of the ${size} that are needed; ` +
        'raise it, or lower fragmentAbove of the endpoint',
    );
};

/**
 * One end of a connection over a transport, which it takes over, with a tick of its own. Messages that arrive go to the
 * listeners of `message` events; while there is none they wait to be taken by `for await`, one by one with `next`, or
 * by the next listener. An application that takes none holds the sender back; nothing is lost and no memory grows.
 * Messages that have arrived can still be taken when the connection has ended.
 */
export abstract class Host<
  Of extends Schema,
  Events extends { message: ReceivedEvent<Of>; drain: Event },
  End extends DatagramEnd<Of> = DatagramEnd<Of>,
> extends MessagePeer<Of, Events, End> {
  /** The transport that carries the connection. @internal */
  protected carrier!: Transport;
  #ticks: Ticks | undefined;

  /**
   * Begins to tick and to take the datagrams of a transport, also those that arrived before.
   * @internal
   */
  protected start(carrier: Transport, interval: number): void {
    this.carrier = carrier;
    this.begin();
    const ticks = (this.#ticks = new Ticks(interval, () => this.tick()));
    carrier.ondatagram = (datagram) => {
      this.arrived(datagram);
      ticks.catchUp();
    };
  }

  /** The kind of transport that carries the connection. */
  get transport(): TransportKind {
    return this.carrier.kind;
  }

  stats(): HostStats {
    return { ...this.connection.stats(), transport: this.carrier.stats() };
  }

  /** Takes a datagram that arrived; returns whether it was one of this connection. @internal */
  protected arrived(datagram: Uint8Array<ArrayBuffer>): boolean {
    const taken = this.connection.receive(datagram, seconds());
    this.tellOfRoom();
    this.hand();
    return taken;
  }

  /** @internal */
  protected tick(): void {
    this.connection.update(seconds());
    this.settle();
    this.transmit();
    this.tellOfRoom();
  }

  /** Sends the datagrams that are due; `last` says that they are the last. @internal */
  protected transmit(last = false): void {
    const now = seconds();
    for (let out = this.connection.transmit(now); out; out = this.connection.transmit(now))
      this.carrier.send(out, last);
  }

  /** Stops the ticks; messages that have not been acked are lost. @internal */
  protected stop(): void {
    this.#ticks?.stop();
    this.giveUp();
  }

  /** Stops the host; loops over messages end when they have taken the last one. @internal */
  protected override finish(last: Event): void {
    this.stop();
    super.finish(last);
  }
}
