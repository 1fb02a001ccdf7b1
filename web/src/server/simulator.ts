import { WasmObject } from '../module.js';
import type { ServerCore } from './core.js';
import {
  simulatorConfigAt,
  simulatorConfigStruct,
  simulatorPathStruct,
  simulatorStatsStruct,
} from '../generated.js';

/**
 * The effects of a simulated path on datagrams. An option that is not given has no effect. Chances and losses are from
 * 0 to 1.
 */
export interface SimulatorPath {
  /** Every datagram takes at least this long. */
  readonly latencySeconds?: number;
  /** Each datagram takes up to this much longer, so that late ones are overtaken. */
  readonly jitterSeconds?: number;
  /** The chance of being lost, in the good state of two. */
  readonly loss?: number;
  /** The chance per datagram that the good state ends before it. With 0 there is only the good state. */
  readonly burstStart?: number;
  /** The chance per datagram that the bad state ends before it. */
  readonly burstEnd?: number;
  /** The chance of being lost in the bad state. */
  readonly burstLoss?: number;
  /** The chance of arriving twice. */
  readonly duplicate?: number;
  /** The chance of being held up by `reorderDelaySeconds`. */
  readonly reorder?: number;
  readonly reorderDelaySeconds?: number;
  /** The bytes that pass in a second; 0 for no limit. */
  readonly bytesPerSecond?: number;
  /** The bytes that may wait for their turn; a datagram that finds more is dropped. Default 65536. */
  readonly queueBytes?: number;
}

/** The options of a {@link Simulator}. */
export interface SimulatorConfig extends SimulatorPath {
  /** The same seed and the same calls give the same result. A whole number; default 0. */
  readonly seed?: number;
  /** Longest datagram in bytes. Default 1400. */
  readonly maxDatagramSize?: number;
  /** Datagrams under way at the same time; more are dropped. Default 256. */
  readonly maxDatagrams?: number;
}

/** This is what really happened on a simulated path, counted since the constructor. */
export interface SimulatorStats {
  /** Datagrams taken. */
  readonly datagramsReceived: number;
  /** Datagrams lost by `loss` and `burstLoss`. */
  readonly datagramsLost: number;
  /** Datagrams dropped because too many were under way. */
  readonly datagramsOverflowed: number;
  /** Copies made. */
  readonly datagramsDuplicated: number;
  /** Datagrams that left after one that came later. */
  readonly datagramsReordered: number;
  /** Datagrams that left, copies included. */
  readonly datagramsTransmitted: number;
  /** Datagrams that have not left yet. */
  readonly datagramsUnderWay: number;
  readonly bytesReceived: number;
  readonly bytesTransmitted: number;
}

/**
 * One direction of a bad network: `transmit` returns the datagrams that `receive` was given, later, more than once or
 * never. The time, in seconds that only go forward, comes from the caller.
 */
export class Simulator extends WasmObject<ServerCore> {
  /** Longest datagram that `receive` takes, in bytes. */
  readonly maxDatagramSize: number;
  readonly #buffer: number;

  /** @throws {@link MisuseError} `CONFIG` when the config cannot work. */
  constructor(core: ServerCore, config: SimulatorConfig = {}) {
    const { exports } = core;
    const { seed = 0 } = config;
    const values = { ...config, seed: seed >= 0 && seed < 2 ** 64 ? Math.floor(seed) : 0 };
    const defaults = exports.cw_simulator_config_default;
    const options = core.configure(simulatorConfigStruct, values, defaults);
    const made = core.made((out) => exports.cw_simulator_create(options, out));
    super(core, made, exports.cw_simulator_destroy);
    this.maxDatagramSize = core.memory.u32(options + simulatorConfigAt.maxDatagramSize);
    this.#buffer = this.buffer(this.maxDatagramSize);
    this.change(config);
  }

  /** Changes the path for datagrams received from now on; those under way stay as they are. */
  change(path: SimulatorPath): void {
    const { exports, memory, scratch } = this.core;
    exports.cw_simulator_config_default(scratch);
    const perfect = scratch + simulatorConfigAt.path;
    memory.setConfig(perfect, simulatorPathStruct, path);
    this.core.check(exports.cw_simulator_change(this.address, perfect));
  }

  /** @throws {@link MisuseError} `PACKET_TOO_LARGE` when the datagram is above `maxDatagramSize`. */
  receive(datagram: Uint8Array, now: number): void {
    const { core, address } = this;
    if (datagram.length > this.maxDatagramSize) throw core.error('PACKET_TOO_LARGE');
    core.memory.bytes.set(datagram, this.#buffer);
    core.check(core.exports.cw_simulator_receive(address, this.#buffer, datagram.length, now));
  }

  /** Returns the next datagram that is due, or `undefined` when there is none. */
  transmit(now: number): Uint8Array<ArrayBuffer> | undefined {
    const { exports, memory } = this.core;
    const size = exports.cw_simulator_transmit(
      this.address,
      this.#buffer,
      this.maxDatagramSize,
      now,
    );
    return size > 0 ? memory.copy(this.#buffer, size) : undefined;
  }

  /** The time when the next datagram is due, on the caller's clock; `Infinity` when none is under way. */
  get due(): number {
    return this.core.exports.cw_simulator_due(this.address);
  }

  /** Returns what really happened on the path. */
  stats(): SimulatorStats {
    const { core, address } = this;
    return core.read(simulatorStatsStruct, (out) =>
      core.exports.cw_simulator_get_stats(address, out),
    );
  }
}
