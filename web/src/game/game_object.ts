import type { CoreSchema } from '../messages/codec.js';
import type { MessageName, MessageValue, Schema } from '../messages/schema.js';
import { between, type Limits } from './between.js';
import { gameConfigStruct, gameEntityStruct } from './generated.js';
import { GameObject, kitFunction, type GameCore } from './module.js';
import type { GameEntity, GameRules } from './rules.js';
import { StructOf, schemaIn } from './structs.js';

/** The rules of a game of any types. */
type AnyRules = GameRules<Schema, never, never>;

/** Makes one end of a game in the module. */
function make(core: GameCore, schema: CoreSchema, rules: AnyRules, side: 'client' | 'server') {
  const { entities, player, input, smooth } = rules;
  const number = schema.number(player);
  const names = Object.keys(entities.types[number]!.fields);
  const limits: Limits = smooth?.[player] ?? {};
  return core.withMemory(4 * names.length, (floats) => {
    names.forEach((name, i) =>
      core.memory.view.setFloat32(floats + 4 * i, limits[name] ?? 0, true),
    );
    return core.create(
      gameConfigStruct,
      { ...rules, inputType: schema.number(input), playerType: number, smoothLimits: floats },
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
    this.rules = rules;
    this.schema = schema;
    this.playerStruct = new StructOf(core, rules.entities, rules.player);
    this.inputStruct = new StructOf(core, rules.entities, rules.input);
    this.place = this.buffer(Math.max(placeSize, this.playerStruct.size));
  }

  /** Returns the entity that the module has written to its scratch memory, as it is at its moment. @internal */
  protected shown(): GameEntity<World, Input> {
    const { memory, scratch } = this.core;
    const { entity, type, fraction, from, to } = memory.struct(scratch, gameEntityStruct.fields);
    const name = this.schema.name(type) as MessageName<World>;
    const first = this.schema.read(type, from);
    const limits: Limits | undefined = this.rules.smooth?.[name];
    const value =
      limits && from !== to ? between(first, this.schema.read(type, to), fraction, limits) : first;
    return { id: entity, type: name, value } as unknown as GameEntity<World, Input>;
  }
}
