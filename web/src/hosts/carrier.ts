import { seconds } from '../clock.js';
import { keepsNone } from '../transports/copying.js';
import type { Transport } from '../transports/transport.js';
import { Ticks } from './ticks.js';

/** An end of a connection that makes and takes datagrams. */
interface DatagramSource {
  transmit(now: number): Uint8Array<ArrayBuffer> | undefined;
  /** Does the same, but the datagram is gone after the next call into the module. */
  transmitView(now: number): Uint8Array<ArrayBuffer> | undefined;
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

/** Carries the datagrams of one end over a transport, which it takes over, with a tick of its own. */
export class Carrier {
  readonly transport: Transport;
  readonly #end: DatagramSource;
  #ticks: Ticks | undefined;

  constructor(end: DatagramSource, transport: Transport) {
    this.#end = end;
    this.transport = transport;
  }

  /**
   * Begins to tick and to take datagrams, also those that arrived before.
   * @param interval milliseconds from tick to tick
   */
  start(
    interval: number,
    arrived: (datagram: Uint8Array<ArrayBuffer>) => void,
    tick: () => void,
  ): void {
    const ticks = (this.#ticks = new Ticks(interval, tick));
    this.transport.ondatagram = (datagram) => {
      arrived(datagram);
      ticks.catchUp();
    };
  }

  /**
   * Sends the datagrams that are due; `last` says that they are the last.
   * @returns whether the transport took them all
   */
  transmit(last = false): boolean {
    const now = seconds();
    let taken = true;
    for (let out = this.#next(now); out; out = this.#next(now))
      taken = this.transport.send(out, last) && taken;
    return taken;
  }

  #next(now: number): Uint8Array<ArrayBuffer> | undefined {
    return keepsNone(this.transport) ? this.#end.transmitView(now) : this.#end.transmit(now);
  }

  /** Stops the ticks. */
  stop(): void {
    this.#ticks?.stop();
  }
}
