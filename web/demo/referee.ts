import { element } from './panel.js';
import { NAME_BYTES } from './schema.js';
import type { Round } from './view.js';

/** The seconds for which the winner of a round is shown. */
const SHOWN = 6;

/** Returns as much of a name as its message takes. */
export function fitting(name: string): string {
  const encoder = new TextEncoder();
  let short = '';
  for (const character of name.replaceAll('\0', '').trim()) {
    if (encoder.encode(short + character).length > NAME_BYTES) break;
    short += character;
  }
  return short;
}

/** Shows the time of the round, and who has won the one before. */
export class Referee {
  readonly #clock = element('clock');
  readonly #winner = element('winner');

  show(round: Round | undefined): void {
    if (!round) return;
    const left = Math.ceil(round.secondsLeft);
    const text = `${Math.floor(left / 60)}:${String(left % 60).padStart(2, '0')}`;
    if (this.#clock.textContent !== text) this.#clock.textContent = text;
    const { won } = round;
    const says =
      won && round.secondsPassed < SHOWN
        ? `${won.name} ${won.name === 'You' ? 'win' : 'wins'} the round with ${won.bodies} bodies`
        : '';
    if (this.#winner.textContent !== says) this.#winner.textContent = says;
  }
}
