import type { CoreSchema } from '../messages/codec.js';
import type { MessageName, MessageValue, Schema } from '../messages/schema.js';
import { between, type Limits } from './between.js';
import { gameConfigStruct, gameEntityAt } from './generated.js';
import { GameObject, kitFunction, type GameCore } from './module.js';
import type { Emit, GameEntity, GameRules } from './rules.js';
import { StructOf, schemaIn } from './structs.js';

/** The rules of a game of any types. */
type AnyRules = GameRules<Schema, never, never>;

/** Plays a tick of an entity of any type. */
type StepOf<World extends Schema, Input extends MessageName<World>> = (
  entity: object,
  others: Iterable<GameEntity<World, Input>>,
  emit: Emit,
) => object;

/** Makes one end of a game in the module. The limits of all types lie in one block, behind their addresses. */
function make(core: GameCore, schema: CoreSchema, rules: AnyRules, side: 'client' | 'server') {
  const { entities, player, input, smooth } = rules;
  const playerType = schema.number(player);
  const names = entities.types.map(({ fields }) => Object.keys(fields));
  const count = names.reduce((sum, { length }) => sum + length, 0);
  return core.withMemory(4 * (names.length + count), (groupLimits) => {
    const { view } = core.memory;
    let at = groupLimits + 4 * names.length;
    const places = entities.types.map(({ name }, type) => {
      const place = at;
      const limits: Limits = smooth?.[name as never] ?? {};
      view.setUint32(groupLimits + 4 * type, place, true);
      for (const field of names[type]!) {
        view.setFloat32(at, limits[field] ?? 0, true);
        at += 4;
      }
      return place;
    });
    const smoothLimits = places[playerType];
    return core.create(
      gameConfigStruct,
      { ...rules, inputType: schema.number(input), playerType, smoothLimits, groupLimits },
      (out) => core.exports.cw_game_config_default(out, schema.pointer),
      kitFunction(core, `cw_game_${side}_create`),
    );
  });
}

/** One end of a game. */
export abstract class GameEnd<
  World extends Schema,
  Player extends MessageName<World>,
  Input extends MessageName<World>,
> extends GameObject {
  /** @internal */
  protected readonly rules: GameRules<World, Player, Input>;
  /** @internal */
  protected readonly schema: CoreSchema;
  /** @internal */
  protected readonly playerStruct: StructOf<MessageValue<World, Player>>;
  /** @internal */
  protected readonly inputStruct: StructOf<MessageValue<World, Input>>;
  /** The address of memory for one struct of the schema, or for one body. @internal */
  protected readonly place: number;
  readonly #side: 'client' | 'server';

  /** @internal */
  protected constructor(
    core: GameCore,
    rules: GameRules<World, Player, Input>,
    side: 'client' | 'server',
    placeSize: number,
  ) {
    const schema = schemaIn(core, rules.entities);
    super(
      core,
      make(core, schema, rules as unknown as AnyRules, side),
      core.exports[`cw_game_${side}_destroy`],
    );
    this.#side = side;
    this.rules = rules;
    this.schema = schema;
    this.playerStruct = new StructOf(core, rules.entities, rules.player);
    this.inputStruct = new StructOf(core, rules.entities, rules.input);
    this.place = this.buffer(Math.max(placeSize, this.playerStruct.size));
  }

  /**
   * Returns an entity as the server has it, in a page by the newest snapshot; undefined when there is none of this
   * number.
   */
  get(id: number): GameEntity<World, Input> | undefined {
    const { core, address } = this;
    const { cw_game_client_newest: newest, cw_game_server_state: stateOf } = core.exports;
    const state = (this.#side === 'client' ? newest : stateOf)(address, id, core.scratch);
    if (state === 0) return undefined;
    return this.entity(id, core.memory.u32(core.scratch), state);
  }

  /** Returns an entity whose struct is at an address. @internal */
  protected entity(id: number, type: number, address: number): GameEntity<World, Input> {
    const { schema } = this;
    return {
      id,
      type: schema.name(type),
      value: schema.read(type, address),
    } as unknown as GameEntity<World, Input>;
  }

  /** Plays a tick of an entity; a player of whom there is no input goes on as its state says. @internal */
  protected played(
    { type, value }: GameEntity<World, Input>,
    others: Iterable<GameEntity<World, Input>>,
    emit: Emit,
    input?: MessageValue<World, Input>,
  ): object {
    const { player, step, guess, steps } = this.rules;
    const play = (steps as Readonly<Record<string, StepOf<World, Input>>> | undefined)?.[type];
    if (type !== (player as string)) return play?.(value, others, emit) ?? value;
    const state = value as unknown as MessageValue<World, Player>;
    return step(state, input ?? guess!(state), others, emit);
  }

  /** Returns the number of an event. @internal */
  protected kindOf(event: string): number {
    const kind = this.rules.events?.indexOf(event) ?? -1;
    if (kind < 0) throw new RangeError(`the events of the game have no ${event}`);
    return kind;
  }

  /** Returns the entity that the module has written to its scratch memory, as it is at its moment. @internal */
  protected shown(): GameEntity<World, Input> {
    const { memory, scratch } = this.core;
    const { view } = memory;
    const entity = view.getUint32(scratch + gameEntityAt.entity, true);
    const type = view.getUint32(scratch + gameEntityAt.type, true);
    const fraction = view.getFloat32(scratch + gameEntityAt.fraction, true);
    const from = view.getUint32(scratch + gameEntityAt.from, true);
    const to = view.getUint32(scratch + gameEntityAt.to, true);
    const name = this.schema.name(type) as MessageName<World>;
    const first = this.schema.read(type, from);
    const limits: Limits | undefined = this.rules.smooth?.[name];
    const value =
      limits && from !== to ? between(first, this.schema.read(type, to), fraction, limits) : first;
    return { id: entity, type: name, value } as unknown as GameEntity<World, Input>;
  }
}
