import './style.css';
import './recording.css';
import type uPlot from 'uplot';
import type { EndpointStats } from '../src/endpoint.js';
import { HEIGHT, plot } from './charts.js';
import { element, setText } from './dom.js';
import type { Lab } from './lab.js';
import { replay, type Replayed } from './replay.js';
import { start } from './start.js';

/** No recording is longer. */
const LONGEST_FILE = 2 ** 20;

type Line = (stats: EndpointStats) => number;

/** The lines of each chart. */
const CHARTS: Readonly<Record<string, readonly Line[]>> = {
  rtt: [({ rtt }) => rtt * 1000],
  rates: [
    ({ sentBytesPerSecond }) => sentBytesPerSecond / 125,
    ({ receivedBytesPerSecond }) => receivedBytesPerSecond / 125,
  ],
  losses: [({ lossSent }) => lossSent * 100, ({ lossReceived }) => lossReceived * 100],
};

/** A page that opens recordings of connections. */
class RecordingPage {
  #charts: uPlot[] = [];

  constructor(readonly lab: Lab) {
    const input = element<HTMLInputElement>('file');
    input.addEventListener('change', () => void this.#open(input.files?.[0]));
    addEventListener('dragover', (event) => event.preventDefault());
    addEventListener('drop', (event) => {
      event.preventDefault();
      void this.#open(event.dataTransfer?.files[0]);
    });
    new ResizeObserver(() => this.#fit()).observe(element('rtt'));
  }

  async #open(file: File | undefined): Promise<void> {
    if (!file) return;
    let text = '';
    try {
      const bytes = await file.slice(0, LONGEST_FILE).arrayBuffer();
      this.#show(replay(this.lab, new Uint8Array(bytes)));
    } catch {
      text = `${file.name} is no recording. Choose a file that has the bytes of record().`;
    }
    const failure = element('failure');
    setText(failure, text);
    failure.hidden = !text;
    if (!text) return;
    element('recorded').hidden = true;
    setText(element('verdict'), '');
  }

  #show({ told, points, stats, seconds }: Replayed): void {
    element('recorded').hidden = false;
    const { packetsSent, packetsAcked, packetsLost, packetsReceived, packetsMissed } = stats;
    // The recording of a relay has notes alone.
    const hasPackets = packetsSent + packetsReceived > 0;
    element('charts').hidden = !hasPackets;
    setText(
      element('verdict'),
      hasPackets
        ? `The last ${seconds.toFixed(1)} s of a connection that sent ${packetsSent} packets, of which ${packetsAcked} arrived and ${packetsLost} did not; ${packetsReceived} came, and ${packetsMissed} did not.`
        : '',
    );
    for (const chart of this.#charts) chart.destroy();
    const times = points.map(({ time }) => time);
    const axes = [
      { size: 26, values: (_: uPlot, values: number[]) => values.map((value) => `${value} s`) },
      { size: 44 },
    ];
    const range = (_: uPlot, __: number, most: number): [number, number] => [0, most * 1.1 || 1];
    this.#charts = Object.entries(CHARTS).map(([id, lines]) => {
      const chart = plot(element(id), lines.length, { x: { time: false }, y: { range } }, axes);
      const values = lines.map((line) => points.map((point) => line(point.stats)));
      chart.setData([times, ...values] as never);
      return chart;
    });
    const rows = told.map(({ time, text }) => {
      const row = document.createElement('tr');
      for (const cell of [`${time.toFixed(3)} s`, text]) row.insertCell().textContent = cell;
      return row;
    });
    document.querySelector('#events tbody')!.replaceChildren(...rows);
  }

  #fit(): void {
    for (const chart of this.#charts)
      chart.setSize({ width: element('rtt').clientWidth, height: HEIGHT });
  }
}

await start((lab) => new RecordingPage(lab));
