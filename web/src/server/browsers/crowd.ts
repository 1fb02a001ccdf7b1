import { seconds } from '../../clock.js';
import { OwnerBuckets } from './bucket.js';

/** The sessions of each owner of addresses, which are limited, and so is how fast an owner may open them. */
export class Crowd {
  readonly #most: number;
  readonly #sessions = new Map<string, number>();
  readonly #openings: OwnerBuckets;

  /** @param most the sessions of an owner; ten seconds bring as many new ones, and they may all come at once */
  constructor(most: number) {
    this.#most = most;
    this.#openings = new OwnerBuckets(most / 10, most);
  }

  /** Returns the number of sessions of an owner. */
  of(owner: string): number {
    return this.#sessions.get(owner) ?? 0;
  }

  /** Counts one session more, unless there are too many; returns whether it was counted. */
  enter(owner: string): boolean {
    const count = this.of(owner);
    if (count >= this.#most || !this.#openings.take(owner, seconds())) return false;
    this.#sessions.set(owner, count + 1);
    return true;
  }

  leave(owner: string): void {
    const left = this.of(owner) - 1;
    if (left > 0) this.#sessions.set(owner, left);
    else this.#sessions.delete(owner);
  }
}
