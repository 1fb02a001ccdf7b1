/** At most this many bytes wait at the same time. */
const MAX_BYTES = 65536;

/** Milliseconds between two looks at whether waiting datagrams can leave. */
const LOOK_INTERVAL = 5;

/** The option of all transports that says how long datagrams may wait. */
export interface BacklogOptions {
  /**
   * The seconds for which a datagram may wait to leave while earlier ones do; after that it is dropped. With 0 it is
   * dropped at once. Default 0.1.
   */
  readonly maxWaitSeconds?: number;
}

/** Datagrams that have waited leave through an outlet. */
export interface Outlet {
  /** Returns whether a datagram of this size in bytes cannot leave now. */
  isBusy(size: number): boolean;
  leave(datagram: Uint8Array<ArrayBuffer>): void;
  /** Drops a datagram that has waited for too long. */
  drop(datagram: Uint8Array<ArrayBuffer>): void;
}

/**
 * A backlog has the datagrams of a burst that cannot leave at once. They keep their order, and none waits for longer
 * than it may.
 */
export class Backlog {
  readonly #outlet: Outlet;
  readonly #maxWait: number;
  readonly #waiting: { readonly datagram: Uint8Array<ArrayBuffer>; readonly until: number }[] = [];
  #bytes = 0;
  #timer: ReturnType<typeof setTimeout> | undefined;

  /** @throws RangeError when the time to wait is not 0 or more */
  constructor(outlet: Outlet, { maxWaitSeconds = 0.1 }: BacklogOptions) {
    if (!(maxWaitSeconds >= 0))
      throw new RangeError(`maxWaitSeconds: ${maxWaitSeconds} is not 0 or more`);
    this.#outlet = outlet;
    this.#maxWait = maxWaitSeconds * 1000;
  }

  /** The number of datagrams that wait. */
  get length(): number {
    return this.#waiting.length;
  }

  /** Keeps a copy of a datagram; returns false when there is no room, or when it may not wait. */
  add(datagram: Uint8Array<ArrayBuffer>): boolean {
    if (this.#maxWait === 0 || this.#bytes + datagram.length > MAX_BYTES) return false;
    const until = performance.now() + this.#maxWait;
    this.#waiting.push({ datagram: datagram.slice(), until });
    this.#bytes += datagram.length;
    this.#lookLater();
    return true;
  }

  /** Sends the datagrams that can leave, and drops those that have waited for too long. */
  flush(): void {
    const now = performance.now();
    for (let first = this.#waiting[0]; first; first = this.#waiting[0]) {
      const { datagram, until } = first;
      const isLate = now > until;
      if (!isLate && this.#outlet.isBusy(datagram.length)) return;
      this.#waiting.shift();
      this.#bytes -= datagram.length;
      if (isLate) this.#outlet.drop(datagram);
      else this.#outlet.leave(datagram);
    }
  }

  /** Ends the waiting, because nothing can leave any more. Returns the datagrams that waited. */
  end(): Uint8Array<ArrayBuffer>[] {
    clearTimeout(this.#timer);
    this.#bytes = 0;
    return this.#waiting.splice(0).map(({ datagram }) => datagram);
  }

  #lookLater(): void {
    this.#timer ??= setTimeout(() => {
      this.#timer = undefined;
      this.flush();
      if (this.#waiting.length > 0) this.#lookLater();
    }, LOOK_INTERVAL);
  }
}
