import type { LabMatchStats } from './generated.js';

export const milliseconds = (seconds: number): string => `${Math.round(seconds * 1000)} ms`;

const oneDesign = ({ ownSeconds, stalledSeconds }: LabMatchStats): string =>
  `after ${milliseconds(ownSeconds)}, and stood still for ${stalledSeconds.toFixed(1)} s in all`;

/** Says what the two designs mean for a player. */
export const verdictText = (
  player: number,
  lockstep: LabMatchStats,
  prediction: LabMatchStats,
): string =>
  `In lockstep, player ${player + 1} sees their own moves ${oneDesign(lockstep)}. ` +
  `With prediction, they see them ${oneDesign(prediction)}.`;

/** Says why the server's game is not that of lockstep. */
export const differsText = (late: number): string =>
  late > 0
    ? `The server did not wait for ${late} moves that came too late, so its game is another one by now, and its word counts.`
    : 'The turn is too long ago to be compared.';
