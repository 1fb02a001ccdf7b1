import './style.css';
import './lockstep.css';
import { Design } from './design.js';
import { element, fill, setText } from './dom.js';
import { PLAYERS } from './generated.js';
import { listen } from './keys.js';
import type { Lab } from './lab.js';
import { TICKS_PER_SECOND, parseSeed } from './settings.js';
import { start } from './start.js';
import { differsText, verdictText } from './verdict.js';

const SLIDERS = ['rtt', 'slow', 'loss'] as const;

/** The settings that a run depends on, in the units of the sliders, and the player whose screen is shown. */
type Settings = Record<(typeof SLIDERS)[number] | 'seed' | 'viewer', number>;

const DEFAULTS: Settings = { rtt: 50, slow: 300, loss: 1, seed: 1, viewer: 0 };
/** The most ticks that are computed again after a change of settings. */
const AGAIN_TICKS = 10 * TICKS_PER_SECOND;
/** The most seconds that one frame adds to a run: a page that was hidden does not make up for the time it missed. */
const LONGEST_FRAME = 0.1;
/** The milliseconds between changes of words, so that they can be read. */
const WORDS_MS = 150;

/** The same game twice: in lockstep, and with a server and prediction. */
class LockstepPage {
  playing = !matchMedia('(prefers-reduced-motion: reduce)').matches;
  ticks = 0;
  readonly designs: readonly [lockstep: Design, prediction: Design];
  #settings = DEFAULTS;
  #cut = false;
  /** The time of the last frame and of the last change of words, in milliseconds. */
  #seen = 0;
  #wordsAt = 0;
  /** The part of a tick that is to pass before the next one. */
  #rest = 0;

  constructor(lab: Lab) {
    this.designs = [new Design(lab, false), new Design(lab, true)];
    element('columns').append(...this.designs.map(({ root }) => root));
    fill(
      element<HTMLSelectElement>('viewer'),
      Array.from({ length: PLAYERS }, (_, i) => [
        String(i),
        `player ${i + 1}${i === PLAYERS - 1 ? ', the slow one' : ''}`,
      ]),
    );
    this.#listen();
    this.open();
    this.#play(this.playing);
    requestAnimationFrame((time) => {
      this.#seen = time;
      this.#frame(time);
    });
  }

  /** Runs what the address of the page describes. */
  open(): void {
    const said = new URLSearchParams(location.hash.slice(1));
    const settings = { ...DEFAULTS };
    for (const key of SLIDERS) {
      const input = element<HTMLInputElement>(key);
      // The slider puts right what it does not have.
      input.value = said.get(key) ?? String(DEFAULTS[key]);
      settings[key] = input.valueAsNumber;
    }
    settings.seed = parseSeed(said.get('seed') ?? '') ?? DEFAULTS.seed;
    const viewer = parseSeed(said.get('viewer') ?? '') ?? 0;
    settings.viewer = viewer < PLAYERS ? viewer : 0;
    this.#start(settings, AGAIN_TICKS);
  }

  /** Runs with other settings for as long as the run has lasted, but at most for AGAIN_TICKS. */
  change(changes: Partial<Settings>): void {
    this.#start({ ...this.#settings, ...changes }, Math.min(this.ticks, AGAIN_TICKS));
  }

  /** Begins the run anew at its first tick. */
  restart(): void {
    this.#start(this.#settings, 0);
  }

  /** Stops, and lets this many ticks pass. */
  step(ticks: number): void {
    this.#play(false);
    this.#advance(ticks);
    this.#show();
  }

  /** Cuts the slow player's line, or repairs it. */
  cut(cut: boolean): void {
    this.#cut = cut;
    for (const { match } of this.designs) match.cut(cut);
    element('cut').ariaPressed = String(cut);
  }

  #start(settings: Settings, ticks: number): void {
    const { rtt, slow, loss, seed } = settings;
    this.#keep(settings);
    const network = { rttSeconds: rtt / 1000, slowRttSeconds: slow / 1000, loss: loss / 100 };
    for (const design of this.designs) design.begin({ ...network, seed });
    this.ticks = this.#rest = 0;
    this.cut(false);
    for (const key of SLIDERS) {
      const input = element<HTMLInputElement>(key);
      input.valueAsNumber = settings[key];
      const text = `${settings[key]} ${key === 'loss' ? '%' : 'ms'}`;
      setText(input.parentElement!.querySelector('output')!, text);
      input.setAttribute('aria-valuetext', text);
    }
    element<HTMLInputElement>('seed').value = String(seed);
    this.#advance(ticks);
    this.#show();
  }

  /** Keeps the settings, also in the address of the page. */
  #keep(settings: Settings): void {
    this.#settings = settings;
    const texts = Object.entries(settings).map(([key, value]) => [key, String(value)]);
    history.replaceState(null, '', `#${new URLSearchParams(texts)}`);
    element<HTMLSelectElement>('viewer').value = String(settings.viewer);
  }

  #advance(ticks: number): void {
    for (const { match } of this.designs) match.step(ticks);
    this.ticks += ticks;
  }

  readonly #frame = (time: number): void => {
    requestAnimationFrame(this.#frame);
    const passed = Math.min((time - this.#seen) / 1000, LONGEST_FRAME);
    this.#seen = time;
    if (!this.playing) return;
    this.#rest += passed * TICKS_PER_SECOND;
    this.#advance(Math.floor(this.#rest));
    this.#rest %= 1;
    for (const design of this.designs) design.draw(this.#settings.viewer);
    if (time - this.#wordsAt > WORDS_MS) this.#tell(time);
  };

  #show(): void {
    for (const design of this.designs) design.draw(this.#settings.viewer);
    this.#tell(this.#seen);
  }

  /** Changes the words and figures. */
  #tell(time: number): void {
    this.#wordsAt = time;
    const [lockstep, prediction] = this.designs;
    setText(element('time'), (this.ticks / TICKS_PER_SECOND).toFixed(1));
    // The newest turn that everybody has.
    const turn = Math.min(...this.designs.map((design) => design.turns));
    const hashes = Array.from({ length: PLAYERS }, (_, i) => lockstep.match.hash(i, turn));
    const server = prediction.match.hash(PLAYERS, turn);
    const agree = new Set(hashes).size === 1;
    lockstep.tell(turn, hashes[0], agree ? 'same' : 'other', `all ${PLAYERS} players have`);
    const same = turn === 0 || (server !== undefined && server === hashes[0]);
    prediction.tell(turn, server, same ? 'same' : 'other', 'the server has');
    const { viewer } = this.#settings;
    const late = prediction.stats.reduce((sum, stats) => sum + stats.late, 0);
    setText(
      element('verdict'),
      verdictText(viewer, lockstep.stats[viewer]!, prediction.stats[viewer]!) +
        (same ? '' : ` ${differsText(late)}`),
    );
  }

  #play(playing: boolean): void {
    this.playing = playing;
    setText(element('play').firstElementChild!, playing ? 'Pause' : 'Play');
  }

  #listen(): void {
    const play = (): void => this.#play(!this.playing);
    const restart = (): void => this.restart();
    const cut = (): void => this.cut(!this.#cut);
    for (const [id, action] of Object.entries({ play, restart, cut }))
      element(id).addEventListener('click', action);
    listen({ ' ': play, r: restart, c: cut });
    for (const key of SLIDERS) {
      const input = element<HTMLInputElement>(key);
      input.addEventListener('input', () => this.change({ [key]: input.valueAsNumber }));
    }
    const seed = element<HTMLInputElement>('seed');
    seed.addEventListener('change', () => {
      const number = parseSeed(seed.value);
      seed.setCustomValidity(
        number === undefined ? 'A seed is a whole number from 0 to 4294967295.' : '',
      );
      if (seed.reportValidity()) this.change({ seed: number! });
    });
    const viewer = element<HTMLSelectElement>('viewer');
    viewer.addEventListener('change', () => {
      this.#keep({ ...this.#settings, viewer: Number(viewer.value) });
      this.#show();
    });
    addEventListener('hashchange', () => this.open());
  }
}

await start((lab) => new LockstepPage(lab));
