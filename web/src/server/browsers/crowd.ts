import { seconds } from '../../clock.js';
import { Bucket } from './bucket.js';

interface Count {
  sessions: number;
  readonly openings: Bucket;
}

/** The sessions of each owner of addresses, which are limited, and so is how fast an owner may open them. */
export class Crowd {
  readonly #most: number;
  readonly #counts = new Map<string, Count>();

  /** @param most the sessions of an owner; ten seconds bring as many new ones, and they may all come at once */
  constructor(most: number) {
    this.#most = most;
  }

  /** Returns the number of sessions of an owner. */
  of(owner: string): number {
    return this.#counts.get(owner)?.sessions ?? 0;
  }

  /** Counts one session more, unless there are too many; returns whether it was counted. */
  enter(owner: string): boolean {
    const count = this.#counts.get(owner) ?? {
      sessions: 0,
      openings: new Bucket(this.#most / 10, this.#most),
    };
    if (count.sessions >= this.#most || count.openings.take(1, seconds()) > 0) return false;
    count.sessions++;
    this.#counts.set(owner, count);
    return true;
  }

  leave(owner: string): void {
    this.#counts.get(owner)!.sessions--;
  }

  /** Forgets the owners who could begin anew. Call it every second. */
  look(now: number): void {
    for (const [owner, { sessions, openings }] of this.#counts)
      if (sessions === 0 && openings.isFull(now)) this.#counts.delete(owner);
  }
}
