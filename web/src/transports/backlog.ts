/** Bytes that may wait. */
const MAX_BYTES = 65536;

/** Milliseconds after which it is seen again whether what waits can leave. */
const LOOK_INTERVAL = 5;

/** How long datagrams may wait, as the options of all transports say it. */
export interface BacklogOptions {
  /**
   * How long a datagram may wait to leave while earlier ones do; after that it is dropped. 0: it is dropped at
   * once. Default 0.1.
   */
  readonly maxWaitSeconds?: number;
}

/** Where datagrams wait, and what becomes of them. */
export interface Way {
  /** Whether a datagram of so many bytes cannot leave now. */
  isBusy(size: number): boolean;
  leave(datagram: Uint8Array<ArrayBuffer>): void;
  /** It has waited for too long. */
  drop(datagram: Uint8Array<ArrayBuffer>): void;
}

/** The datagrams of a burst that is more than may leave at once: in order, and none for longer than it may wait. */
export class Backlog {
  readonly #way: Way;
  readonly #maxWait: number;
  readonly #waiting: { readonly datagram: Uint8Array<ArrayBuffer>; readonly until: number }[] = [];
  #bytes = 0;
  #timer: ReturnType<typeof setTimeout> | undefined;

  /** @throws RangeError when there is no such time. */
  constructor(way: Way, { maxWaitSeconds = 0.1 }: BacklogOptions) {
    if (!(maxWaitSeconds >= 0))
      throw new RangeError(`maxWaitSeconds: ${maxWaitSeconds} is not 0 or more`);
    this.#way = way;
    this.#maxWait = maxWaitSeconds * 1000;
  }

  /** How many datagrams wait. */
  get length(): number {
    return this.#waiting.length;
  }

  /** Keeps a copy of a datagram; false when there is no room or it may not wait. */
  add(datagram: Uint8Array<ArrayBuffer>): boolean {
    if (this.#maxWait === 0 || this.#bytes + datagram.length > MAX_BYTES) return false;
    const until = performance.now() + this.#maxWait;
    this.#waiting.push({ datagram: datagram.slice(), until });
    this.#bytes += datagram.length;
    this.#lookLater();
    return true;
  }

  /** Has leave what can, and drops what has waited for too long. */
  flush(): void {
    const now = performance.now();
    for (let first = this.#waiting[0]; first; first = this.#waiting[0]) {
      const { datagram, until } = first;
      const isLate = now > until;
      if (!isLate && this.#way.isBusy(datagram.length)) return;
      this.#waiting.shift();
      this.#bytes -= datagram.length;
      if (isLate) this.#way.drop(datagram);
      else this.#way.leave(datagram);
    }
  }

  /** Nothing can leave any more; gives what waited. */
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
