import type { SessionTransport } from '../src/transports/links.js';
import { WasmObject } from '../src/module.js';
import {
  CUBES_COUNT,
  CUBES_FIGURES,
  CUBES_RATE,
  CUBES_VIEW_SIZE,
  LINE_MAX_DATAGRAM,
  labCubesViewStatsStruct,
} from './generated.js';
import type { Lab } from './lab.js';

/** The seconds over which the rate is measured. */
const WINDOW_SECONDS = 1;
/** The farthest that the player can be told to go. */
const FULL = 127;

interface Sample {
  readonly ticks: number;
  readonly bytes: number;
  readonly snapshots: number;
}

/** The rate of a coding, over about the last second of the server. */
export interface Rate {
  /** Kilobits per second of all datagrams that came, without UDP and IP headers. */
  readonly kbit: number;
  /** The share of the snapshots of which everything came, from 0 to 1. */
  readonly whole: number;
}

const NOTHING: Sample = { ticks: 0, bytes: 0, snapshots: 0 };

/** A view of the cubes of a lab server, over a link. */
export class CubesView extends WasmObject<Lab> {
  /** Where the player shall go, from -1 to 1; both 0: by itself. */
  east = 0;
  north = 0;
  readonly #datagram: number;
  readonly #incoming: number;
  #samples = [NOTHING];

  constructor(lab: Lab, coding: number) {
    const { exports } = lab;
    const key = crypto.getRandomValues(new Uint32Array(1))[0]!;
    super(
      lab,
      lab.made((out) => exports.cw_lab_cubes_view_create(key, out)),
      exports.cw_lab_cubes_view_destroy,
    );
    this.#datagram = this.buffer(CUBES_VIEW_SIZE);
    this.#incoming = this.buffer(LINE_MAX_DATAGRAM);
    this.choose(coding);
  }

  /** Asks for another coding. */
  choose(coding: number): void {
    this.core.exports.cw_lab_cubes_view_choose(this.address, coding);
    this.#samples = [NOTHING];
  }

  /** Takes what comes over a link. */
  listen(transport: SessionTransport): void {
    transport.ondatagram = (datagram) => {
      const { core, address } = this;
      const size = core.memory.put(datagram, this.#incoming, LINE_MAX_DATAGRAM);
      core.exports.cw_lab_cubes_view_receive(address, this.#incoming, size);
    };
  }

  /** Sends the acks and the will of the player, once per tick. */
  tick(transport: SessionTransport): void {
    const { core, address } = this;
    const [east, north] = [this.east, this.north].map((part) => Math.round(FULL * part));
    const size = core.exports.cw_lab_cubes_view_transmit(
      address,
      east!,
      north!,
      this.#datagram,
      CUBES_VIEW_SIZE,
    );
    transport.send(core.memory.copy(this.#datagram, size));
  }

  /** The figures of the cubes as they are now: of each its position, its orientation, and whether it was touched. */
  get figures(): Float32Array {
    const at = this.core.exports.cw_lab_cubes_view_figures(this.address);
    return new Float32Array(this.core.memory.bytes.buffer, at, CUBES_COUNT * CUBES_FIGURES);
  }

  /** True when the server has no place left. */
  get full(): boolean {
    return this.stats.full !== 0;
  }

  /** Returns the rate, `undefined` before there is one. */
  rate(): Rate | undefined {
    const { datagrams, bytes, snapshots, first, newest } = this.stats;
    const now = { ticks: datagrams > 0 ? newest - first + 1 : 0, bytes, snapshots };
    this.#samples.push(now);
    const least = now.ticks - WINDOW_SECONDS * CUBES_RATE;
    while (this.#samples.length > 2 && this.#samples[1]!.ticks <= least) this.#samples.shift();
    const before = this.#samples[0]!;
    const ticks = now.ticks - before.ticks;
    if (ticks <= 0) return undefined;
    return {
      kbit: ((8 * (bytes - before.bytes)) / ticks) * (CUBES_RATE / 1000),
      whole: Math.min(1, (snapshots - before.snapshots) / ticks),
    };
  }

  /** The figures since the coding was chosen. */
  get stats() {
    return this.core.read(labCubesViewStatsStruct, (out) =>
      this.core.exports.cw_lab_cubes_view_get_stats(this.address, out),
    );
  }
}
