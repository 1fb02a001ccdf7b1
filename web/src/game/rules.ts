import { bytes } from '../messages/fields.js';
import { message, type MessageName, type MessageValue, type Schema } from '../messages/schema.js';
import type { Smooth } from './between.js';
import { GAME_BODY_SIZE, type GameConfig } from './generated.js';

/**
 * The message of {@link playGame} and {@link serveGame}, for the schema of the connection, which may have others beside
 * it: `schema(gameMessage, message('say', ...))`.
 */
export const gameMessage = message('game_body', { body: bytes(GAME_BODY_SIZE) });

/** A schema with no other message, as the kit sees that of any connection. */
export type BodySchema = Schema<readonly [typeof gameMessage]>;

/** This type refuses a connection whose schema lacks the {@link gameMessage}. */
export type HasGameMessage<Of extends Schema> =
  'game_body' extends MessageName<Of> ? unknown : { readonly schema: 'needs the gameMessage' };

/**
 * Tells that something happens in the step that calls it, by its name in `events`. The page believes the steps of its own
 * player at once, also when it plays a tick again, but each name happens once in a tick.
 */
export type Emit = (event: string) => void;

/** The rules that the page and the server of a game have in common. */
export interface GameRules<
  World extends Schema,
  Player extends MessageName<World>,
  Input extends MessageName<World>,
> extends Pick<GameConfig, 'ticksPerSecond' | 'maxEntities' | 'window' | 'coding'> {
  /** The types of entities, and the type of inputs. */
  readonly entities: World;
  /** The name of the type of a player's own entity. */
  readonly player: Player;
  /** The name of the type of what a player does in a tick. */
  readonly input: Input;
  /**
   * Plays one tick: returns the player's state after it. The result may depend on nothing but state and input, because
   * the page plays each tick before the server does, and again when it was wrong. With `touches` it may also depend on
   * the others: those that the page predicts too, which on the server are among all. Both ends step the entities in the
   * order of their numbers.
   */
  readonly step: (
    player: MessageValue<World, Player>,
    input: MessageValue<World, Input>,
    others: Iterable<GameEntity<World, Input>>,
    emit: Emit,
  ) => MessageValue<World, Player>;
  /** The names of what may happen in a step and is to be played once, as a sound: at most 256. */
  readonly events?: readonly string[];
  /**
   * Returns whether an entity may touch a player within the next moments. The page then predicts it too, as far ahead
   * as the player itself, up to `maxGroup` of them (default 16). Default: none, so that all others are shown as they
   * were.
   */
  readonly touches?: (
    player: MessageValue<World, Player>,
    other: GameEntity<World, Input>,
  ) => boolean;
  /** Returns what another player is taken to do now, by its state. `touches` needs it. */
  readonly guess?: (player: MessageValue<World, Player>) => MessageValue<World, Input>;
  /** Plays one tick of entities of other types, for `touches`, after the players'. An entity whose type has none stays as it is. */
  readonly steps?: {
    readonly [Name in Exclude<MessageName<World>, Player | Input>]?: (
      entity: MessageValue<World, Name>,
      others: Iterable<GameEntity<World, Input>>,
      emit: Emit,
    ) => MessageValue<World, Name>;
  };
  /** The fields that move smoothly. Default: none, so that everything moves by whole snapshots. */
  readonly smooth?: Smooth<World>;
}

/** An entity: its number, its type, and its state. */
export type GameEntity<World extends Schema, Input extends MessageName<World>> = {
  readonly [Name in Exclude<MessageName<World>, Input>]: {
    readonly id: number;
    readonly type: Name;
    readonly value: MessageValue<World, Name>;
  };
}[Exclude<MessageName<World>, Input>];
