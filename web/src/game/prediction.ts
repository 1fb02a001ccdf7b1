import { GameObject, type GameCore } from './module.js';
import {
  predictionConfigStruct,
  predictionStatsStruct,
  type PredictionConfig,
  type PredictionStats as Counted,
} from './generated.js';
import { StructOf } from './structs.js';
import type { MessageName, MessageValue, Schema } from '../messages/schema.js';

type Numbers<State> = { readonly [Name in keyof State]?: number };

/** The options of a {@link Prediction}. */
export interface PredictionOptions<State> extends PredictionConfig {
  /** The difference that each number of the state may have without a correction. Default 0 for each. */
  readonly tolerances?: Numbers<State>;
  /**
   * A number moves smoothly when a correction moves it by at most this much, and jumps when by more.
   * Default 0 for each: it always jumps.
   */
  readonly smoothLimits?: Numbers<State>;
}

/** Counts how often the server disagreed with a {@link Prediction}, and by how much. */
export interface PredictionStats<State> extends Omit<Counted, 'errorField'> {
  /** The field of the state in which the last error was; undefined when it was in no number. */
  readonly errorField: (keyof State & string) | undefined;
}

/** Creates the object, with the numbers of the options in the order of the state's fields. */
function make(
  core: GameCore,
  schema: Schema,
  input: StructOf<unknown>,
  state: StructOf<unknown>,
  { tolerances, smoothLimits, ...config }: PredictionOptions<unknown>,
): number {
  const names = Object.keys(schema.types[state.number]!.fields);
  return core.withMemory(8 * names.length, (floats) => {
    [tolerances, smoothLimits].forEach((numbers, i) =>
      names.forEach((name, k) => {
        const value = (numbers as Record<string, number> | undefined)?.[name] ?? 0;
        core.memory.view.setFloat32(floats + 4 * (i * names.length + k), value, true);
      }),
    );
    return core.create(
      predictionConfigStruct,
      {
        ...config,
        inputType: input.number,
        stateType: state.number,
        tolerances: floats,
        smoothLimits: floats + 4 * names.length,
      },
      (out) => core.exports.cw_prediction_config_default(out, input.schema),
      core.exports.cw_prediction_create,
    );
  });
}

/**
 * Plays a client's inputs at once, and puts it right when the server's state of the same tick says
 * otherwise. Inputs and states are values of two types of a schema.
 */
export class Prediction<
  Of extends Schema,
  InputName extends MessageName<Of>,
  StateName extends MessageName<Of>,
  Input = MessageValue<Of, InputName>,
  State = MessageValue<Of, StateName>,
> extends GameObject {
  readonly #input: StructOf<Input>;
  readonly #state: StructOf<State>;
  readonly #fields: (keyof State & string)[];
  /** The address of memory for the tick, input and state of a call. */
  readonly #buffer: number;

  /** @throws {@link MisuseError} `CONFIG` when the config cannot work. */
  constructor(
    core: GameCore,
    schema: Of,
    types: { readonly input: InputName; readonly state: StateName },
    options: PredictionOptions<MessageValue<Of, StateName>> = {},
  ) {
    const input = new StructOf<Input>(core, schema, types.input);
    const state = new StructOf<State>(core, schema, types.state);
    super(core, make(core, schema, input, state, options), core.exports.cw_prediction_destroy);
    this.#input = input;
    this.#state = state;
    this.#fields = Object.keys(schema.types[state.number]!.fields) as (keyof State & string)[];
    this.#buffer = this.buffer(16 + input.size + state.size);
  }

  /** Forgets all ticks, errors and counters. */
  reset(): void {
    this.core.exports.cw_prediction_reset(this.address);
  }

  /** Keeps the input of a tick, and the state after it. */
  add(tick: number, input: Input, state: State): void {
    const { core, address } = this;
    const [inputAt, stateAt] = this.#places();
    this.#input.write(inputAt, input);
    this.#state.write(stateAt, state);
    core.check(core.exports.cw_prediction_add(address, tick, inputAt, stateAt));
  }

  /**
   * Compares the server's state after a tick with the one that was predicted. Returns true when they disagree: then
   * call {@link replay}.
   */
  correct(tick: number, state: State): boolean {
    const [, stateAt] = this.#places();
    this.#state.write(stateAt, state);
    return this.core.exports.cw_prediction_correct(this.address, tick, stateAt) !== 0;
  }

  /**
   * Plays again what came after a correction: `step` computes the state after an input. Returns the newest state, which
   * is `state` itself when there was nothing to play again.
   */
  replay(state: State, step: (state: State, input: Input, tick: number) => State): State {
    const { exports, memory } = this.core;
    const [inputAt, stateAt] = this.#places();
    this.#state.write(stateAt, state);
    while (exports.cw_prediction_replay(this.address, stateAt, this.#buffer, inputAt)) {
      const next = step(
        this.#state.read(stateAt),
        this.#input.read(inputAt),
        memory.u32(this.#buffer),
      );
      this.#state.write(stateAt, next);
    }
    return this.#state.read(stateAt);
  }

  /** Returns a state as it should be shown: with the rest of its errors, which fade with time. */
  smooth(state: State, now: number): State {
    const [, stateAt] = this.#places();
    this.#state.write(stateAt, state);
    this.core.exports.cw_prediction_smooth(this.address, stateAt, now);
    return this.#state.read(stateAt);
  }

  /** Returns how often the server disagreed, and by how much. */
  stats(): PredictionStats<State> {
    const { core, address } = this;
    const stats = core.read(predictionStatsStruct, (out) =>
      core.exports.cw_prediction_get_stats(address, out),
    ) as unknown as Counted;
    return { ...stats, errorField: this.#fields[stats.errorField] };
  }

  #places(): [input: number, state: number] {
    return [this.#buffer + 8, this.#buffer + 8 + Math.ceil(this.#input.size / 8) * 8];
  }
}
