import type { LabMatchStats } from './generated.js';
import { duration } from './words.js';

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

/** The time that 99 of 100 take in a column, in milliseconds; NaN before there is any. */
interface Judged {
  readonly name: string;
  readonly p99: number;
}

/** Less than this ratio is no difference that would be seen. */
const ALIKE = 1.1;

/** Says in a sentence what the columns differ in; nothing before all have something to show, or about one alone. */
export function columnsText(what: string, columns: readonly Judged[]): string {
  const sorted = [...columns].sort((one, other) => one.p99 - other.p99);
  const [best, worst] = [sorted[0]!, sorted.at(-1)!];
  if (best === worst || columns.some(({ p99 }) => Number.isNaN(p99))) return '';
  const within = `99 of 100 ${what}s arrive within`;
  return worst.p99 < ALIKE * best.p99
    ? `${within} ${duration(worst.p99)} with each of them.`
    : `${within} ${duration(best.p99)} with ${best.name}, and within ${duration(worst.p99)} with ${worst.name}: ` +
        `${(worst.p99 / best.p99).toFixed(1)} times as long.`;
}

/** Says why the server's game is not that of lockstep. */
export const differsText = (late: number): string =>
  late > 0
    ? `The server did not wait for ${late} moves that came too late, so its game is another one by now, and its word counts.`
    : 'The turn is too long ago to be compared.';
