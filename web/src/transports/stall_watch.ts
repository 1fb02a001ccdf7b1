/** Datagrams that come within this many seconds of each other are a group: TCP hands out at once what it held back. */
const GROUP_SECONDS = 0.004;

/** A stall is this many times as long as the mean time between groups, and ends with as many datagrams at least. */
const LONG = 3;
/** The group at the end of a stall is this many times as large as the mean. */
const LARGE = 2;

/** The means are known after this many groups; then each changes them by one part in as many. */
const KNOWN = 16;

/**
 * Sees from the times of datagrams that a TCP connection has stalled: nothing came for a while, and then much at once. A
 * page that was busy meanwhile sees the same, but it has sent nothing either.
 */
export class StallWatch {
  /** The time of the last datagram that came, and of the last in either direction. */
  #last = Infinity;
  #active = Infinity;
  /** The longest time without a datagram in either direction since the last group began. */
  #quiet = 0;
  /** The time before this group, the number of its datagrams, and the number with which it ends a stall. */
  #gap = 0;
  #size = 0;
  #wanted = Infinity;
  #groups = 0;
  #meanGap = 0;
  #meanSize = 0;

  /** Notes that a datagram was sent. */
  sent(now: number): void {
    this.#quiet = Math.max(this.#quiet, now - this.#active);
    this.#active = now;
  }

  /** Notes that a datagram came; returns whether it ends a stall. */
  came(now: number): boolean {
    const gap = now - this.#last;
    this.sent(now);
    this.#last = now;
    if (gap >= GROUP_SECONDS) this.#begin(gap);
    return ++this.#size === this.#wanted;
  }

  #begin(gap: number): void {
    if (this.#size < this.#wanted) {
      this.#groups = Math.min(this.#groups + 1, KNOWN);
      this.#meanGap += (this.#gap - this.#meanGap) / this.#groups;
      this.#meanSize += (this.#size - this.#meanSize) / this.#groups;
    }
    const isStall = this.#groups === KNOWN && gap > LONG * this.#meanGap && this.#quiet < gap / 2;
    this.#wanted = isStall ? Math.ceil(Math.max(LONG, LARGE * this.#meanSize)) : Infinity;
    this.#gap = gap;
    this.#size = 0;
    this.#quiet = 0;
  }
}
