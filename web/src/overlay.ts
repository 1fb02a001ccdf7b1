import type { EndpointStats } from './endpoint.js';
import type { ConnectionStats } from './messages/types.js';
import { add, addRow } from './overlay/elements.js';
import { PacketRow } from './overlay/packet_row.js';
import { watchPackets } from './overlay/packet_watch.js';

type Stats = EndpointStats & Partial<ConnectionStats> & { readonly tokenId?: string | undefined };

/** The connection that an {@link overlay} shows: a `GameClient`, a `ConnectionHost` or a `WorkerClient`. */
export interface Watched {
  /** The kind of transport that carries it. */
  readonly transport: string;
  readonly state: string;
  stats(): Stats | Promise<Stats>;
}

/** Options of {@link overlay}. */
export interface OverlayOptions {
  /** The place of the overlay on the screen. Default `'top left'`. */
  readonly corner?: 'top left' | 'top right' | 'bottom left' | 'bottom right';
  /**
   * True: the overlay shows the newest packet of each end, with its number, a square for each of the 32 packets that it
   * acks, its messages and its bytes, and how much of the window of the delay-based congestion control is in flight.
   * Default false.
   */
  readonly packets?: boolean;
  /** A game of `playGame`, whose verdict is shown: whether the path or the rules make it jerk. */
  readonly game?: { verdict(): { readonly type: string; readonly text: string } };
}

const WIDTH = 176;
const HEIGHT = 44;
const SAMPLES_PER_SECOND = 4;
/** A sample is this many pixels wide, so the graph shows the samples of 22 s. */
const STEP = 2;
const SAMPLES = WIDTH / STEP;

const COLORS = {
  text: '#e5f0f2',
  faint: '#a3bac0',
  rtt: '#4cc9e0',
  loss: '#ff6b7a',
  good: '#5ad18a',
};
/** The top of the graph stands for at least this many milliseconds. */
const LEAST_TOP = 50;

const names: Record<string, string> = { webrtc: 'WebRTC', websocket: 'WebSocket' };

interface Sample {
  readonly milliseconds: number;
  /** The loss of the worse way, from 0 to 1. */
  readonly loss: number;
}

const both = (up: string, down: string): string => `\u2191 ${up}  \u2193 ${down}`;

const percent = (share: number): string => `${(share * 100).toFixed(1)} %`;

const kilobytes = (bytes: number): string => (bytes / 1000).toFixed(1);

/** Draws the lines of samples, the latest on the right, and one at the threshold in seconds, if there is one. */
function draw(canvas: HTMLCanvasElement, samples: readonly Sample[], threshold: number): void {
  const scale = globalThis.devicePixelRatio || 1;
  canvas.width = WIDTH * scale; // setting the width also clears the canvas
  canvas.height = HEIGHT * scale;
  const context = canvas.getContext('2d');
  if (!context) return;
  context.scale(scale, scale);

  const highest = Math.max(LEAST_TOP, ...samples.map(({ milliseconds }) => milliseconds));
  const top = Math.max(highest, threshold * 1000) * 1.2;
  context.fillStyle = COLORS.faint;
  if (threshold > 0)
    context.fillRect(0, Math.round(HEIGHT * (1 - (threshold * 1000) / top)), WIDTH, 1);
  const x = (i: number): number => WIDTH - (samples.length - i) * STEP;
  context.fillStyle = COLORS.loss;
  samples.forEach(({ loss }, i) => {
    // A bar of at least one pixel shows even the smallest loss.
    if (loss > 0) context.fillRect(x(i), HEIGHT, STEP, -Math.max(1, loss * HEIGHT));
  });
  context.strokeStyle = COLORS.rtt;
  context.lineWidth = 1.5;
  context.beginPath();
  samples.forEach(({ milliseconds }, i) =>
    context.lineTo(x(i) + STEP / 2, HEIGHT - (milliseconds / top) * HEIGHT),
  );
  context.stroke();
}

/** The elements of the overlay. */
interface Panel {
  readonly host: HTMLElement;
  readonly box: HTMLElement;
  /** The name of the transport, or of the state while there is none. */
  readonly title: HTMLElement;
  /** The place for the verdict on a game. */
  readonly verdict: HTMLElement;
  show(stats: Stats): void;
}

/** Adds rows with the good or bad mode of a connection and its penalty clock, which are hidden in other modes. */
function addMode(parent: Node): (stats: Stats) => void {
  const box = add(parent, 'div', 'display: none');
  const mode = addRow(box, 'mode', COLORS.faint);
  const clock = addRow(box, '', COLORS.faint);
  return ({ congestionState, packetsPerSecond, penaltySeconds = 0, goodSeconds = 0 }) => {
    if (!congestionState || congestionState === 'NONE') return;
    const good = congestionState === 'GOOD';
    box.style.display = '';
    mode.style.color = good ? COLORS.good : COLORS.loss;
    mode.textContent = `\u25cf ${good ? 'good' : 'bad'}, ${packetsPerSecond} packets/s`;
    clock.textContent = good
      ? `for ${goodSeconds.toFixed(1)} s, penalty ${penaltySeconds} s`
      : `penalty ${goodSeconds.toFixed(1)} of ${penaltySeconds} s`;
  };
}

/** Shows single packets, and the window of congestion control. */
interface Inspector {
  show(stats: Stats): Promise<void>;
  stop(): void;
}

function addInspector(parent: Node, client: Watched): Inspector {
  const watch = watchPackets(client);
  const box = add(parent, 'div', 'padding-top: 4px');
  const colors = { arrived: COLORS.rtt, missing: COLORS.loss };
  const rows = {
    sent: new PacketRow(box, 'sent', colors),
    received: new PacketRow(box, 'came', colors),
  };
  const window = addRow(box, 'in flight', COLORS.faint);
  const show = async (stats: Stats): Promise<void> => {
    const { bytesInFlight = 0, congestionWindowBytes = 0, limited = 'NONE' } = stats;
    const packets = await watch.packets();
    for (const way of ['sent', 'received'] as const) if (packets[way]) rows[way].show(packets[way]);
    window.textContent = `${kilobytes(bytesInFlight)} of ${kilobytes(congestionWindowBytes)} kB`;
    window.style.color = limited === 'NONE' ? '' : COLORS.loss;
  };
  return { show, stop: watch.stop };
}

/** Puts an empty panel into a corner of the page. */
function addPanel(corner: string): Panel {
  const [vertical, horizontal] = corner.split(' ') as [string, string];
  const host = add(
    document.body,
    'div',
    `all: initial; position: fixed; z-index: 2147483647; pointer-events: none;
     ${vertical}: calc(8px + env(safe-area-inset-${vertical}, 0px));
     ${horizontal}: calc(8px + env(safe-area-inset-${horizontal}, 0px))`,
  );
  host.setAttribute('role', 'group');
  host.setAttribute('aria-label', 'Network');
  const box = add(
    host.attachShadow({ mode: 'open' }),
    'div',
    `width: ${WIDTH}px; padding: 6px 8px; border-radius: 6px; white-space: pre;
     font: 12px/1.4 system-ui, sans-serif; font-variant-numeric: tabular-nums;
     color: ${COLORS.text}; background: rgba(10, 20, 23, 0.9)`,
  );
  const head = add(box, 'div', 'display: flex; justify-content: space-between; font-weight: 600');
  const title = add(head, 'span', '');
  const rtt = add(head, 'span', `color: ${COLORS.rtt}`);
  const canvas = add(box, 'canvas', `display: block; width: ${WIDTH}px; height: ${HEIGHT}px`);
  const loss = addRow(box, 'loss', COLORS.loss);
  const bandwidth = addRow(box, 'kB/s', COLORS.faint);
  const showMode = addMode(box);
  const token = add(box, 'div', `color: ${COLORS.faint}`);
  const verdict = add(box, 'div', 'display: none; white-space: normal');
  const samples: Sample[] = [];
  const show = (stats: Stats): void => {
    samples.push({
      milliseconds: stats.rtt * 1000,
      loss: Math.max(stats.lossSent, stats.lossReceived),
    });
    if (samples.length > SAMPLES) samples.shift();
    rtt.textContent = `${(stats.rtt * 1000).toFixed(stats.rtt < 0.01 ? 1 : 0)} ms`;
    loss.textContent = both(percent(stats.lossSent), percent(stats.lossReceived));
    bandwidth.textContent = both(
      kilobytes(stats.sentBytesPerSecond),
      kilobytes(stats.receivedBytesPerSecond),
    );
    showMode(stats);
    token.textContent = stats.tokenId ? `token ${stats.tokenId}` : '';
    draw(canvas, samples, stats.rttThresholdSeconds ?? 0);
  };
  return { host, box, title, verdict, show };
}

/**
 * Shows the state of a connection in a corner of the page: transport, round-trip time, loss and bandwidth, and in the
 * binary mode of congestion control the good or bad mode, the penalty clock, and a line at the threshold of the
 * round-trip time. With a game it shows the verdict on it too, and with `packets` the newest packets. It takes no clicks and no touches.
 * @returns a function that takes the overlay away again
 */
export function overlay(client: Watched, options: OverlayOptions = {}): () => void {
  const { host, box, title, verdict, show } = addPanel(options.corner ?? 'top left');
  const inspector = options.packets ? addInspector(box, client) : undefined;
  const judge = (): void => {
    const { type, text } = options.game!.verdict();
    verdict.style.cssText = `white-space: normal; color: ${type === 'good' ? COLORS.good : COLORS.loss}`;
    verdict.textContent = `\u25cf ${text}`;
  };
  let asked = false;
  const update = async (): Promise<void> => {
    const connected = client.state === 'connected' || client.state === 'open';
    title.textContent = connected ? (names[client.transport] ?? client.transport) : client.state;
    if (!connected || asked) return;
    asked = true;
    try {
      const stats = await client.stats();
      show(stats);
      await inspector?.show(stats);
      if (options.game) judge();
    } catch {
      // The connection has ended, as the next call will find.
    } finally {
      asked = false;
    }
  };
  void update();
  const timer = setInterval(() => void update(), 1000 / SAMPLES_PER_SECOND);
  return () => {
    clearInterval(timer);
    inspector?.stop();
    host.remove();
  };
}
