/** Node has this function; the types of the browser do not. */
declare const setImmediate: (run: () => void) => void;

/** Before a tick, the event loop reads at most this many times. Each time takes some 32 datagrams. */
const MOST_LOOKS = 64;

/**
 * This class ticks at a steady rate, with a new timer for each tick, so that the ticks do not drift. Before a tick,
 * everything is read that has arrived, because after a long pause of the program the clients would otherwise seem to be
 * silent.
 */
export class ServerTicks {
  readonly #interval: number;
  readonly #tick: () => void;
  readonly #arrived: () => number;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #due: number;
  #stopped = false;

  /**
   * @param interval milliseconds from tick to tick
   * @param arrived returns the number of datagrams that have been read so far
   */
  constructor(interval: number, tick: () => void, arrived: () => number) {
    this.#interval = interval;
    this.#tick = tick;
    this.#arrived = arrived;
    this.#due = performance.now();
    this.#wait();
  }

  stop(): void {
    this.#stopped = true;
    clearTimeout(this.#timer);
  }

  #wait(): void {
    const now = performance.now();
    // Ticks that were missed are skipped.
    this.#due = Math.max(this.#due + this.#interval, now);
    this.#timer = setTimeout(() => this.#look(MOST_LOOKS), this.#due - now);
  }

  /** Lets the event loop read, until it finds nothing more. */
  #look(left: number): void {
    const before = this.#arrived();
    setImmediate(() => {
      if (this.#stopped) return;
      if (left > 0 && this.#arrived() > before) return this.#look(left - 1);
      this.#tick();
      if (!this.#stopped) this.#wait();
    });
  }
}
