import { Card } from './card.js';
import { Charts } from './charts.js';
import { element, fill, setText } from './dom.js';
import { listen } from './keys.js';
import { NetworkPanel } from './network.js';
import type { Lab } from './lab.js';
import { ColumnTrack } from './column_track.js';
import { LineTrack } from './line_track.js';
import { MyNetwork } from './my_network.js';
import { another, nameOf, onMyNetwork, realOf, simulatedOf } from './protocols.js';
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
import { columnsText } from './verdict.js';

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
  readonly #mine = new MyNetwork();
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
    this.#mine.onchange = () => this.#turn();
    this.#mine.onrelay = () => this.#begin();
    this.#mine.onfail = () => this.#play(false);
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
    this.#mine.leave();
    this.#start(settings, AGAIN_TICKS);
  }

  /** The protocols that a column may have. */
  get #known(): readonly string[] {
    return this.#mine.isOn ? onMyNetwork(this.lab.protocols) : this.lab.protocols;
  }

  /** Goes over to the real network or back. */
  #turn(): void {
    const { isOn } = this.#mine;
    const { settings } = this.run;
    const protocols = settings.protocols.map(isOn ? realOf : simulatedOf);
    this.#say('');
    this.#start({ ...settings, protocols }, 0);
    if (isOn) this.#play(true);
  }

  /** Begins anew, and goes on. */
  #begin(): void {
    this.restart();
    this.#play(true);
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

  /** Stops, and lets this many ticks pass. A real network does not wait for that. */
  step(ticks = 1): void {
    if (this.#mine.isOn) return;
    this.#play(false);
    this.run.advance(ticks);
    this.#show(true);
  }

  /** Begins or ends a flood. */
  #flood(on: boolean): void {
    if (this.#mine.isOn && on) return;
    this.run.flood(on);
    element('flood').ariaPressed = String(on);
  }

  #start(settings: Settings, ticks: number): void {
    const { length } = settings.protocols;
    this.run?.destroy();
    const { isOn } = this.#mine;
    this.#mine.show();
    this.run = isOn ? this.#mine.run(this.lab, settings) : simulated(this.lab, settings);
    if (!isOn) this.run.advance(ticks);
    this.#flood(false);
    this.#look({});
    this.#panel.show(settings, isOn);
    this.#place(length);
    this.#charts.reset(length);
    this.run.tracks.forEach((track, i) =>
      this.#cards[i]!.reset(track, length > COLUMNS.least, this.#known),
    );
    element<HTMLButtonElement>('add').disabled = length >= COLUMNS.most;
    for (const id of ['step', 'speed', 'flood']) element<HTMLButtonElement>(id).disabled = isOn;
    this.#rest = 0;
    this.#show(true);
  }

  /** Changes how the run is shown, and keeps the address of the page up to date. */
  #look(changes: Partial<View>): void {
    this.#view = { ...this.#view, ...changes };
    const { settings } = this.run;
    const protocols = settings.protocols.map(simulatedOf);
    history.replaceState(null, '', `#${write({ ...settings, protocols, ...this.#view })}`);
    this.#speeds.value = this.#mine.isOn ? '1' : this.#view.speed;
    this.#latencyOf.value = this.#view.latencyOf;
    const speed = SPEEDS[this.#speeds.value as View['speed']];
    element('pace').hidden = speed >= 1;
    setText(
      element('pace'),
      `Slow motion: a second takes ${1 / speed} s, so that single packets are seen.`,
    );
    this.#wordsAt = this.#charted = -Infinity;
  }

  /** Makes as many cards as there are columns, or removes those that are left over. */
  #place(count: number): void {
    while (this.#cards.length > count) this.#cards.pop()!.root.remove();
    while (this.#cards.length < count) {
      const place = this.#cards.length;
      const card = new Card(place);
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
      this.change({ protocols: [...protocols, another(this.#known, protocols)] });
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
      const speed = this.#mine.isOn ? 1 : SPEEDS[this.#view.speed];
      this.#rest += passed * speed * TICKS_PER_SECOND;
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
      cards[i]!.draw(
        track,
        this.#mine.isOn ? now : now + this.#rest / TICKS_PER_SECOND,
        this.#seen,
      ),
    );
    if (all || this.#seen - this.#wordsAt > WORDS_SECONDS) {
      this.#wordsAt = this.#seen;
      tracks.forEach((track, i) => cards[i]!.tell(track, this.#view.latencyOf, now, this.#seen));
      setText(element('time'), now.toFixed(1));
      this.#judge();
      const lines = tracks.filter((track) => track instanceof LineTrack);
      if (lines.length > 0) this.#mine.tell(lines);
    }
    if (all || this.#seen - this.#charted > CHART_SECONDS) {
      this.#charted = this.#seen;
      this.#charts.draw(
        tracks.map(({ latencies }) => latencies[this.#view.latencyOf]),
        now,
      );
    }
  }

  /** Says in a sentence what the columns differ in. */
  #judge(): void {
    const { latencyOf } = this.#view;
    const columns = this.run.tracks.map(({ protocol, latencies }) => ({
      name: nameOf(protocol),
      p99: latencies[latencyOf].quantile(0.99),
    }));
    setText(element('verdict'), columnsText(latencyOf, columns));
  }

  /** Stops or goes on; on a real network, where nothing stands still, it begins anew. */
  #toggle(): void {
    if (!this.playing && this.#mine.isOn) this.#begin();
    else this.#play(!this.playing);
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
    const seen = this.#mine.isOn ? 'these protocols on the simulated network' : 'this same run';
    try {
      await navigator.clipboard.writeText(location.href);
      this.#say(`The link is copied. Whoever opens it sees ${seen}.`);
    } catch {
      this.#say(`Copy the address of this page: whoever opens it sees ${seen}.`);
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
    const play = (): void => this.#toggle();
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
      n: () => this.#mine.isOn || this.#panel.reseed(),
      m: () => element('mine').click(),
      b: () => this.change({ blocks: !this.run.settings.blocks }),
      '-': () => this.#faster(-1),
      '+': () => this.#faster(1),
    });
    addEventListener('hashchange', () => this.open());
    // The ticks of a page that nobody sees stand still, and a real network does not.
    document.addEventListener('visibilitychange', () => {
      if (document.hidden && this.#mine.isOn) this.#play(false);
    });
  }
}

const simulated = (lab: Lab, settings: Settings): Run =>
  new Run(
    settings,
    settings.protocols.map((protocol) => new ColumnTrack(lab, protocol, settings)),
  );
