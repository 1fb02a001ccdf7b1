import { WasmObject } from '../src/module.js';
import {
  labMatchConfigStruct,
  labMatchStatsStruct,
  labSpotStruct,
  type LabMatchConfig,
  type LabMatchStats,
  type LabSpot,
} from './generated.js';
import type { Lab } from './lab.js';

/** A game of some players, in lockstep or with a server and prediction. The same calls give the same match. */
export class Match extends WasmObject<Lab> {
  constructor(lab: Lab, config: LabMatchConfig) {
    const { exports } = lab;
    const address = lab.create(
      labMatchConfigStruct,
      config,
      exports.cw_lab_match_config_default,
      exports.cw_lab_match_create,
    );
    super(lab, address, exports.cw_lab_match_destroy);
  }

  /** Lets ticks pass, 60 of which are a second. */
  step(ticks: number): void {
    this.core.exports.cw_lab_match_step(this.address, ticks);
  }

  /** Cuts the slow player's line, or repairs it. */
  cut(cut: boolean): void {
    this.core.exports.cw_lab_match_cut(this.address, Number(cut));
  }

  /** Returns where a player is on a player's screen; the number after the last player's is the ball. */
  look(viewer: number, player: number): LabSpot {
    return this.core.read(labSpotStruct, (out) =>
      this.core.exports.cw_lab_match_look(this.address, viewer, player, out),
    );
  }

  /** Returns what a player has seen. */
  stats(player: number): LabMatchStats {
    return this.core.read(labMatchStatsStruct, (out) =>
      this.core.exports.cw_lab_match_get_stats(this.address, player, out),
    );
  }

  /**
   * Returns the hash of a player's state after so many turns, 16 hexadecimal digits; the number after the last
   * player's is the server. The result is undefined when the player has none.
   */
  hash(player: number, turns: number): string | undefined {
    const hash = this.core.exports.cw_lab_match_hash(this.address, player, turns);
    return hash === 0n ? undefined : BigInt.asUintN(64, hash).toString(16).padStart(16, '0');
  }
}
