/** Seconds without a tick after which the page did not run: it was frozen, or the machine slept. */
const ABSENCE = 2;

/** Seconds in which a server that still knows the client is heard after an absence. */
const RETURN = 3;

/**
 * Seconds of silence until another link is tried. They double each time, and halve in times of calm, but not
 * below twice what the server is silent for by itself.
 */
const PATIENCE = 0.5;
const MOST_PATIENCE = 16;
const CALM = 60;

/** Seconds by the clock of the world, which goes on while the machine sleeps. */
const worldSeconds = (): number => Date.now() / 1000;

/** Notices when nothing comes from a server any more, and when the page did not run. */
export class Presence {
  /** For how many seconds the page did not run, if nothing has come since. */
  absence = 0;
  #patience = PATIENCE;
  /** When something came last, or could not come for a reason that is known. */
  #heard: number;
  /** When another link was tried last, or the patience was lowered. */
  #tried: number;
  /** Whether another link was tried since something came. */
  #trying = false;
  /** The longest silences that ended by themselves: lately, and in the time of calm before. */
  #silence = 0;
  #earlierSilence = 0;
  /** When the page ran again and had a link. */
  #back = 0;
  #ran = worldSeconds();

  constructor(now: number) {
    this.#heard = this.#tried = now;
  }

  /**
   * First thing in each tick and when something arrives: notices what has been missed.
   * @param linked whether there is a link, over which something could have come
   */
  look(now: number, linked: boolean): void {
    const away = worldSeconds() - this.#ran;
    this.#ran += away;
    if (away > ABSENCE) this.absence += away;
    if (away > ABSENCE || !linked) this.#heard = this.#back = now;
    this.#trying ||= !linked;
  }

  /** Something came from the server. */
  heard(now: number): void {
    this.absence = 0;
    if (!this.#trying) this.#silence = Math.max(this.#silence, now - this.#heard);
    this.#trying = false;
    this.#heard = now;
  }

  /** Once a tick: whether it has been silent for so long that another link should be tried. */
  isSilent(now: number): boolean {
    const isCalm = now - this.#tried > CALM;
    const isSilent = now - Math.max(this.#heard, this.#tried) > this.#patience;
    if (isCalm || isSilent) this.#tried = now;
    if (isSilent) {
      this.#patience = Math.min(this.#patience * 2, MOST_PATIENCE);
      this.#trying = true;
    } else if (isCalm) {
      const usual = Math.max(this.#silence, this.#earlierSilence);
      this.#patience = Math.min(Math.max(this.#patience / 2, PATIENCE, usual * 2), MOST_PATIENCE);
      [this.#earlierSilence, this.#silence] = [this.#silence, 0];
    }
    return isSilent;
  }

  /** Whether the page is back from an absence, has a link, and the server seems to know nothing of it. */
  isForgotten(now: number): boolean {
    return this.absence > 0 && now - this.#back > RETURN;
  }
}
