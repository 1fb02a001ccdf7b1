import { element } from './panel.js';
import type { Shot } from './view.js';

const SECONDS = 0.09;
const VOLUME = 0.08;

/** The sound of the shots, which is off until the player asks for it. */
export class Sound {
  readonly #switch = element<HTMLInputElement>('sound');
  #context: AudioContext | undefined;
  #heard = 0;

  constructor() {
    // Only what a person does may start the sound, so it is made here.
    this.#switch.addEventListener('change', () => (this.#context ??= new AudioContext()));
  }

  /** Plays the shots that are new. */
  hear(shots: readonly Shot[]): void {
    const fresh = shots.filter(({ time }) => time > this.#heard);
    if (fresh.length === 0) return;
    this.#heard = fresh.at(-1)!.time;
    if (!this.#context || !this.#switch.checked) return;
    for (const { by } of fresh) this.#play(this.#context, 180 + (by % 8) * 40);
  }

  #play(context: AudioContext, pitch: number): void {
    const now = context.currentTime;
    const oscillator = new OscillatorNode(context, { type: 'triangle', frequency: pitch * 2 });
    const gain = new GainNode(context, { gain: VOLUME });
    oscillator.frequency.exponentialRampToValueAtTime(pitch, now + SECONDS);
    gain.gain.exponentialRampToValueAtTime(0.001, now + SECONDS);
    oscillator.connect(gain).connect(context.destination);
    oscillator.start();
    oscillator.stop(now + SECONDS);
  }
}
