import { WasmModule, WasmObject } from '../src/module.js';
import { loader, type LoadOptions } from '../src/wasm_source.js';
import {
  labColumnConfigStruct,
  labColumnEventStruct,
  labColumnEventTypes,
  labControlStruct,
  labGameStatsStruct,
  labPacketStruct,
  labSettingsStruct,
  labTraffics,
  labWaitings,
  labWireStatsStruct,
  type LabColumnConfig,
  type LabControl,
  type LabExports,
  type LabGameStats,
  type LabPacket,
  type LabSettings,
  type LabWireStats,
} from './generated.js';

export type {
  LabControl,
  LabGameStats,
  LabPacket,
  LabSettings,
  LabWireStats,
} from './generated.js';

/** One of the two ends of a column. */
export type End = 0 | 1;
export type Traffic = (typeof labTraffics)[keyof typeof labTraffics];
export type Waiting = (typeof labWaitings)[keyof typeof labWaitings];

/** Returns the name of an enum's number. */
export const named = <Name extends string>(
  names: Readonly<Record<string, Name>>,
  number: number | undefined,
): Name | undefined => names[String(number)];

export const trafficNumbers = Object.fromEntries(
  Object.entries(labTraffics).map(([number, name]) => [name, Number(number)]),
) as Record<Traffic, number>;

/** Something that happened in a column, at `time` seconds of its clock. */
export interface ColumnEvent {
  readonly type: (typeof labColumnEventTypes)[keyof typeof labColumnEventTypes];
  /** The end that sent the datagram or the item. */
  readonly sender: End;
  /** The traffic of the item, when the event is `delivered` or `given_up`. */
  readonly traffic: Traffic | undefined;
  /** The number of the datagram, or the id of the item. */
  readonly number: number;
  /** The size in bytes. */
  readonly size: number;
  readonly time: number;
  /**
   * Seconds until the datagram arrives (`sent`), since the item was sent (`delivered`, `given_up`), or half a round
   * trip (`lost`).
   */
  readonly seconds: number;
}

/** Returns an event with names for numbers. */
export const eventOf = (event: Readonly<Record<string, number>>): ColumnEvent =>
  ({
    ...event,
    type: named(labColumnEventTypes, event['type']),
    traffic: named(labTraffics, event['traffic']),
  }) as unknown as ColumnEvent;

/** The lab: one instance of causeway-lab.wasm, for any number of columns. */
export class Lab extends WasmModule<LabExports> {
  /** The names of all protocols. */
  readonly protocols: readonly string[];

  static async instantiate(module: WebAssembly.Module): Promise<Lab> {
    return new Lab(await WebAssembly.instantiate(module, {}));
  }

  private constructor(instance: WebAssembly.Instance) {
    super(instance, 'causeway-lab.wasm');
    const { exports } = this;
    this.protocols = Array.from({ length: exports.cw_lab_protocol_count() }, (_, i) =>
      this.memory.text(exports.cw_lab_protocol_name(i)),
    );
  }

  /** Returns the default settings of a column. */
  settings(): LabSettings {
    const room = this.read(labSettingsStruct, (out) => this.exports.cw_lab_settings_default(out));
    return { ...room, states: room['states'] !== 0, blocks: room['blocks'] !== 0 } as LabSettings;
  }
}

/** Two peers of one protocol with a bad network between them. The same calls give the same run. */
export class Column extends WasmObject<Lab> {
  readonly protocol: string;

  /** @param seed the seed of the network, a whole number */
  constructor(
    lab: Lab,
    protocol: string,
    { seed = 1, maxEvents }: Omit<LabColumnConfig, 'protocol'> = {},
  ) {
    const { exports } = lab;
    const number = lab.protocols.indexOf(protocol);
    if (number < 0) throw new Error(`there is no protocol ${protocol}`);
    const address = lab.create(
      labColumnConfigStruct,
      { protocol: number, seed, maxEvents },
      exports.cw_lab_column_config_default,
      exports.cw_lab_column_create,
    );
    super(lab, address, exports.cw_lab_column_destroy);
    this.protocol = protocol;
  }

  /** Goes back to the beginning; the settings stay. */
  reset(): void {
    this.core.exports.cw_lab_column_reset(this.address);
  }

  /** Changes the settings, also in the middle of a run. A setting that is not given gets its default. */
  change(settings: Partial<LabSettings>): void {
    const { core, address } = this;
    const { exports } = core;
    const config = core.configure(labSettingsStruct, settings, exports.cw_lab_settings_default);
    core.check(exports.cw_lab_column_change(address, config));
  }

  /** Lets ticks pass, 60 of which are a second. */
  step(ticks = 1): void {
    this.core.exports.cw_lab_column_step(this.address, ticks);
  }

  /** The seconds since the beginning. */
  get time(): number {
    return this.core.exports.cw_lab_column_time(this.address);
  }

  /** Takes the events since the last call; the oldest are missing when there were too many. */
  *events(): Generator<ColumnEvent> {
    const { core, address } = this;
    const { exports } = core;
    let more = 1;
    const take = (out: number): void => {
      more = exports.cw_lab_column_next(address, out);
    };
    for (;;) {
      const event = core.read(labColumnEventStruct, take);
      if (!more) return;
      yield eventOf(event);
    }
  }

  /** The number of events that nobody took in time. */
  get eventsDropped(): number {
    return Number(this.core.exports.cw_lab_column_events_dropped(this.address));
  }

  /** Returns the statistics of the datagrams that an end sent. */
  wireStats(sender: End): LabWireStats {
    return this.core.read(labWireStatsStruct, (out) =>
      this.core.exports.cw_lab_column_wire_stats(this.address, sender, out),
    ) as unknown as LabWireStats;
  }

  /** Returns what became of the items of one kind that an end sent. */
  itemStats(sender: End, traffic: Traffic): LabGameStats {
    return this.core.read(labGameStatsStruct, (out) =>
      this.core.exports.cw_lab_column_item_stats(
        this.address,
        sender,
        trafficNumbers[traffic],
        out,
      ),
    ) as unknown as LabGameStats;
  }

  /** Returns the latency in seconds that this share of an end's items did not exceed. */
  quantile(sender: End, traffic: Traffic, share: number): number {
    const { exports } = this.core;
    return exports.cw_lab_column_quantile(this.address, sender, trafficNumbers[traffic], share);
  }

  /** Starts the statistics anew. */
  restartStats(): void {
    this.core.exports.cw_lab_column_restart_stats(this.address);
  }

  /** Returns what an end waits for, with the number of that packet, message or byte, or an amount. */
  waiting(end: End): { readonly kind: Waiting; readonly number: number } {
    const { core, address } = this;
    const { memory, scratch } = core;
    memory.setU32(scratch, 0);
    const kind = core.exports.cw_lab_column_waiting(address, end, scratch);
    return { kind: named(labWaitings, kind)!, number: memory.u32(scratch) };
  }

  /** Returns the state of an end's flow control. */
  control(end: End): LabControl {
    const control = this.core.read(labControlStruct, (out) =>
      this.core.exports.cw_lab_column_control(this.address, end, out),
    );
    return { ...control, good: control['good'] !== 0 } as LabControl;
  }

  /** Returns the newest packet that an end has sent; undefined before there is one, and for other protocols. */
  packet(end: End): LabPacket | undefined {
    const packet = this.core.read(labPacketStruct, (out) =>
      this.core.exports.cw_lab_column_packet(this.address, end, out),
    ) as unknown as LabPacket;
    return packet.size > 0 ? packet : undefined;
  }

  /** A hash of all that has happened: 16 hexadecimal digits. */
  get hash(): string {
    const hash = this.core.exports.cw_lab_column_hash(this.address);
    return BigInt.asUintN(64, hash).toString(16).padStart(16, '0');
  }
}

/** Loads the lab, by default from the file beside this one. */
export const loadLab: (options?: LoadOptions) => Promise<Lab> = loader(
  'causeway-lab.wasm',
  () => new URL('./causeway-lab.wasm', import.meta.url),
  (module) => Lab.instantiate(module),
).load;
