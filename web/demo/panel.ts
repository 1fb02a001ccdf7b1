import type { RelayTransportKind } from 'causeway-net';
import type { SimulatorPath } from 'causeway-net/server';
import { Chart } from './chart.js';
import type { Play, Switches } from './play.js';
import { seconds } from './play.js';

export const element = <Type extends HTMLElement>(id: string): Type =>
  document.getElementById(id) as Type;

const show = (id: string, value: number, digits = 0): void => {
  element(id).textContent = value.toFixed(digits);
};

const SLIDERS = ['latency', 'jitter', 'loss'] as const;

/** Networks to start from, by the names that they have in the address of the page, as the sliders show them. */
const PRESETS = {
  good: { name: 'Good line', values: [0, 0, 0] },
  wifi: { name: 'Bad Wi-Fi', values: [40, 20, 6] },
  train: { name: 'Train', values: [60, 40, 12] },
  satellite: { name: 'Satellite', values: [280, 10, 1] },
} as const;
type Preset = keyof typeof PRESETS;

/** The switches and sliders over the game, and its graphs. */
export class Panel {
  readonly switches: Switches = {
    prediction: true,
    interpolation: true,
    compensation: true,
    ghost: false,
  };
  path: SimulatorPath = {};
  onpath: () => void = () => {};
  ontransport: (kind: RelayTransportKind) => void = () => {};
  readonly #charts = {
    rtt: new Chart(element('rtt-chart'), ['up'], 20),
    loss: new Chart(element('loss-chart'), ['up', 'down'], 10),
    bandwidth: new Chart(element('bandwidth-chart'), ['up', 'down'], 5),
    corrections: new Chart(element('corrections-chart'), ['up'], 4),
    snapshot: new Chart(element('snapshot-chart'), ['down'], 200),
  };
  #corrections = 0;
  readonly #presets = new Map<Preset, HTMLButtonElement>();
  readonly #bad = element<HTMLInputElement>('bad');

  /** Begins with the network of this name; without one, with the one that shows most. */
  constructor(network: string | null) {
    for (const name of Object.keys(this.switches) as (keyof Switches)[]) {
      const box = element<HTMLInputElement>(name);
      const apply = (): void => void (this.switches[name] = box.checked);
      box.addEventListener('change', apply);
      apply();
    }
    for (const radio of this.#transports())
      radio.addEventListener('change', () => this.ontransport(radio.value as RelayTransportKind));
    for (const id of SLIDERS) element(id).addEventListener('input', () => this.#slid());
    for (const preset of Object.keys(PRESETS) as Preset[]) {
      const button = document.createElement('button');
      button.type = 'button';
      button.className = 'quiet';
      button.textContent = PRESETS[preset].name;
      button.addEventListener('click', () => this.#choose(preset));
      this.#presets.set(preset, button);
    }
    element('presets').append(...this.#presets.values());
    this.#bad.addEventListener('change', () => this.#choose(this.#bad.checked ? 'wifi' : 'good'));
    this.#choose(network && network in PRESETS ? (network as Preset) : 'wifi');
  }

  /** Makes the network one of the presets. */
  #choose(preset: Preset): void {
    const { values } = PRESETS[preset];
    SLIDERS.forEach((id, i) => (element<HTMLInputElement>(id).valueAsNumber = values[i]!));
    this.#slid();
  }

  /** Makes the network what the sliders say. */
  #slid(): void {
    const values = SLIDERS.map((id) => element<HTMLInputElement>(id).valueAsNumber);
    const [latency, jitter, loss] = values as [number, number, number];
    element('latency-value').textContent = `${latency} ms each way`;
    element('jitter-value').textContent = `${jitter} ms`;
    element('loss-value').textContent = `${loss} % each way`;
    for (const [preset, button] of this.#presets)
      button.ariaPressed = String(PRESETS[preset].values.every((value, i) => value === values[i]));
    this.#bad.checked = this.#presets.get('wifi')!.ariaPressed === 'true';
    this.path = {
      latencySeconds: latency / 1000,
      jitterSeconds: jitter / 1000,
      loss: loss / 100,
    };
    this.onpath();
  }

  /** Shows which transport the game uses. */
  set transport(kind: string) {
    for (const radio of this.#transports()) radio.checked = radio.value === kind;
  }

  /** Adds the current figures to the graphs. The page calls it ten times a second. */
  add(play: Play): void {
    const stats = play.client.stats();
    const now = seconds();
    const { corrections } = play.game.stats().prediction;
    const perSecond = Math.max(0, corrections - this.#corrections) * 10;
    this.#corrections = corrections;
    show('rtt', stats.rtt * 1000, stats.rtt < 0.01 ? 1 : 0);
    show('loss-sent', stats.lossSent * 100, 1);
    show('loss-received', stats.lossReceived * 100, 1);
    show('sent', stats.sentBytesPerSecond / 1000, 1);
    show('received', stats.receivedBytesPerSecond / 1000, 1);
    show('corrections', perSecond);
    show('snapshot-bytes', play.snapshotBytes);
    this.#charts.rtt.add(now, [stats.rtt * 1000]);
    this.#charts.loss.add(now, [stats.lossSent * 100, stats.lossReceived * 100]);
    this.#charts.bandwidth.add(now, [
      stats.sentBytesPerSecond / 1000,
      stats.receivedBytesPerSecond / 1000,
    ]);
    this.#charts.corrections.add(now, [perSecond]);
    this.#charts.snapshot.add(now, [play.snapshotBytes]);
  }

  draw(): void {
    if (!element<HTMLDetailsElement>('lab').open) return;
    for (const chart of Object.values(this.#charts)) chart.draw(seconds());
  }

  #transports(): NodeListOf<HTMLInputElement> {
    return document.querySelectorAll<HTMLInputElement>('input[name="transport"]');
  }
}
