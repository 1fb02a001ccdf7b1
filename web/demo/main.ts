import { loadCore, type TransportKind } from 'causeway-net';
import { Chart, prepare } from './chart.js';
import { Game } from './game.js';
import { FATES, Link, seconds } from './link.js';

const element = <Type extends HTMLElement>(id: string): Type => document.getElementById(id) as Type;

const show = (id: string, value: number, digits = 0): void => {
  element(id).textContent = value.toFixed(digits);
};

const state = (name: 'connecting' | 'open' | 'closed', text: string): void => {
  element('state').dataset.state = name;
  element('state').textContent = text;
};

const rttChart = new Chart(element('rtt-chart'), ['up'], 20);
const lossChart = new Chart(element('loss-chart'), ['up', 'down'], 10);

function showStats({ client }: Link): void {
  const stats = client.stats();
  show('packets-sent', stats.packetsSent);
  show('packets-acked', stats.packetsAcked);
  show('packets-received', stats.packetsReceived);
  show('packets-lost', stats.packetsLost);
  show('packets-missed', stats.packetsMissed);
  show('rtt', stats.rtt * 1000, stats.rtt < 0.01 ? 1 : 0);
  show('jitter', stats.jitter * 1000, 1);
  show('loss-sent', stats.lossSent * 100, 1);
  show('loss-received', stats.lossReceived * 100, 1);
  show('bandwidth-sent', stats.sentBytesPerSecond / 1000, 1);
  show('bandwidth-received', stats.receivedBytesPerSecond / 1000, 1);
  rttChart.add(seconds(), [stats.rtt * 1000]);
  lossChart.add(seconds(), [stats.lossSent * 100, stats.lossReceived * 100]);
}

/** A field for every packet, oldest to newest. */
function drawFates(link: Link): void {
  const fates = link.fates();
  const { context, width, height, color } = prepare(element<HTMLCanvasElement>('fates'));
  const columns = Math.round(Math.sqrt((FATES * width) / height));
  const cell = Math.min(width / columns, height / Math.ceil(FATES / columns));
  const colors = { flying: color('idle'), acked: color('good'), lost: color('bad') };
  fates.forEach((fate, i) => {
    context.fillStyle = colors[fate];
    context.fillRect((i % columns) * cell, Math.floor(i / columns) * cell, cell - 2, cell - 2);
  });
}

/** The three sliders change the simulators as they are moved. */
function watchSliders(link: Link): void {
  const sliders = ['latency', 'shake', 'loss'].map((id) => element<HTMLInputElement>(id));
  const apply = (): void => {
    const [latency, jitter, loss] = sliders.map((slider) => slider.valueAsNumber);
    element('latency-value').textContent = `${latency} ms each way`;
    element('shake-value').textContent = `${jitter} ms`;
    element('loss-value').textContent = `${loss} % each way`;
    link.worsen({
      latencySeconds: latency! / 1000,
      jitterSeconds: jitter! / 1000,
      loss: loss! / 100,
    });
  };
  sliders.forEach((slider) => slider.addEventListener('input', apply));
  apply();
}

/** The address of the page may say which transports to try: `?transport=websocket`. */
function wishes(): { transports?: TransportKind[] } {
  const names = new URLSearchParams(location.search).getAll('transport') as TransportKind[];
  return names.length > 0 ? { transports: names } : {};
}

/** A token from the backend, which is on the next port unless the address of the page says which. */
async function askToken(): Promise<ArrayBuffer> {
  const backend = new URL('/token', location.href);
  const port = new URLSearchParams(location.search).get('backend');
  backend.port = port ?? String(Number(location.port) + 1);
  const response = await fetch(backend);
  if (!response.ok) throw new Error(`the backend answered ${response.status}`);
  return response.arrayBuffer();
}

async function main(): Promise<void> {
  const core = await loadCore();
  const url = new URL('/', location.href);
  const link = await Link.connect(core, url, await askToken(), wishes());
  state('open', `connected: ${link.client.transport}`);
  void link.client.closed.then(({ message }) => state('closed', `closed: ${message}`));
  watchSliders(link);
  const game = new Game(link.client);
  setInterval(() => showStats(link), 100);
  const draw = (): void => {
    rttChart.draw(seconds());
    lossChart.draw(seconds());
    drawFates(link);
    game.draw();
    requestAnimationFrame(draw);
  };
  draw();
}

main().catch((error: unknown) => {
  state('closed', 'not connected');
  element('state').title = String(error);
  console.error(error);
});
