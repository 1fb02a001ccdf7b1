import { element, setText } from './dom.js';
import type { Lab } from './lab.js';
import { LineTrack } from './line_track.js';
import { Links } from './links.js';
import { Run } from './run.js';
import type { Settings } from './settings.js';

const percent = (share: number): string => `${(100 * share).toFixed(1)} %`;

/** The switch from the simulated network to a real one, with what it says. */
export class MyNetwork {
  /** Is called when the switch is turned. */
  onchange: () => void = () => {};
  /** Is called when another relay is to be used. */
  onrelay: () => void = () => {};
  /** Is called when a column cannot go on. */
  onfail: () => void = () => {};
  readonly #on = element<HTMLInputElement>('mine');
  readonly #relay = element<HTMLInputElement>('relay');
  readonly #failure = element('failure');
  #links: Links | undefined;

  constructor() {
    this.#relay.value = new URL('/', location.href).href;
    this.#on.addEventListener('change', () => this.onchange());
    this.#relay.addEventListener('change', () => {
      this.#close();
      if (this.isOn) this.onrelay();
    });
  }

  get isOn(): boolean {
    return this.#on.checked;
  }

  /** Turns the switch off. */
  leave(): void {
    this.#on.checked = false;
    this.show();
  }

  /** Shows whether the switch is on. Links end when it is not. */
  show(): void {
    const on = this.isOn;
    if (!on) this.#close();
    document.body.dataset['network'] = on ? 'real' : 'simulated';
    this.#failure.hidden = true;
    setText(element('measured-through'), this.#relay.value);
  }

  /** Begins a run. */
  run(lab: Lab, settings: Settings): Run<LineTrack> {
    const begun = performance.now();
    const clock = (): number => (performance.now() - begun) / 1000;
    const relay = this.#relay.value;
    const links = (this.#links ??= new Links(relay));
    links.keep(settings.protocols.length);
    const tracks = settings.protocols.map((protocol, place) => {
      const link = links.open(place, protocol === 'websocket' ? 'websocket' : 'webrtc');
      const fail = (why: string): void => this.#fail(why);
      return new LineTrack(lab, protocol, settings, { relay, link, clock, fail });
    });
    return new Run(settings, tracks, clock);
  }

  /** Says what the packets of a run tell of the line. */
  tell(tracks: readonly LineTrack[]): void {
    const times = tracks.map(({ leastRtt }) => leastRtt).filter((rtt) => rtt > 0);
    const sum = (of: (track: LineTrack) => number): number =>
      tracks.reduce((all, track) => all + of(track), 0);
    const lost = sum((track) => track.lost) / sum((track) => track.packets);
    const text =
      times.length === 0
        ? 'Connecting.'
        : `A packet takes ${(1000 * Math.min(...times)).toFixed(0)} ms there and back at best; ${percent(lost)} are lost.`;
    setText(element('line'), text);
    setText(element('summary'), `my network: ${text}`);
  }

  #fail(why: string): void {
    if (!this.#failure.hidden) return;
    this.#failure.textContent = why;
    this.#failure.hidden = false;
    this.onfail();
  }

  #close(): void {
    this.#links?.keep(0);
    this.#links = undefined;
  }
}
