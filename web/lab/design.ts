import { prepare } from '../demo/canvas.js';
import { element, setText } from './dom.js';
import {
  PITCH_HEIGHT,
  PITCH_WIDTH,
  PLAYERS,
  type LabMatchConfig,
  type LabMatchStats,
} from './generated.js';
import type { Lab } from './lab.js';
import { Match } from './match.js';
import { milliseconds } from './verdict.js';

/** The radius of a player and of the ball, in units of the pitch. */
const PLAYER = 44;
const BALL = 24;
const SLOW = PLAYERS - 1;

const TITLES = ['Deterministic lockstep', 'A server and prediction'];

/** One of the two designs on the page, and its match. */
export class Design {
  readonly root: HTMLElement;
  match!: Match;
  /** The figures of each player. */
  stats: readonly LabMatchStats[] = [];
  readonly #canvas: HTMLCanvasElement;
  readonly #rows: readonly HTMLTableRowElement[];

  constructor(
    readonly lab: Lab,
    readonly prediction: boolean,
  ) {
    const template = element<HTMLTemplateElement>('design');
    this.root = template.content.firstElementChild!.cloneNode(true) as HTMLElement;
    const title = TITLES[Number(prediction)]!;
    this.root.querySelector('h2')!.textContent = title;
    this.#canvas = this.root.querySelector('canvas')!;
    this.#canvas.style.aspectRatio = `${PITCH_WIDTH + 2 * PLAYER} / ${PITCH_HEIGHT + 2 * PLAYER}`;
    this.#canvas.ariaLabel = `${title}: the players and the ball`;
    const body = this.root.querySelector('tbody')!;
    this.#rows = Array.from({ length: PLAYERS }, (_, i) => {
      const row = body.insertRow();
      row.insertCell().textContent = i === SLOW ? `${i + 1}, slow` : String(i + 1);
      for (let cell = 0; cell < 3; cell++) row.insertCell();
      return row;
    });
  }

  begin(config: Omit<LabMatchConfig, 'prediction'>): void {
    this.match?.destroy();
    this.match = new Match(this.lab, { ...config, prediction: this.prediction });
    this.stats = this.#look();
  }

  /** The turns that all players have seen. */
  get turns(): number {
    return Math.min(...this.#look().map(({ turns }) => turns));
  }

  #look(): LabMatchStats[] {
    return Array.from({ length: PLAYERS }, (_, i) => this.match.stats(i));
  }

  /** Draws what a player has on the screen. */
  draw(viewer: number): void {
    const { context, width, color } = prepare(this.#canvas);
    const scale = width / (PITCH_WIDTH + 2 * PLAYER);
    const spot = (player: number): readonly [x: number, y: number] => {
      const { x, y } = this.match.look(viewer, player);
      return [(x + PLAYER) * scale, (y + PLAYER) * scale];
    };
    context.textAlign = 'center';
    context.textBaseline = 'middle';
    context.font = `600 ${44 * scale}px system-ui, sans-serif`;
    for (let player = 0; player < PLAYERS; player++) {
      const [x, y] = spot(player);
      context.fillStyle = color(player === SLOW ? 'down' : 'up');
      context.beginPath();
      context.arc(x, y, PLAYER * scale, 0, 2 * Math.PI);
      context.fill();
      if (player === viewer) {
        context.strokeStyle = color('text');
        context.lineWidth = 3;
        context.stroke();
      }
      context.fillStyle = color('card');
      context.fillText(String(player + 1), x, y);
    }
    const [x, y] = spot(PLAYERS);
    context.fillStyle = color('text');
    context.beginPath();
    context.arc(x, y, BALL * scale, 0, 2 * Math.PI);
    context.fill();
  }

  /** Shows the figures, and the hash of the state after a turn. */
  tell(turn: number, hash: string | undefined, verdict: 'same' | 'other', who: string): void {
    const before = this.stats;
    this.stats = this.#look();
    const line = this.root.querySelector<HTMLElement>('.hash')!;
    const code = document.createElement('code');
    code.className = verdict;
    code.textContent = hash ?? '–';
    line.replaceChildren(`After turn ${turn} ${who} `, code);
    this.#rows.forEach((row, i) => {
      const { ownSeconds, othersSeconds, stalledSeconds } = this.stats[i]!;
      setText(row.cells[1]!, milliseconds(ownSeconds));
      setText(row.cells[2]!, milliseconds(othersSeconds));
      setText(row.cells[3]!, `${stalledSeconds.toFixed(1)} s`);
    });
    const stands = this.stats.every(
      ({ stalledSeconds }, i) => stalledSeconds - before[i]!.stalledSeconds > 0.1,
    );
    this.#canvas.classList.toggle('stalled', stands);
  }
}
