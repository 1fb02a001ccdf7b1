import { Card } from './card.js';
import { Charts } from './charts.js';
import { element, fill, setText } from './dom.js';
import { listen } from './keys.js';
import { NetworkPanel } from './network.js';
import type { Lab } from './lab.js';
import { another } from './protocols.js';
import { Run } from './run.js';
import {
  COLUMNS,
  SPEEDS,
  SPEED_NAMES,
  TICKS_PER_SECOND,
  TRAFFICS,
  read,
  write,
  type Settings,
  type View,
} from './settings.js';

/** The most ticks of a run that are computed again after a change of settings. */
const AGAIN_TICKS = 10 * TICKS_PER_SECOND;
/** The most seconds that one frame adds to a run: a page that was hidden does not make up for the time it missed. */
const LONGEST_FRAME = 0.1;
/**
 * The seconds between changes of words and of charts, which change less often than the dots so that they can be read.
 */
const WORDS_SECONDS = 0.15;
const CHART_SECONDS = 0.05;

export class Page {
  run!: Run;
  playing = !matchMedia('(prefers-reduced-motion: reduce)').matches;
  readonly #panel = new NetworkPanel();
  readonly #charts = new Charts(element('over-time'), element('distribution'));
  readonly #cards: Card[] = [];
  readonly #speeds = element<HTMLSelectElement>('speed');
  readonly #latencyOf = element<HTMLSelectElement>('latency');
  #view!: View;
  /** The time of the last frame, and of the last change of words and charts, in seconds. */
  #seen = 0;
  #wordsAt = 0;
  #charted = 0;
  /** The part of a tick that is to pass before the next one. */
  #rest = 0;

  constructor(readonly lab: Lab) {
    this.#panel.onchange = (changes) => this.change(changes);
    this.#choices();
    this.#listen();
    this.open();
    this.#play(this.playing);
    requestAnimationFrame((time) => {
      this.#seen = time / 1000;
      this.#frame(time);
    });
  }

  /** Runs what the address of the page describes. */
  open(): void {
    const { settings, view, faults } = read(location.hash, this.lab.protocols);
    this.#say(
      faults.length > 0
        ? `The address says ${faults.join(', ')}, which the lab does not know.`
        : '',
    );
    this.#view = view;
    this.#start(settings, AGAIN_TICKS);
  }

  /** Runs with other settings for as long as the run has lasted, but at most for AGAIN_TICKS. */
  change(changes: Partial<Settings>): void {
    this.#say('');
    this.#start({ ...this.run.settings, ...changes }, Math.min(this.run.ticks, AGAIN_TICKS));
  }

  /** Begins the run anew at its first tick. */
  restart(): void {
    this.#start(this.run.settings, 0);
  }

  /** Stops, and lets this many ticks pass. */
  step(ticks = 1): void {
    this.#play(false);
    this.run.advance(ticks);
    this.#show(true);
  }

  /** Begins or ends a flood. */
  #flood(on: boolean): void {
    this.run.flood(on);
    element('flood').ariaPressed = String(on);
  }

  #start(settings: Settings, ticks: number): void {
    const { length } = settings.protocols;
    this.run?.destroy();
    this.run = new Run(this.lab, settings);
    this.run.advance(ticks);
    this.#flood(false);
    this.#look({});
    this.#panel.show(settings);
    this.#place(length);
    this.#charts.reset(length);
    this.run.tracks.forEach((track, i) => this.#cards[i]!.reset(track, length > COLUMNS.least));
    element<HTMLButtonElement>('add').disabled = length >= COLUMNS.most;
    this.#rest = 0;
    this.#show(true);
  }

  /** Changes how the run is shown, and keeps the address of the page up to date. */
  #look(changes: Partial<View>): void {
    this.#view = { ...this.#view, ...changes };
    history.replaceState(null, '', `#${write({ ...this.run.settings, ...this.#view })}`);
    this.#speeds.value = this.#view.speed;
    this.#latencyOf.value = this.#view.latencyOf;
    this.#wordsAt = this.#charted = -Infinity;
  }

  /** Makes as many cards as there are columns, or removes those that are left over. */
  #place(count: number): void {
    while (this.#cards.length > count) this.#cards.pop()!.root.remove();
    while (this.#cards.length < count) {
      const place = this.#cards.length;
      const card = new Card(place, this.lab.protocols);
      card.onchoose = (protocol) =>
        this.change({
          protocols: this.run.settings.protocols.map((of, i) => (i === place ? protocol : of)),
        });
      card.onremove = () =>
        this.change({ protocols: this.run.settings.protocols.filter((_, i) => i !== place) });
      this.#cards.push(card);
      element('columns').append(card.root);
    }
  }

  #add(): void {
    const { protocols } = this.run.settings;
    if (protocols.length < COLUMNS.most)
      this.change({ protocols: [...protocols, another(this.lab.protocols, protocols)] });
  }

  /** Opens the explanation of each column, or closes them when all are open. */
  #explain(): void {
    const texts = document.querySelectorAll<HTMLDetailsElement>('.why');
    const open = [...texts].some((text) => !text.open);
    for (const text of texts) text.open = open;
  }

  readonly #frame = (time: number): void => {
    requestAnimationFrame(this.#frame);
    const passed = Math.min(time / 1000 - this.#seen, LONGEST_FRAME);
    this.#seen = time / 1000;
    if (this.playing) {
      this.#rest += passed * SPEEDS[this.#view.speed] * TICKS_PER_SECOND;
      this.run.advance(Math.floor(this.#rest));
      this.#rest %= 1;
    }
    this.#show(false);
  };

  /** Draws the dots; words and charts too when it is time for them or when `all` is set. */
  #show(all: boolean): void {
    const { tracks, now } = this.run;
    const cards = this.#cards;
    tracks.forEach((track, i) =>
      cards[i]!.draw(track, now + this.#rest / TICKS_PER_SECOND, this.#seen),
    );
    if (all || this.#seen - this.#wordsAt > WORDS_SECONDS) {
      this.#wordsAt = this.#seen;
      tracks.forEach((track, i) => cards[i]!.tell(track, this.#view.latencyOf, now, this.#seen));
      setText(element('time'), now.toFixed(1));
    }
    if (all || this.#seen - this.#charted > CHART_SECONDS) {
      this.#charted = this.#seen;
      this.#charts.draw(
        tracks.map(({ latencies }) => latencies[this.#view.latencyOf]),
        now,
      );
    }
  }

  #say(text: string): void {
    element('said').textContent = text;
  }

  #play(playing: boolean): void {
    this.playing = playing;
    setText(element('play').firstElementChild!, playing ? 'Pause' : 'Play');
  }

  /** Goes to the next faster or slower speed. */
  #faster(by: number): void {
    const place = SPEED_NAMES.indexOf(this.#view.speed) + by;
    const speed = SPEED_NAMES[place];
    if (speed) this.#look({ speed });
  }

  async #share(): Promise<void> {
    try {
      await navigator.clipboard.writeText(location.href);
      this.#say('The link is copied. Whoever opens it sees this same run.');
    } catch {
      this.#say('Copy the address of this page: whoever opens it sees this same run.');
    }
  }

  #choices(): void {
    const speeds = this.#speeds;
    fill(
      speeds,
      SPEED_NAMES.map((name) => [name, `${name}×`]),
    );
    speeds.addEventListener('change', () => this.#look({ speed: speeds.value as View['speed'] }));
    const latencyOf = this.#latencyOf;
    fill(
      latencyOf,
      TRAFFICS.map((traffic) => [traffic, `${traffic}s`]),
    );
    latencyOf.addEventListener('change', () =>
      this.#look({ latencyOf: latencyOf.value as View['latencyOf'] }),
    );
  }

  #listen(): void {
    const play = (): void => this.#play(!this.playing);
    const step = (): void => this.step();
    const restart = (): void => this.restart();
    const share = (): void => void this.#share();
    const add = (): void => this.#add();
    const explain = (): void => this.#explain();
    const flood = (): void => this.#flood(!this.run.flooded);
    const buttons = { play, step, restart, share, add, explain, flood };
    for (const [id, action] of Object.entries(buttons))
      element(id).addEventListener('click', action);
    listen({
      ' ': play,
      '.': step,
      r: restart,
      s: share,
      a: add,
      w: explain,
      f: flood,
      n: () => this.#panel.reseed(),
      b: () => this.change({ blocks: !this.run.settings.blocks }),
      '-': () => this.#faster(-1),
      '+': () => this.#faster(1),
    });
    addEventListener('hashchange', () => this.open());
  }
}
