/**
 * A hidden page ticks after this many milliseconds when nothing arrives, which is often enough to keep its connection.
 */
const HIDDEN_INTERVAL = 100;

/**
 * This class ticks at a steady rate. Browsers let the timers of a hidden page run once a second, or once a minute. So a
 * tick that is late runs as soon as any other code does: when something arrives, or when a Worker calls, whose timers
 * browsers leave alone. A page that may have no Worker has to rely on what arrives.
 */
export class Ticks {
  readonly #interval: number;
  readonly #tick: () => void;
  readonly #timer: ReturnType<typeof setInterval>;
  readonly #page = globalThis.document as Document | undefined;
  /** Stops the Worker that wakes a hidden page. */
  #sleep: (() => void) | undefined;
  #due: number;
  #stopped = false;
  readonly #shown = (): void => {
    this.#sleep?.();
    this.#sleep = this.#page?.hidden ? wakeByWorker(() => this.catchUp()) : undefined;
    this.catchUp();
  };

  /** @param interval milliseconds from tick to tick */
  constructor(interval: number, tick: () => void) {
    this.#interval = interval;
    this.#tick = tick;
    this.#due = performance.now() + interval;
    // A timer may be a little early and is still meant for the next tick.
    this.#timer = setInterval(() => this.#run(interval / 2), interval);
    this.#page?.addEventListener('visibilitychange', this.#shown);
    if (this.#page?.hidden) this.#shown();
  }

  /** Runs a tick if one is late. */
  catchUp(): void {
    this.#run(0);
  }

  stop(): void {
    this.#stopped = true;
    clearInterval(this.#timer);
    this.#sleep?.();
    this.#page?.removeEventListener('visibilitychange', this.#shown);
  }

  /** Runs the next tick, unless it is due in more than `early` milliseconds. */
  #run(early: number): void {
    const now = performance.now();
    if (this.#stopped || now < this.#due - early) return;
    // Ticks that were missed are skipped.
    this.#due = Math.max(this.#due + this.#interval, now + this.#interval / 2);
    this.#tick();
  }
}

/**
 * Has a Worker call the page until it is stopped. Does nothing where the page's policy or the engine refuses
 * a Worker.
 * @returns a function that stops it
 */
function wakeByWorker(wake: () => void): () => void {
  try {
    const source = `setInterval(() => postMessage(0), ${HIDDEN_INTERVAL})`;
    const url = URL.createObjectURL(new Blob([source], { type: 'text/javascript' }));
    const worker = new Worker(url);
    worker.onmessage = wake;
    return () => {
      worker.terminate();
      URL.revokeObjectURL(url);
    };
  } catch {
    return () => {};
  }
}
