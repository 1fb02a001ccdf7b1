import type { Lab } from './lab.js';
import { TICKS_PER_SECOND, type Settings } from './settings.js';
import { Track } from './track.js';

/** A run of columns with the same settings, tick by tick. */
export class Run {
  readonly tracks: readonly Track[];
  ticks = 0;
  flooded = false;

  constructor(
    lab: Lab,
    readonly settings: Settings,
  ) {
    this.tracks = settings.protocols.map((protocol) => new Track(lab, protocol, settings));
  }

  /** The seconds since the run began. */
  get now(): number {
    return this.ticks / TICKS_PER_SECOND;
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
