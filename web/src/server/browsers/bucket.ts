/** This bucket fills up at a rate. */
export class Bucket {
  readonly #perSecond: number;
  readonly #most: number;
  #level: number;
  #at = -Infinity;

  /**
   * @param perSecond the rate at which it fills
   * @param most so much may be taken at once
   */
  constructor(perSecond: number, most: number) {
    this.#perSecond = perSecond;
    this.#most = most;
    this.#level = most;
  }

  /** Returns whether nothing is missing. */
  isFull(now: number): boolean {
    this.#fill(now);
    return this.#level >= this.#most;
  }

  /** Takes so much out if there is as much; returns the seconds until then, 0 when it was taken. */
  take(amount: number, now: number): number {
    this.#fill(now);
    if (this.#level < amount) return (amount - this.#level) / this.#perSecond;
    this.#level -= amount;
    return 0;
  }

  /** Takes so much out, which may leave a debt; returns the seconds until it is paid. */
  charge(amount: number, now: number): number {
    this.#fill(now);
    this.#level -= amount;
    return Math.max(0, -this.#level) / this.#perSecond;
  }

  #fill(now: number): void {
    if (now > this.#at)
      this.#level = Math.min(this.#level + (now - this.#at) * this.#perSecond, this.#most);
    this.#at = now;
  }
}

/** Each owner of addresses has a bucket of its own, which is forgotten when nothing is missing in it. */
export class OwnerBuckets {
  readonly #perSecond: number;
  readonly #most: number;
  readonly #buckets = new Map<string, Bucket>();
  #lookedAt = -Infinity;

  /** @param perSecond and `most`: see {@link Bucket} */
  constructor(perSecond: number, most: number) {
    this.#perSecond = perSecond;
    this.#most = most;
  }

  /** Takes one out of an owner's bucket; returns whether there was one. */
  take(owner: string, now: number): boolean {
    if (now > this.#lookedAt + 1) this.#look(now);
    let bucket = this.#buckets.get(owner);
    if (!bucket) this.#buckets.set(owner, (bucket = new Bucket(this.#perSecond, this.#most)));
    return bucket.take(1, now) === 0;
  }

  #look(now: number): void {
    this.#lookedAt = now;
    for (const [owner, bucket] of this.#buckets)
      if (bucket.isFull(now)) this.#buckets.delete(owner);
  }
}
