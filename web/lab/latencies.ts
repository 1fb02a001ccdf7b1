/** The seconds of which a point of the plot over time shows the worst latency. */
const BUCKET_SECONDS = 0.1;
const BUCKETS = 100;
/** The distribution is kept in classes of equal ratio, from 1 millisecond up. */
const PER_DECADE = 80;
const DECADES = 4;
const CLASSES = PER_DECADE * DECADES;

/** The upper ends of the classes, in milliseconds. */
export const CLASS_ENDS = Float64Array.from(
  { length: CLASSES },
  (_, i) => 10 ** ((i + 1) / PER_DECADE),
);

const bucketOf = (time: number): number => Math.floor(time / BUCKET_SECONDS);

/** Returns the times of the points that `Latencies.overTime` gives, in seconds of the run. */
export const bucketTimes = (now: number): number[] =>
  Array.from({ length: BUCKETS }, (_, i) => (bucketOf(now) - BUCKETS + 1 + i) * BUCKET_SECONDS);

/** Records how long items took, over the last seconds and over the whole run. */
export class Latencies {
  count = 0;
  readonly #classes = new Uint32Array(CLASSES);
  readonly #worst = new Float64Array(BUCKETS).fill(NaN);
  #newest = 0;

  /** Records that a message arrived at `now` which took this many seconds. */
  add(now: number, seconds: number): void {
    this.count++;
    const place = Math.floor(Math.log10(Math.max(seconds * 1000, 1)) * PER_DECADE);
    this.#classes[Math.min(place, CLASSES - 1)]!++;
    this.see(now, seconds);
  }

  /** Records that at `now` a message has been on its way for this many seconds, whether or not it has arrived. */
  see(now: number, seconds: number): void {
    const bucket = bucketOf(now);
    while (this.#newest < bucket) this.#worst[++this.#newest % BUCKETS] = NaN;
    const milliseconds = Math.max(seconds * 1000, 1);
    const worst = this.#worst[bucket % BUCKETS]!;
    if (!(worst >= milliseconds)) this.#worst[bucket % BUCKETS] = milliseconds;
  }

  /** Returns the worst latency of each point, in milliseconds; null where no message arrived. */
  overTime(now: number): (number | null)[] {
    const last = bucketOf(now);
    return Array.from({ length: BUCKETS }, (_, i) => {
      const bucket = last - BUCKETS + 1 + i;
      const worst = bucket < 0 || bucket > this.#newest ? NaN : this.#worst[bucket % BUCKETS]!;
      return Number.isNaN(worst) ? null : worst;
    });
  }

  /** Returns the percentage of messages that took no longer than each of CLASS_ENDS. */
  distribution(): (number | null)[] {
    let sum = 0;
    return Array.from(this.#classes, (count) => {
      sum += count;
      return this.count === 0 ? null : (sum / this.count) * 100;
    });
  }

  /** Returns the latency that a share of the messages did not exceed, in milliseconds; NaN without messages. */
  quantile(share: number): number {
    let left = Math.ceil(this.count * share);
    for (let i = 0; i < CLASSES && this.count > 0; i++) {
      left -= this.#classes[i]!;
      if (left <= 0) return CLASS_ENDS[i]!;
    }
    return NaN;
  }
}
