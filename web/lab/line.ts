import { WasmObject } from '../src/module.js';
import {
  LINE_MAX_DATAGRAM,
  labAnswers,
  labColumnEventStruct,
  labControlStruct,
  labGameStatsStruct,
  labLineConfigStruct,
  labLineStatsStruct,
  labWaitings,
  labWireStatsStruct,
  type LabControl,
  type LabGameStats,
  type LabLineConfig,
  type LabWireStats,
} from './generated.js';
import { eventOf, named, trafficNumbers } from './lab.js';
import type { ColumnEvent, End, Lab, Traffic, Waiting } from './lab.js';

/** The facts that a line knows of the network and of the lab server. */
export interface LineStats {
  /** A datagram's round trip in seconds, smoothed; 0 before there is one. */
  readonly rtt: number;
  /** The shortest round trip. */
  readonly leastRtt: number;
  /** The time when something came from the server; 0: never. */
  readonly heard: number;
  readonly answer: (typeof labAnswers)[keyof typeof labAnswers];
}

/** The client's end of a column over a real network. Times are seconds of one clock. */
export class Line extends WasmObject<Lab> {
  constructor(lab: Lab, protocol: string, config: Omit<LabLineConfig, 'protocol'>) {
    const { exports } = lab;
    const address = lab.create(
      labLineConfigStruct,
      { ...config, protocol: lab.protocols.indexOf(protocol) },
      exports.cw_lab_line_config_default,
      exports.cw_lab_line_create,
    );
    super(lab, address, exports.cw_lab_line_destroy);
  }

  /** Takes a datagram that arrived. */
  receive(datagram: Uint8Array, now: number): void {
    const { core, address } = this;
    const at = core.memoryFor(datagram.length);
    core.memory.bytes.set(datagram, at);
    core.exports.cw_lab_line_receive(address, at, datagram.length, now);
  }

  /** Lets a tick pass. */
  step(now: number): void {
    this.core.exports.cw_lab_line_step(this.address, now);
  }

  /** Returns the datagrams to be sent, after a receive or a step. */
  *transmit(now: number): Generator<Uint8Array<ArrayBuffer>> {
    const { core, address } = this;
    for (;;) {
      const out = core.memoryFor(LINE_MAX_DATAGRAM);
      const size = core.exports.cw_lab_line_transmit(address, out, LINE_MAX_DATAGRAM, now);
      if (size === 0) return;
      yield core.memory.copy(out, size);
    }
  }

  /** Takes the events since the last call. */
  *events(): Generator<ColumnEvent> {
    const { core, address } = this;
    let more = 1;
    const take = (out: number): void => {
      more = core.exports.cw_lab_line_next(address, out);
    };
    for (;;) {
      const event = core.read(labColumnEventStruct, take);
      if (!more) return;
      yield eventOf(event);
    }
  }

  /** Returns the statistics of the datagrams from an end, as far as they are known here. */
  wireStats(sender: End): LabWireStats {
    return this.core.read(labWireStatsStruct, (out) =>
      this.core.exports.cw_lab_line_wire_stats(this.address, sender, out),
    ) as unknown as LabWireStats;
  }

  /** Returns what became of the items of one kind. */
  itemStats(traffic: Traffic, now: number): LabGameStats {
    return this.core.read(labGameStatsStruct, (out) =>
      this.core.exports.cw_lab_line_item_stats(this.address, trafficNumbers[traffic], now, out),
    ) as unknown as LabGameStats;
  }

  /** Returns what an end waits for. */
  waiting(end: End): { readonly kind: Waiting; readonly number: number } {
    const { core, address } = this;
    const { memory, scratch } = core;
    memory.setU32(scratch, 0);
    const kind = core.exports.cw_lab_line_waiting(address, end, scratch);
    return { kind: named(labWaitings, kind)!, number: memory.u32(scratch) };
  }

  /** The state of the client's flow control. */
  get control(): LabControl {
    const control = this.core.read(labControlStruct, (out) =>
      this.core.exports.cw_lab_line_control(this.address, out),
    );
    return { ...control, good: control['good'] !== 0 } as LabControl;
  }

  get stats(): LineStats {
    const stats = this.core.read(labLineStatsStruct, (out) =>
      this.core.exports.cw_lab_line_get_stats(this.address, out),
    );
    return { ...stats, answer: named(labAnswers, stats['answer'])! } as unknown as LineStats;
  }
}
