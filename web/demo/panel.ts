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

/** The switches and sliders beside the game, and its graphs. */
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

  constructor() {
    for (const name of Object.keys(this.switches) as (keyof Switches)[]) {
      const box = element<HTMLInputElement>(name);
      const apply = (): void => void (this.switches[name] = box.checked);
      box.addEventListener('change', apply);
      apply();
    }
    for (const radio of this.#transports())
      radio.addEventListener('change', () => this.ontransport(radio.value as RelayTransportKind));
    const sliders = ['latency', 'jitter', 'loss'].map((id) => element<HTMLInputElement>(id));
    const apply = (): void => {
      const [latency, jitter, loss] = sliders.map((slider) => slider.valueAsNumber);
      element('latency-value').textContent = `${latency} ms each way`;
      element('jitter-value').textContent = `${jitter} ms`;
      element('loss-value').textContent = `${loss} % each way`;
      this.path = {
        latencySeconds: latency! / 1000,
        jitterSeconds: jitter! / 1000,
        loss: loss! / 100,
      };
      this.onpath();
    };
    sliders.forEach((slider) => slider.addEventListener('input', apply));
    apply();
    // On a phone the game comes first.
    if (matchMedia('(max-width: 56rem)').matches) element<HTMLDetailsElement>('lab').open = false;
  }

  /** Shows which transport the game uses. */
  set transport(kind: string) {
    for (const radio of this.#transports()) radio.checked = radio.value === kind;
  }

  /** Adds the current figures to the graphs. The page calls it ten times a second. */
  add(play: Play): void {
    const stats = play.client.stats();
    const now = seconds();
    const { corrections } = play.counts;
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
