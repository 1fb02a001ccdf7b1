import type { MessageValue } from 'causeway-net';
import type { GameEntity } from 'causeway-net/game';
import { BODY_METRE, METRE, ROUND, entities } from './schema.js';

export type Player = MessageValue<typeof entities, 'player'>;
export type Command = MessageValue<typeof entities, 'command'>;
export type Entities = readonly GameEntity<typeof entities, 'command'>[];

/** The number of shots that are remembered. */
export const SHOTS = 32;
/** An entity that moves farther than this from one state to the next, in metres, has been put there. */
const SMOOTH = 4;

/** The rules of both games of the page, but for the step of a player, which is in step.c. */
export const rules = {
  entities,
  input: 'command',
  maxEntities: ROUND + 1,
  smooth: { player: { at: SMOOTH * METRE }, body: { at: SMOOTH * BODY_METRE } },
} as const;
