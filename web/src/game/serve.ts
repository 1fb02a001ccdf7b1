import { seconds } from '../clock.js';
import type { MessageName, MessageValue, Schema } from '../messages/schema.js';
import { checkOptions } from '../options.js';
import type { ServerClient } from '../server/client.js';
import type { GameServer } from '../server/game_server.js';
import { GameEnd } from './game_object.js';
import {
  GAME_BODY_SIZE,
  gameConfigStruct,
  gameFaultStruct,
  gameServerStatsAt,
  gameServerStatsStruct,
  priorityStruct,
  snapshotServerStatsStruct,
  type GameConfig,
  type GameServerStats,
  type Priority,
} from './generated.js';
import { loadGame, type GameCore } from './module.js';
import {
  gameMessage,
  type BodySchema,
  type GameEntity,
  type GameRules,
  type HasGameMessage,
} from './rules.js';

/** The options of {@link serveGame}. */
export interface ServeOptions<
  World extends Schema,
  Player extends MessageName<World>,
  Input extends MessageName<World>,
  Of extends Schema = Schema,
>
  extends
    GameRules<World, Player, Input>,
    Pick<
      GameConfig,
      | 'maxClients'
      | 'maxBytes'
      | 'maxInterest'
      | 'ticksPerSnapshot'
      | 'maxCatchUpSeconds'
      | 'maxRewindSeconds'
    > {
  /** Returns the state in which a client's player begins. Its number is the client's slot. */
  readonly join: (client: ServerClient<Of>) => MessageValue<World, Player>;
  /** Plays what the server alone decides, after the players' steps of each tick. */
  readonly tick?: (game: ServedGame<World, Player, Input, Of>) => void;
  /**
   * Returns the entities that a player gets beside its own, each with how urgent it is: 1 for every snapshot, 0.25 for
   * every fourth. {@link Interest} finds what is near. It is called after each turn of the server's loop. Default: all
   * entities, which are equally urgent.
   */
  readonly interest?: (
    player: GamePlayer<MessageValue<World, Player>, MessageValue<World, Input>, Of>,
  ) => Iterable<Priority>;
  /** The game kit. Default: the one that `loadGame` returns. */
  readonly kit?: GameCore;
}

/** A player of a {@link ServedGame}. */
export class GamePlayer<State = object, Input = object, Of extends Schema = Schema> {
  readonly client: ServerClient<Of>;
  /** The state now. Change it or its fields in `tick`, or between ticks. */
  state: State;
  /** The input of this tick: the player's own, or the one before when it has not come. */
  input!: Input;
  readonly #seen: (id: number) => { readonly value: unknown } | undefined;

  /** @internal */
  constructor(
    client: ServerClient<Of>,
    state: State,
    seen: (id: number) => { readonly value: unknown } | undefined,
  ) {
    this.client = client;
    this.state = state;
    this.#seen = seen;
  }

  /** The number of the player's entity: the client's slot. */
  get id(): number {
    return this.client.slot;
  }

  /**
   * Returns another player as this one saw it when it made its input of this tick, to judge a shot; undefined when it
   * did not see it.
   */
  sees(other: GamePlayer<State, Input, Of>): State | undefined {
    return this.#seen(other.id)?.value as State | undefined;
  }
}

/** Returns a client as the kit uses it. */
const bodiesOf = <Of extends Schema>(client: ServerClient<Of>): ServerClient<BodySchema> =>
  client as unknown as ServerClient<BodySchema>;

type PlayerOf<
  World extends Schema,
  Player extends MessageName<World>,
  Input extends MessageName<World>,
  Of extends Schema,
> = GamePlayer<MessageValue<World, Player>, MessageValue<World, Input>, Of>;

/** The server of a game; {@link serveGame} makes one. */
export class ServedGame<
  World extends Schema = Schema,
  Player extends MessageName<World> = MessageName<World>,
  Input extends MessageName<World> = MessageName<World>,
  Of extends Schema = Schema,
> extends GameEnd<World, Player, Input> {
  readonly #server: GameServer<Of>;
  readonly #options: ServeOptions<World, Player, Input, Of>;
  readonly #players = new Map<number, PlayerOf<World, Player, Input, Of>>();
  /** The numbers of the entities of other types that `steps` play. */
  readonly #things = new Set<number>();
  #stopped = false;

  /** @internal */
  constructor(
    core: GameCore,
    server: GameServer<Of>,
    options: ServeOptions<World, Player, Input, Of>,
  ) {
    super(core, options, 'server', GAME_BODY_SIZE);
    this.#server = server;
    this.#options = options;
    server.addEventListener('connect', this.#connected);
    server.addEventListener('tick', this.#run);
    for (const client of server.clients) this.#join(client);
  }

  /** The players, in the order in which they came. */
  get players(): readonly PlayerOf<World, Player, Input, Of>[] {
    return [...this.#players.values()];
  }

  /**
   * Sets an entity, or adds one. Numbers from the `maxClients` of the server on are no player's.
   * @returns the state as the players get it: compressed floats are rounded
   * @throws RangeError or TypeError that names the field that does not fit
   */
  set<Name extends Exclude<MessageName<World>, Input>>(
    id: number,
    type: Name,
    value: MessageValue<World, Name>,
  ): MessageValue<World, Name> {
    if (this.rules.steps?.[type as never]) this.#things.add(id);
    else this.#things.delete(id);
    return this.#set(id, type, value);
  }

  /** Removes an entity. */
  remove(id: number): void {
    this.#things.delete(id);
    this.core.exports.cw_game_server_remove(this.address, id);
  }

  /** Tells all pages that something happens to an entity in this tick, by its name in `events`; for `tick`. */
  emit(id: number, event: string): void {
    this.core.exports.cw_game_server_emit(this.address, id, this.kindOf(event));
  }

  /** Returns how the game is doing. */
  stats(): GameServerStats {
    const { core, address } = this;
    return core.withMemory(gameServerStatsStruct.size, (at) => {
      core.exports.cw_game_server_get_stats(address, at);
      const { memory } = core;
      return {
        ...memory.struct(at, gameServerStatsStruct.fields),
        fault: memory.struct(at + gameServerStatsAt.fault, gameFaultStruct.fields),
        snapshots: memory.struct(
          at + gameServerStatsAt.snapshots,
          snapshotServerStatsStruct.fields,
        ),
      };
    });
  }

  /** Ends the game. The connections stay. */
  stop(): void {
    this.destroy();
  }

  override destroy(): void {
    this.#stopped = true;
    this.#server.removeEventListener('connect', this.#connected);
    this.#server.removeEventListener('tick', this.#run);
    this.#players.clear();
    super.destroy();
  }

  readonly #connected = ({ client }: { readonly client: ServerClient<Of> }): void =>
    this.#join(client);

  #join(client: ServerClient<Of>): void {
    const { core, rules } = this;
    const { exports } = core;
    const { slot } = client;
    core.check(exports.cw_game_server_join(this.address, slot, slot));
    const state = this.#set(slot, rules.player, this.#options.join(client));
    const player = new GamePlayer(client, state, (id: number) => {
      const now = this.get(id);
      // An entity that may be touched is shown to a player as far ahead as the player itself.
      if (now && rules.touches?.(player.state, now)) return now;
      const seen = exports.cw_game_server_seen(this.address, slot, id, core.scratch);
      return seen ? this.shown() : undefined;
    }) as PlayerOf<World, Player, Input, Of>;
    this.#players.set(slot, player);
    const isHere = (): boolean => this.#players.get(slot) === player;
    bodiesOf(client).addEventListener('message', ({ message }) => {
      if (message.type !== gameMessage.name || !isHere()) return;
      const { body } = message.value;
      exports.cw_game_server_receive(this.address, slot, core.put(body), body.length, seconds());
    });
    client.addEventListener('disconnect', () => {
      if (!isHere()) return;
      this.#players.delete(slot);
      this.remove(slot);
      exports.cw_game_server_leave(this.address, slot);
    });
  }

  #set<Name extends MessageName<World>>(
    id: number,
    type: Name,
    value: MessageValue<World, Name>,
  ): MessageValue<World, Name> {
    const { core, schema, place } = this;
    const number = schema.number(type);
    schema.write(number, place, value as Record<string, unknown>);
    core.check(core.exports.cw_game_server_set(this.address, id, number, place));
    return schema.read(number, place) as MessageValue<World, Name>;
  }

  /** Plays the ticks that are due, and sends what has become of the world. */
  readonly #run = (): void => {
    const { exports, scratch } = this.core;
    const now = seconds();
    exports.cw_game_server_update(this.address, now);
    while (!this.#stopped && exports.cw_game_server_next_tick(this.address, scratch)) this.#play();
    if (!this.#stopped) this.#transmit(now);
  };

  /** Plays a tick as the pages do: entity by entity, in the order of their numbers. */
  #play(): void {
    const { place, inputStruct, rules } = this;
    const { exports } = this.core;
    for (const player of [...this.#players.values()].sort((a, b) => a.id - b.id)) {
      const { id } = player;
      if (!exports.cw_game_server_input(this.address, id, place)) continue;
      player.input = inputStruct.read(place);
      player.state = rules.step(player.state, player.input, this.#others(id), (event) =>
        this.emit(id, event),
      );
      // A page rounds each state before it steps the next entity.
      if (rules.touches) player.state = this.#set(id, rules.player, player.state);
    }
    for (const id of [...this.#things].sort((a, b) => a - b)) {
      const thing = this.get(id);
      if (thing)
        this.#set(
          id,
          thing.type,
          this.played(thing, this.#others(id), (event) =>
            this.emit(id, event),
          ) as typeof thing.value,
        );
    }
    this.#options.tick?.(this);
    for (const player of this.players)
      player.state = this.#set(player.id, rules.player, player.state);
  }

  /** The other players, and the entities of other types that are stepped. */
  *#others(but: number): Iterable<GameEntity<World, Input>> {
    const { player: type } = this.rules;
    for (const { id, state: value } of this.#players.values())
      if (id !== but) yield { id, type, value } as unknown as GameEntity<World, Input>;
    for (const id of this.#things) if (id !== but) yield this.get(id)!;
  }

  /** Chooses the entities that a player gets. */
  #focus(player: PlayerOf<World, Player, Input, Of>): void {
    const { core } = this;
    const { interest } = this.#options;
    if (!interest) return;
    const others = [...interest(player)].filter(({ entity }) => entity !== player.id);
    const chosen = [{ entity: player.id, priority: 1 }, ...others];
    const { size, fields } = priorityStruct;
    const at = core.memoryFor(size * chosen.length);
    chosen.forEach((one, i) => core.memory.setStruct(at + i * size, fields, { ...one }));
    core.check(
      core.exports.cw_game_server_set_interest(this.address, player.id, at, chosen.length),
    );
  }

  #transmit(now: number): void {
    const { core, place } = this;
    for (const player of this.players) {
      const { id, client } = player;
      this.#focus(player);
      const size = core.exports.cw_game_server_transmit(
        this.address,
        id,
        place,
        GAME_BODY_SIZE,
        now,
      );
      if (size === 0 || !client.writable) continue;
      bodiesOf(client).send(gameMessage.name, { body: core.memory.copy(place, size) });
    }
  }
}

/**
 * Serves a fast game to the clients of a server: each has a player, which the rules move by what the client's page
 * sends, and gets snapshots of all entities. The ticks are played in the server's own: a server that is late plays
 * those that it has missed.
 * @throws {@link MisuseError} `CONFIG` when an option cannot work, and what {@link loadGame} throws
 */
export async function serveGame<
  const Of extends Schema,
  const World extends Schema,
  const Player extends MessageName<World>,
  const Input extends MessageName<World>,
>(
  server: GameServer<Of> & HasGameMessage<Of>,
  options: ServeOptions<World, Player, Input, Of>,
): Promise<ServedGame<World, Player, Input, Of>> {
  checkOptions('serveGame', options, ['entities', 'player', 'input', 'step', 'join']);
  const kit = options.kit ?? (await loadGame());
  const defaults = kit.read(gameConfigStruct, (out) => kit.exports.cw_game_config_default(out, 0));
  const { maxEntities = defaults.maxEntities, interest } = options;
  return new ServedGame(kit, server, {
    maxClients: server.maxClients,
    ...(interest && { maxInterest: Math.min(65535, maxEntities) }),
    ...options,
  });
}
