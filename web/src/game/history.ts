import { GameObject, kitFunction, type GameCore } from './module.js';
import { historyConfigStruct, viewStruct, type HistoryConfig, type View } from './generated.js';
import { StructOf } from './structs.js';
import type { MessageName, MessageValue, Schema } from '../messages/schema.js';

/** The server's memory of the last ticks, for lag compensation: it shows the world as a client saw it. */
export class History<
  Of extends Schema,
  Name extends MessageName<Of>,
  State = MessageValue<Of, Name>,
> extends GameObject {
  readonly #state: StructOf<State>;
  readonly #buffer: number;

  /** @throws {@link MisuseError} `CONFIG` when the config cannot work. */
  constructor(
    core: GameCore,
    schema: Of,
    type: Name,
    config: Omit<HistoryConfig, 'stateSize'> = {},
  ) {
    const state = new StructOf<State>(core, schema, type);
    const address = core.create(
      historyConfigStruct,
      { ...config, stateSize: state.size },
      core.exports.cw_history_config_default,
      kitFunction(core, 'cw_history_create'),
    );
    super(core, address, core.exports.cw_history_destroy);
    this.#state = state;
    this.#buffer = this.buffer(2 * viewStruct.size + 8 + state.size);
  }

  reset(): void {
    this.core.exports.cw_history_reset(this.address);
  }

  /** Begins the next tick, without entities. */
  begin(tick: number): void {
    const { core, address } = this;
    core.check(core.exports.cw_history_begin(address, tick));
  }

  /**
   * Adds an entity to the newest tick.
   * @throws {@link MisuseError} `DUPLICATE`, `ENTITIES_FULL`.
   */
  add(entity: number, state: State): void {
    const { core, address } = this;
    const place = this.#buffer + 2 * viewStruct.size + 8;
    this.#state.write(place, state);
    core.check(core.exports.cw_history_add(address, entity, place));
  }

  /** Turns the view that a client reports into one of ticks that are kept; undefined when none are kept. */
  rewind(seen: View): View | undefined {
    const { exports, memory } = this.core;
    const view = this.#buffer + viewStruct.size;
    memory.setStruct(this.#buffer, viewStruct.fields, { ...seen });
    return exports.cw_history_rewind(this.address, this.#buffer, view)
      ? (memory.struct(view, viewStruct.fields) as unknown as View)
      : undefined;
  }

  /** Returns the entities of a tick, in ascending order. */
  entities(tick: number): number[] {
    const { exports } = this.core;
    const { address } = this;
    return Array.from({ length: exports.cw_history_count(address, tick) }, (_, i) =>
      exports.cw_history_entity(address, tick, i),
    );
  }

  /** Returns the two states of an entity in a view of {@link rewind}; undefined when the entity was not there. */
  find(view: View, entity: number): readonly [from: State, to: State] | undefined {
    const { exports, memory } = this.core;
    memory.setStruct(this.#buffer, viewStruct.fields, { ...view });
    const out = this.#buffer + 2 * viewStruct.size;
    if (!exports.cw_history_find(this.address, this.#buffer, entity, out, out + 4))
      return undefined;
    return [this.#state.read(memory.u32(out)), this.#state.read(memory.u32(out + 4))];
  }
}
