import { seconds } from '../clock.js';
import type { GameClient } from '../hosts/game_client.js';
import type { ReceivedEvent } from '../hosts/host.js';
import type { MessageName, MessageValue, Schema } from '../messages/schema.js';
import { checkOptions } from '../options.js';
import { GameEnd } from './game_object.js';
import {
  GAME_BODY_SIZE,
  clockSyncStatsStruct,
  gameEventStruct,
  gameEventTypes,
  gameClientStatsAt,
  gameClientStatsStruct,
  gameFaultStruct,
  gameTurnStruct,
  gameVerdictStruct,
  gameVerdictTypes,
  gameTurnTypes,
  interpolationStatsStruct,
  predictionStatsStruct,
  snapshotClientStatsStruct,
  viewStruct,
  type GameClientStats,
  type GameConfig,
} from './generated.js';
import { loadGame, type GameCore } from './module.js';
import {
  gameMessage,
  type BodySchema,
  type GameEntity,
  type GameRules,
  type HasGameMessage,
} from './rules.js';

/** The scene that a page shows in a frame. */
export interface Scene<
  World extends Schema,
  Player extends MessageName<World>,
  Input extends MessageName<World>,
> {
  /** The number of the player's own entity; undefined until the server has told it. */
  readonly me: number | undefined;
  /** The state of the player's own entity, as predicted; undefined while there is none. */
  readonly own: MessageValue<World, Player> | undefined;
  /** All entities in the order of their numbers, one's own among them. */
  readonly entities: readonly GameEntity<World, Input>[];
}

/** The reason why one's own entity or the others jerk, if they do. */
export interface GameVerdict {
  /**
   * `network`: inputs or snapshots come too late. `diverging`: the server gets other states from the same inputs,
   * because `step` depends on something else, or the two ends have different rules.
   */
  readonly type: 'good' | 'network' | 'diverging';
  /** The verdict in words: "diverging: field `x` of entity 7 at tick 4120". */
  readonly text: string;
  /** The jitter of the path, for `network`. */
  readonly jitterSeconds: number;
  /** The latest state that was wrong, for `diverging`: its tick, its entity, and the first field that was wrong. */
  readonly tick: number;
  readonly entity: number;
  readonly field: string | undefined;
}

/** Something that happens in a step of the game, once. */
export interface GameEvent {
  /**
   * `happened`: play it, because one's own player did it just now, or the server tells it. `confirmed`: the server says
   * that what one's own player did has happened. `taken_back`: it says that it has not.
   */
  readonly type: 'happened' | 'confirmed' | 'taken_back';
  readonly name: string;
  /** The number of the entity in whose step it happens. */
  readonly id: number;
  readonly tick: number;
}

/** The options of {@link playGame}. */
export interface PlayOptions<
  World extends Schema,
  Player extends MessageName<World>,
  Input extends MessageName<World>,
>
  extends
    GameRules<World, Player, Input>,
    Pick<GameConfig, 'ticksPerInput' | 'smoothSeconds' | 'maxDelaySeconds' | 'maxGroup'> {
  /** Returns what the player does now. It is called once for each tick. */
  readonly keys: () => MessageValue<World, Input>;
  /** Takes what happens in the game, before the frame is drawn. */
  readonly event?: (event: GameEvent) => void;
  /** Draws a frame. */
  readonly draw: (scene: Scene<World, Player, Input>) => void;
  /** Has a function called for the next frame. Default: `requestAnimationFrame`, or a timer where there is none. */
  readonly schedule?: (frame: () => void) => unknown;
  /** The game kit. Default: the one that `loadGame` returns. */
  readonly kit?: GameCore;
}

type Client = GameClient<BodySchema>;

/** A turn of the module: the addresses of an input and, to play it, of a state. */
interface Turn {
  readonly type: keyof typeof gameTurnTypes;
  readonly entity: number;
  readonly entityType: number;
  readonly input: number;
  readonly state: number;
}

/** An event of the module. */
interface Happened {
  readonly type: keyof typeof gameEventTypes;
  readonly tick: number;
  readonly entity: number;
  readonly kind: number;
}

/** The default of `maxGroup` for rules with `touches`. */
const MAX_GROUP = 16;

const nextFrame = (frame: () => void): unknown =>
  typeof requestAnimationFrame === 'function'
    ? requestAnimationFrame(frame)
    : setTimeout(frame, 1000 / 60);

/** A game that a page plays; {@link playGame} makes one. */
export class PlayedGame<
  World extends Schema = Schema,
  Player extends MessageName<World> = MessageName<World>,
  Input extends MessageName<World> = MessageName<World>,
> extends GameEnd<World, Player, Input> {
  readonly #client: Client;
  readonly #options: PlayOptions<World, Player, Input>;
  /** False: the others are shown as the newest snapshot has them, without delay and in jumps. */
  interpolates = true;
  /** True while a frame is to come. */
  #scheduled = false;
  #stopped = false;
  /** The entities that the page predicts, its own among them, in the order of their numbers. */
  #group: number[] = [];

  /** @internal */
  constructor(core: GameCore, client: Client, options: PlayOptions<World, Player, Input>) {
    super(core, options, 'client', GAME_BODY_SIZE);
    this.#client = client;
    this.#options = options;
    client.addEventListener('message', this.#received);
    client.addEventListener('state', this.#followed);
    this.#schedule();
  }

  /** The number of the player's own entity; undefined until the server has told it. */
  get me(): number | undefined {
    const { exports, memory, scratch } = this.core;
    return exports.cw_game_client_own(this.address, scratch) ? memory.u32(scratch) : undefined;
  }

  /** Returns how the game is doing. */
  stats(): GameClientStats {
    const { core, address } = this;
    const now = seconds();
    return core.withMemory(gameClientStatsStruct.size, (at) => {
      core.exports.cw_game_client_get_stats(address, now, at);
      const { memory } = core;
      const clock = memory.struct(at + gameClientStatsAt.clock, clockSyncStatsStruct.fields);
      return {
        ...memory.struct(at, gameClientStatsStruct.fields),
        view: memory.struct(at + gameClientStatsAt.view, viewStruct.fields),
        fault: memory.struct(at + gameClientStatsAt.fault, gameFaultStruct.fields),
        clock: { ...clock, synced: clock.synced !== 0 },
        prediction: memory.struct(at + gameClientStatsAt.prediction, predictionStatsStruct.fields),
        snapshots: memory.struct(
          at + gameClientStatsAt.snapshots,
          snapshotClientStatsStruct.fields,
        ),
        interpolation: memory.struct(
          at + gameClientStatsAt.interpolation,
          interpolationStatsStruct.fields,
        ),
      };
    });
  }

  /** Judges the last two seconds. */
  verdict(): GameVerdict {
    const { core, rules } = this;
    const { address } = this;
    const judged = core.read(gameVerdictStruct, (out) =>
      core.exports.cw_game_client_judge(address, seconds(), out),
    );
    const { jitterSeconds, tick, entity } = judged;
    const type = gameVerdictTypes[judged.type as unknown as keyof typeof gameVerdictTypes];
    const { fields } = rules.entities.types[this.playerStruct.number]!;
    const field = type === 'diverging' ? Object.keys(fields)[judged.field] : undefined;
    const texts = {
      good: 'good',
      network: `network: jitter ${(jitterSeconds * 1000).toFixed(0)} ms`,
      diverging: `diverging: field \`${field}\` of entity ${entity} at tick ${tick}`,
    };
    return { type, text: texts[type], jitterSeconds, tick, entity, field };
  }

  /** Ends the game. The connection stays. */
  stop(): void {
    this.destroy();
  }

  override destroy(): void {
    this.#stopped = true;
    this.#client.removeEventListener('message', this.#received);
    this.#client.removeEventListener('state', this.#followed);
    super.destroy();
  }

  readonly #received = ({ message }: ReceivedEvent<BodySchema>): void => {
    if (message.type !== gameMessage.name) return;
    const { core, address } = this;
    const { body } = message.value;
    core.exports.cw_game_client_receive(address, core.put(body), body.length, seconds());
  };

  /** Begins anew with each connection. */
  readonly #followed = (): void => {
    if (this.#client.state === 'requesting') this.core.exports.cw_game_client_reset(this.address);
    this.#schedule();
  };

  #schedule(): void {
    if (this.#scheduled || this.#stopped || this.#client.state === 'disconnected') return;
    this.#scheduled = true;
    (this.#options.schedule ?? nextFrame)(() => {
      this.#scheduled = false;
      // The frames go on when the application throws.
      this.#schedule();
      if (this.#scheduled) this.#frame();
    });
  }

  #frame(): void {
    const { exports } = this.core;
    const now = seconds();
    const errors: unknown[] = [];
    exports.cw_game_client_update(this.address, now);
    while (!this.#stopped) {
      const turn = this.core.next(gameTurnStruct, (out) =>
        exports.cw_game_client_next_turn(this.address, out),
      );
      if (!turn) break;
      try {
        this.#play(turn as unknown as Turn);
      } catch (error) {
        errors.push(error);
      }
    }
    if (!this.#stopped) this.#transmit(now);
    const view = this.interpolates ? 'cw_game_client_view' : 'cw_game_client_view_newest';
    this.#tell();
    if (!this.#stopped && exports[view](this.address, now)) this.#draw();
    if (errors.length > 0) throw errors[0];
  }

  /** Plays a turn. A value that does not fit leaves the module's input or state as it was. */
  #play({ type, entity, entityType, input, state }: Turn): void {
    const { inputStruct } = this;
    if (gameTurnTypes[type] === 'input')
      return this.#replace(inputStruct.number, input, this.#options.keys());
    const next = this.played(
      this.entity(entity, entityType, state),
      this.#others(entity),
      this.#emit,
      input === 0 ? undefined : inputStruct.read(input),
    );
    if (!this.#stopped) this.#replace(entityType, state, next);
  }

  /** Writes a value over another, first to free memory, so that one that does not fit changes nothing. */
  #replace(type: number, address: number, value: object): void {
    this.schema.write(type, this.place, value);
    this.schema.write(type, address, value);
  }

  readonly #emit = (event: string): void => {
    const kind = this.kindOf(event);
    if (!this.#stopped) this.core.exports.cw_game_client_emit(this.address, kind);
  };

  /** Tells the application what has happened. */
  #tell(): void {
    const { core, rules } = this;
    const take = (out: number): number => core.exports.cw_game_client_next_event(this.address, out);
    for (let event; !this.#stopped && (event = core.next(gameEventStruct, take));) {
      const { type, tick, entity: id, kind } = event as unknown as Happened;
      const name = rules.events?.[kind];
      if (name !== undefined) this.#options.event?.({ type: gameEventTypes[type], name, id, tick });
    }
  }

  /** The other predicted entities, in the tick that is played. */
  *#others(but: number): Iterable<GameEntity<World, Input>> {
    const { core, address } = this;
    for (const id of this.#group) {
      const state = id !== but && core.exports.cw_game_client_state(address, id, core.scratch);
      if (state) yield this.entity(id, core.memory.u32(core.scratch), state);
    }
  }

  /** Chooses the entities that are predicted from the next snapshot on. */
  #choose(entities: readonly GameEntity<World, Input>[], own: MessageValue<World, Player>): void {
    const { core, me, rules } = this;
    const chosen = entities.filter((other) => other.id !== me && rules.touches!(own, other));
    const ids = chosen.slice(0, this.#options.maxGroup).map(({ id }) => id);
    const at = core.memoryFor(4 * ids.length);
    ids.forEach((id, i) => core.memory.view.setUint32(at + 4 * i, id, true));
    core.check(core.exports.cw_game_client_set_group(this.address, at, ids.length));
    this.#group = [...ids, me!].sort((a, b) => a - b);
  }

  #transmit(now: number): void {
    const { core, place } = this;
    if (!this.#client.writable) return;
    const size = core.exports.cw_game_client_transmit(this.address, place, GAME_BODY_SIZE, now);
    if (size === 0) return;
    this.#client.send(gameMessage.name, { body: core.memory.copy(place, size) });
  }

  #draw(): void {
    const { exports, scratch } = this.core;
    const { me } = this;
    const entities: GameEntity<World, Input>[] = [];
    while (exports.cw_game_client_next_entity(this.address, scratch)) entities.push(this.shown());
    entities.sort((a, b) => a.id - b.id);
    const own = entities.find(({ id }) => id === me)?.value as
      MessageValue<World, Player> | undefined;
    if (own && this.rules.touches) this.#choose(entities, own);
    this.#options.draw({ me, own, entities });
  }
}

/**
 * Plays a fast game over a connection: sends what the player does, plays it at once, and draws one's own entity as it
 * will be and the others as they were. The game begins anew with each connection of the client, and ends with `stop`.
 * While it plays, all messages of the client go to listeners of `message` events.
 * @throws {@link MisuseError} `CONFIG` when an option cannot work, and what {@link loadGame} throws
 */
export async function playGame<
  const Of extends Schema,
  const World extends Schema,
  const Player extends MessageName<World>,
  const Input extends MessageName<World>,
>(
  client: GameClient<Of> & HasGameMessage<Of>,
  options: PlayOptions<World, Player, Input>,
): Promise<PlayedGame<World, Player, Input>> {
  const needs = ['entities', 'player', 'input', 'step', 'keys', 'draw'] as const;
  checkOptions('playGame', options, options.touches ? [...needs, 'guess'] : needs);
  const kit = options.kit ?? (await loadGame());
  return new PlayedGame(kit, client as unknown as Client, {
    maxGroup: options.touches ? MAX_GROUP : 0,
    ...options,
  });
}
