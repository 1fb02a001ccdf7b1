/** The round trip and the loss of the connection at present, in seconds and as a share. */
export interface Line {
  readonly rtt: number;
  readonly loss: number;
}

/** The time by which Linux waits longer than a round trip before it sends a segment again. */
const TIMER_SECONDS = 0.2;
/** A sender knows that a segment is missing when so many later ones have come. */
const DUPLICATE_ACKS = 3;
/** With a gap of more packets, or with more that wait because nobody looks, the stream begins anew. */
const MOST = 150;

/** An entry that did not come, and when a stream would have it after all. */
interface Gap {
  later: number;
  due: number;
}

/**
 * This stream delivers the packets of a connection as TCP would: all in order, so that a lost one holds up all later ones
 * until it has been sent again. Only the wait is simulated; the losses are those that really happened. The stream is a
 * good one: it knows each gap by itself, and a loss does not make it slower.
 */
export class OrderedStream<Entry> {
  readonly #arrived = new Map<number, Entry>();
  readonly #gaps = new Map<number, Gap>();
  #next = Infinity;
  #highest = -1;

  /** `random` decides whether what is sent again is lost too. */
  constructor(readonly random: () => number = Math.random) {}

  /** Takes what came over the connection under this number, on a line that now does `line`. */
  receive(number: number, entry: Entry, now: number, line: Line): void {
    const isFar = number > this.#highest + MOST || this.#arrived.size >= MOST;
    if (this.#next === Infinity || isFar) this.#begin(number);
    if (number < this.#next) return;
    this.#arrived.set(number, entry);
    this.#gaps.delete(number);
    for (const [missing, gap] of this.#gaps)
      if (missing < number && ++gap.later === DUPLICATE_ACKS)
        gap.due = Math.min(gap.due, now + this.#repair(line));
    for (let missing = this.#highest + 1; missing < number; missing++)
      this.#gaps.set(missing, { later: 1, due: now + TIMER_SECONDS + this.#repair(line) });
    this.#highest = Math.max(this.#highest, number);
  }

  /** Takes what the stream has delivered by now, in order. */
  *take(now: number): Generator<Entry, void> {
    for (; this.#next <= this.#highest; this.#next++) {
      const entry = this.#arrived.get(this.#next);
      // A lost entry is not shown even when it has been sent again: the one after it is there at the same moment.
      if (entry === undefined && (this.#gaps.get(this.#next)?.due ?? now) > now) return;
      this.#arrived.delete(this.#next);
      this.#gaps.delete(this.#next);
      if (entry !== undefined) yield entry;
    }
  }

  #begin(number: number): void {
    this.#arrived.clear();
    this.#gaps.clear();
    this.#next = this.#highest = number;
  }

  /** Returns the seconds until something that is sent again is there; each further loss doubles the timer. */
  #repair({ rtt, loss }: Line): number {
    let seconds = rtt;
    for (let timer = rtt + TIMER_SECONDS; timer < 4 && this.random() < loss; timer *= 2)
      seconds += timer;
    return seconds;
  }
}
