import type { ConnectError } from '../errors.js';
import type { Transport } from './transport.js';

/** Opens one link. */
export type OpenLink = (how: {
  readonly signal: AbortSignal;
  readonly timeoutSeconds: number;
}) => Promise<Transport>;

/** The calls with which a dialer reports the outcome of its attempts. */
interface Outcome {
  opened(link: Transport): void;
  failed(error: unknown): void;
}

/**
 * An attempt to replace a lost link may take this many seconds at first, or twice the time that the last link took when
 * that is longer. Then the time of an attempt and the pauses grow by this factor. When no relay answers, a pause is
 * about 0.3 of the time for which the relay has been gone: a second after three.
 */
const REPLACE_SECONDS = 4;
const GROWTH = 1.3;

/** Seconds of the first pause on average, and how often pauses grow: to 2.7 s. */
const PAUSE_SECONDS = 0.15;
const GROWTHS = 11;

/**
 * An attempt beside an open link may take at least this many seconds, because nobody waits for it. WebRTC takes some
 * seven round trips to open, so 10 s were not enough with round trips of 2 s.
 */
const BESIDE_SECONDS = 30;

/**
 * Returns the milliseconds of a pause that takes some seconds on average, after those, at most 60, for which the relay
 * has asked with `Retry-After`. Pauses are anywhere between none and twice the average ("full jitter"), so that the
 * pages of a relay that has failed do not come back together.
 */
export const pauseMs = (seconds: number, error?: unknown): number =>
  (Math.min((error as ConnectError | undefined)?.retryAfterSeconds ?? 0, 60) +
    2 * seconds * Math.random()) *
  1000;

/** Opens links of one kind for as long as they are wanted: one attempt at a time, on a schedule of its own. */
export class Dialer {
  readonly #open: OpenLink;
  readonly #timeoutSeconds: number;
  readonly #outcome: Outcome;
  #attempt: AbortController | undefined;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #failures = 0;
  #took = 0;

  constructor(open: OpenLink, timeoutSeconds: number, outcome: Outcome) {
    this.#open = open;
    this.#timeoutSeconds = timeoutSeconds;
    this.#outcome = outcome;
  }

  /** True when an attempt runs or is to come. */
  get isBusy(): boolean {
    return Boolean(this.#attempt ?? this.#timer);
  }

  /** Seconds from the beginning of the last attempt that opened a link; more than a round trip. */
  get took(): number {
    return this.#took;
  }

  /** Begins an attempt, unless one runs. */
  dial(timeoutSeconds = this.#timeoutSeconds): void {
    if (this.#attempt) return;
    this.#cancelTimer();
    const attempt = new AbortController();
    this.#attempt = attempt;
    const began = performance.now();
    this.#open({ signal: attempt.signal, timeoutSeconds }).then(
      (link) => {
        if (this.#attempt !== attempt) return link.close();
        this.#attempt = undefined;
        this.#took = (performance.now() - began) / 1000;
        this.#outcome.opened(link);
      },
      (error: unknown) => {
        if (this.#attempt !== attempt) return;
        this.#attempt = undefined;
        this.#outcome.failed(error);
      },
    );
  }

  /** Begins an attempt beside an open link after about this many seconds. */
  dialIn(seconds: number, error?: unknown): void {
    this.#wait(seconds, error, () => this.dial(Math.max(this.#timeoutSeconds, BESIDE_SECONDS)));
  }

  /** Begins to replace a lost link at once, unless an attempt runs. */
  replace(): void {
    const seconds = Math.max(REPLACE_SECONDS, 2 * this.#took) * GROWTH ** this.#failures;
    this.dial(Math.min(this.#timeoutSeconds, seconds));
  }

  /** Tries again to replace a lost link, after a pause that grows each time; `error` says why the last one failed. */
  replaceLater(error?: unknown): void {
    this.#wait(PAUSE_SECONDS * GROWTH ** this.#failures, error, () => this.replace());
    this.#failures = Math.min(this.#failures + 1, GROWTHS);
  }

  /** Stops, because no link is wanted any more. */
  stop(): void {
    this.#cancelTimer();
    const attempt = this.#attempt;
    this.#attempt = undefined;
    attempt?.abort();
  }

  /** Makes the next pause as short as the first one was. */
  forgive(): void {
    this.#failures = 0;
  }

  #wait(seconds: number, error: unknown, then: () => void): void {
    this.#cancelTimer();
    this.#timer = setTimeout(
      () => {
        this.#timer = undefined;
        then();
      },
      pauseMs(seconds, error),
    );
  }

  #cancelTimer(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }
}
