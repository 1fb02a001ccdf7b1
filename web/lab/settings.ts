import type { LabSettings, Traffic } from './lab.js';

/** The number of ticks in a second; a column passes one tick in one step. */
export const TICKS_PER_SECOND = 60;

/** The least and the most columns. */
export const COLUMNS = { least: 1, most: 4 } as const;

/**
 * The settings of the network as the sliders show them. A round trip takes `rtt` and, each way, up to `jitter` more.
 */
export interface Network {
  readonly rtt: number; // milliseconds
  readonly jitter: number; // milliseconds
  readonly loss: number; // percent, each way
  readonly bursts: number; // packets that are lost in a row, on average; 1: each for itself
  readonly bandwidth: number; // kbit/s, each way; 0: no limit
  readonly queue: number; // kB that wait for the bandwidth before packets are dropped
  readonly messages: number; // per second, each way; divides TICKS_PER_SECOND
}

/** The settings that a run depends on: the same settings give the same run. */
export interface Settings extends Network {
  readonly protocols: readonly string[];
  readonly blocks: boolean;
  readonly seed: number;
}

/** The settings for showing a run. */
export interface View {
  readonly latencyOf: Traffic;
  readonly speed: Speed;
}

/** Seconds of the run in a second of the viewer, by the name of the speed. */
export const SPEEDS = { '1/16': 1 / 16, '1/4': 1 / 4, '1': 1, '4': 4 } as const;
export type Speed = keyof typeof SPEEDS;
export const SPEED_NAMES = ['1/16', '1/4', '1', '4'] as const satisfies readonly Speed[];
export const TRAFFICS: readonly Traffic[] = ['message', 'state', 'block'];

interface Slider {
  readonly key: keyof Network;
  readonly label: string;
  /** The values that the slider offers. */
  readonly values: readonly number[];
  readonly text: (value: number) => string;
}

const range = (first: number, last: number, step: number): number[] =>
  Array.from({ length: Math.round((last - first) / step) + 1 }, (_, i) => first + i * step);

export const SLIDERS: readonly Slider[] = [
  { key: 'rtt', label: 'Round trip', values: range(0, 800, 10), text: (ms) => `${ms} ms` },
  { key: 'jitter', label: 'Jitter', values: range(0, 200, 5), text: (ms) => `${ms} ms` },
  { key: 'loss', label: 'Loss', values: range(0, 60, 1), text: (part) => `${part} %` },
  {
    key: 'bursts',
    label: 'Lost in a row',
    values: [1, 2, 3, 4, 6, 8, 12, 16],
    text: (packets) => (packets === 1 ? 'random' : `about ${packets}`),
  },
  {
    key: 'bandwidth',
    label: 'Bottleneck',
    values: [64, 96, 128, 192, 256, 384, 512, 1000, 2000, 5000, 10000, 0],
    text: (rate) =>
      rate === 0 ? 'none' : rate < 1000 ? `${rate} kbit/s` : `${rate / 1000} Mbit/s`,
  },
  {
    key: 'queue',
    label: 'Its queue',
    values: [2, 4, 8, 16, 32, 64, 128, 256],
    text: (kilobytes) => `${kilobytes} kB`,
  },
  {
    key: 'messages',
    label: 'Messages',
    values: [1, 2, 3, 4, 5, 6, 10, 12, 15, 20, 30, 60],
    text: (count) => `${count} /s`,
  },
];

/** The protocols that a newcomer sees: they differ most from each other. */
const FIRST = ['plain', 'rudp', 'notify', 'tcp'];

const SAME = { messages: 20 };

/** Example networks to start from. */
export const PRESETS: Readonly<Record<string, Network>> = {
  Fibre: { rtt: 20, jitter: 0, loss: 0, bursts: 1, bandwidth: 0, queue: 64, ...SAME },
  LTE: { rtt: 60, jitter: 20, loss: 1, bursts: 1, bandwidth: 10000, queue: 128, ...SAME },
  Train: { rtt: 120, jitter: 40, loss: 8, bursts: 6, bandwidth: 2000, queue: 64, ...SAME },
  'Hotel Wi-Fi': { rtt: 50, jitter: 30, loss: 3, bursts: 3, bandwidth: 512, queue: 128, ...SAME },
  Satellite: { rtt: 600, jitter: 10, loss: 1, bursts: 1, bandwidth: 5000, queue: 256, ...SAME },
};

/** A visitor without an address sees at once what differs most: the states of a game, on a train. */
const OPENING: Partial<Settings & View> = { ...PRESETS['Train'], latencyOf: 'state' };

/** Returns the settings that hold for what an address does not name; `protocols` are all that the lab has. */
export const defaults = (protocols: readonly string[]): Settings & View => ({
  rtt: 100,
  jitter: 10,
  loss: 5,
  bursts: 1,
  bandwidth: 0,
  queue: 64,
  ...SAME,
  protocols: FIRST.filter((protocol) => protocols.includes(protocol)),
  blocks: false,
  seed: 1,
  latencyOf: 'message',
  speed: '1/4',
});

/** Writes the settings as the part of an address after its `#`. */
export function write(settings: Settings & View): string {
  const { protocols, blocks, seed, latencyOf, speed } = settings;
  const said = new URLSearchParams([
    ['protocols', protocols.join('.')],
    ...SLIDERS.map(({ key }) => [key, String(settings[key])]),
    ['blocks', blocks ? '1' : '0'],
    ['seed', String(seed)],
    ['latency', latencyOf],
    ['speed', speed],
  ]);
  return said.toString().replaceAll('%2F', '/');
}

/** Reads the settings of an address; `faults` are the parts that are not understood, for which the defaults apply. */
export function read(
  fragment: string,
  known: readonly string[],
): { settings: Settings; view: View; faults: string[] } {
  const said = new URLSearchParams(fragment.replace(/^#/, ''));
  const otherwise = { ...defaults(known), ...(said.toString() === '' ? OPENING : {}) };
  const faults: string[] = [];
  const take = <Value>(
    key: string,
    fallback: Value,
    parse: (text: string) => Value | undefined,
  ): Value => {
    const text = said.get(key);
    if (text === null) return fallback;
    const value = parse(text);
    if (value === undefined) faults.push(`${key}=${text}`);
    return value ?? fallback;
  };
  const oneOf = <Value>(key: string, fallback: Value, values: readonly Value[]): Value =>
    take(key, fallback, (text) => values.find((value) => String(value) === text));
  const network = Object.fromEntries(
    SLIDERS.map(({ key, values }) => [key, oneOf(key, otherwise[key], values)]),
  ) as unknown as Network;
  const settings = {
    ...network,
    protocols: take('protocols', otherwise.protocols, (text) => parseProtocols(text, known)),
    blocks: take('blocks', otherwise.blocks, (text) => ({ 0: false, 1: true })[text]),
    seed: take('seed', otherwise.seed, parseSeed),
  };
  const view = {
    latencyOf: oneOf('latency', otherwise.latencyOf, TRAFFICS),
    speed: oneOf('speed', otherwise.speed, SPEED_NAMES),
  };
  return { settings, view, faults };
}

function parseProtocols(text: string, known: readonly string[]): readonly string[] | undefined {
  const names = text.split('.');
  const fits = names.length >= COLUMNS.least && names.length <= COLUMNS.most;
  return fits && names.every((name) => known.includes(name)) ? names : undefined;
}

/** Reads a whole number of 32 bits. */
export function parseSeed(text: string): number | undefined {
  const seed = /^\d{1,10}$/.test(text) ? Number(text) : NaN;
  return seed < 2 ** 32 ? seed : undefined;
}

/** A flood is this many times as much as the bottleneck lets through. */
const FLOOD = 1.2;
/** The bottleneck during a flood where the settings have none, in bytes per second. */
const FLOODED = 125_000;

/** Returns the settings as the lab takes them, with others who fill the bottleneck. */
export function flooded(settings: Settings): Partial<LabSettings> {
  const calm = forLab(settings);
  const bytesPerSecond = calm.bytesPerSecond || FLOODED;
  return { ...calm, bytesPerSecond, floodBytesPerSecond: FLOOD * bytesPerSecond };
}

/** Returns the settings as the lab takes them. */
export const forLab = (settings: Settings): Partial<LabSettings> => ({
  rttSeconds: settings.rtt / 1000,
  jitterSeconds: settings.jitter / 1000,
  loss: settings.loss / 100,
  burstLength: settings.bursts,
  bytesPerSecond: (settings.bandwidth * 1000) / 8,
  queueBytes: settings.queue * 1024,
  messageEvery: TICKS_PER_SECOND / settings.messages,
  blocks: settings.blocks,
});
