import { GameObject, kitFunction, type GameCore, type Received } from './module.js';
import {
  inputConfigStruct,
  inputReceiverStatsStruct,
  inputReportStruct,
  type InputConfig,
  type InputReceiverStats,
  type InputReport,
} from './generated.js';
import { StructOf } from './structs.js';
import type { MessageName, MessageValue, Schema } from '../messages/schema.js';

const make = (
  core: GameCore,
  input: StructOf<unknown>,
  config: InputConfig,
  side: 'receiver' | 'sender',
): number =>
  core.create(
    inputConfigStruct,
    { ...config, type: input.number },
    (out) => core.exports.cw_input_config_default(out, input.schema),
    kitFunction(core, `cw_input_${side}_create`),
  );

/** The client's end of inputs: each packet has the inputs of the last ticks that the server lacks. */
export class InputSender<
  Of extends Schema,
  Name extends MessageName<Of>,
  Input = MessageValue<Of, Name>,
> extends GameObject {
  readonly #input: StructOf<Input>;
  readonly #place: number;

  /** @throws {@link MisuseError} `CONFIG` when the config cannot work. */
  constructor(core: GameCore, schema: Of, type: Name, config: InputConfig = {}) {
    const input = new StructOf<Input>(core, schema, type);
    super(core, make(core, input, config, 'sender'), core.exports.cw_input_sender_destroy);
    this.#input = input;
    this.#place = this.buffer(input.size);
  }

  /** Goes back to how it was created. */
  reset(): void {
    this.core.exports.cw_input_sender_reset(this.address);
  }

  /**
   * Takes the input of a tick, and returns it as the server will get it: compressed floats are rounded.
   * @throws {@link MisuseError} `MESSAGE_VALUE` and RangeError when a field is out of range.
   */
  add(tick: number, input: Input): Input {
    const { core, address } = this;
    this.#input.write(this.#place, input);
    core.check(core.exports.cw_input_sender_add(address, tick, this.#place));
    return this.#input.read(this.#place);
  }

  /** Returns the inputs that the server lacks, as many of the newest as fit; undefined when it has all. */
  transmit(maxBytes: number): Uint8Array<ArrayBuffer> | undefined {
    const { exports, memory } = this.core;
    const out = this.core.memoryFor(maxBytes);
    const size = exports.cw_input_sender_transmit(this.address, out, maxBytes);
    return size > 0 ? memory.copy(out, size) : undefined;
  }

  /**
   * Takes a report of the server. Pass the result to `adjust` of the clock; it is undefined when the report is of no
   * use.
   */
  receive(report: Uint8Array): InputReport | undefined {
    const { exports, memory } = this.core;
    const out = this.core.memoryFor(inputReportStruct.size + report.length);
    const data = out + inputReportStruct.size;
    memory.bytes.set(report, data);
    const code = exports.cw_input_sender_receive(this.address, data, report.length, out);
    return code === 0
      ? (memory.struct(out, inputReportStruct.fields) as unknown as InputReport)
      : undefined;
  }
}

/** The server's end of a client's inputs: exactly one per tick. */
export class InputReceiver<
  Of extends Schema,
  Name extends MessageName<Of>,
  Input = MessageValue<Of, Name>,
> extends GameObject {
  readonly #input: StructOf<Input>;
  readonly #place: number;

  /** @throws {@link MisuseError} `CONFIG` when the config cannot work. */
  constructor(core: GameCore, schema: Of, type: Name, config: InputConfig = {}) {
    const input = new StructOf<Input>(core, schema, type);
    super(core, make(core, input, config, 'receiver'), core.exports.cw_input_receiver_destroy);
    this.#input = input;
    this.#place = this.buffer(input.size);
  }

  /** Goes back to how it was created, for use with another client. */
  reset(): void {
    this.core.exports.cw_input_receiver_reset(this.address);
  }

  /** Takes the bytes that a sender has written; `tickTime` is the server's tick time at their arrival. */
  receive(
    data: Uint8Array,
    tickTime: number,
  ): Received<'MALFORMED' | 'DUPLICATE' | 'STALE' | 'TOO_EARLY'> {
    const { core, address } = this;
    const code = core.exports.cw_input_receiver_receive(
      address,
      core.put(data),
      data.length,
      tickTime,
    );
    return core.received(code, 'MALFORMED', 'DUPLICATE', 'STALE', 'TOO_EARLY');
  }

  /**
   * Returns the input for a tick. Call it once for each tick, in order. `own` is false when an earlier input had to be
   * repeated.
   */
  take(tick: number): { readonly input: Input; readonly own: boolean } {
    const own = this.core.exports.cw_input_receiver_take(this.address, tick, this.#place) !== 0;
    return { input: this.#input.read(this.#place), own };
  }

  /** Returns a report for the client; undefined before the first inputs. */
  transmit(): Uint8Array<ArrayBuffer> | undefined {
    const { exports, memory } = this.core;
    const out = this.core.memoryFor(64);
    const size = exports.cw_input_receiver_transmit(this.address, out, 64);
    return size > 0 ? memory.copy(out, size) : undefined;
  }

  stats(): InputReceiverStats {
    const { core, address } = this;
    return core.read(inputReceiverStatsStruct, (out) =>
      core.exports.cw_input_receiver_get_stats(address, out),
    ) as unknown as InputReceiverStats;
  }
}
