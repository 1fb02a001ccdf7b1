import { element } from './panel.js';
import type { Scene } from './view.js';

/** The latest seconds of which the worst is told. */
const SECONDS = 2;
/** The seconds between two changes of the figures, so that they can be read. */
const EVERY = 0.25;

/** The titles of the two halves, with the worst that was seen lately. */
export class Halves {
  readonly #figures = [element('tcp-behind'), element('causeway-behind')];
  readonly #switch = element<HTMLInputElement>('split');
  #worst: { readonly time: number; readonly behind: readonly number[] }[] = [];
  #told = 0;

  constructor() {
    this.#switch.addEventListener('change', () => this.#show());
    this.#show();
  }

  /** Both halves are shown, or Causeway's alone. */
  get shown(): boolean {
    return this.#switch.checked;
  }

  /** Takes what is shown now. */
  add(now: number, scenes: readonly Scene[]): void {
    if (!this.shown) return;
    const behind = scenes.map(({ behindSeconds }) => behindSeconds);
    this.#worst = [
      ...this.#worst.filter(({ time }) => time > now - SECONDS),
      { time: now, behind },
    ];
    if (now < this.#told + EVERY) return;
    this.#told = now;
    this.#figures.forEach((figure, half) => {
      const worst = Math.max(...this.#worst.map((one) => one.behind[half] ?? 0));
      figure.textContent = (worst * 1000).toFixed(0);
    });
  }

  #show(): void {
    this.#worst = [];
    document.body.dataset['split'] = this.shown ? 'yes' : 'no';
  }
}
