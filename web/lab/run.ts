import { TICKS_PER_SECOND, type Settings } from './settings.js';
import type { Track } from './track.js';

/** A run of columns with the same settings, tick by tick. */
export class Run<Of extends Track = Track> {
  ticks = 0;
  flooded = false;

  /** @param clock the seconds since the run began, when these are not those of its ticks */
  constructor(
    readonly settings: Settings,
    readonly tracks: readonly Of[],
    readonly clock?: () => number,
  ) {}

  /** The seconds since the run began. */
  get now(): number {
    return this.clock?.() ?? this.ticks / TICKS_PER_SECOND;
  }

  /** Lets this many ticks pass. */
  advance(ticks: number): void {
    for (let i = 0; i < ticks; i++) {
      this.ticks++;
      for (const track of this.tracks) track.step(this.ticks);
    }
  }

  /** Begins or ends a flood, which is no part of the settings: another run begins without it. */
  flood(on: boolean): void {
    this.flooded = on;
    for (const track of this.tracks) track.flood(on);
  }

  destroy(): void {
    for (const track of this.tracks) track.destroy();
  }
}
