import type { ColumnEvent, End, LabControl, LabPacket, Traffic, Waiting } from './lab.js';
import { Latencies } from './latencies.js';
import type { Settings } from './settings.js';
import type { Situation } from './why.js';
import type { Flight } from './wire.js';

/** A wait of an end: what it waits for, and since when, in seconds of the run. */
export interface Wait {
  readonly kind: Waiting;
  readonly number: number;
  readonly since: number;
}

/** The server is the end that sends blocks. */
export const SERVER: End = 0;
export const CLIENT: End = 1;

/** The kinds of wait whose number changes while it is still the same wait. */
const COUNTING: readonly Waiting[] = ['window', 'timer', 'rate'];
/** The weight that an observation keeps from one tick to the next when the page decides what is typical now. */
const MEMORY = 0.985;
/** On a real network, a round trip that is longer by so many seconds than the shortest means a queue. */
const QUEUED_SECONDS = 0.1;
/** The situations in the order in which they are shown: the one that explains more comes first. */
const RANKS: readonly (Situation | 'wait')[] = ['queue', 'wait', 'overflow', 'loss'];
/** The ticks between two looks at the age of the oldest message. */
const AGE_TICKS = 3;

/** A column of a run, with the figures that the page keeps of it. */
export abstract class Track {
  readonly latencies: Readonly<Record<Traffic, Latencies>> = {
    state: new Latencies(),
    message: new Latencies(),
    block: new Latencies(),
  };
  /** The waits of both ends. */
  readonly waits: [server: Wait, client: Wait] = [NOTHING, NOTHING];
  /** Packets that were sent since the page last took them. */
  flights: Flight[] = [];
  lost = 0;
  overflowed = 0;
  givenUp = 0;
  /** Says whose flow control `control` is. */
  readonly controls: string = 'The flow control of the server';
  /** The share of the latest time in which the column was in each situation. */
  readonly #lately = new Map<Situation, number>();

  constructor(
    readonly protocol: string,
    readonly settings: Settings,
  ) {}

  abstract destroy(): void;

  /** A hash of all that has happened; empty where it does not come again. */
  abstract get hash(): string;

  /** The state of a flow control. */
  abstract get control(): LabControl;

  /** The bytes that both ends sent for each message that arrived; NaN before one has. */
  abstract get bytesPerMessage(): number;

  /** Lets a tick pass. */
  abstract step(tick: number): void;

  /** The newest packet of an end, where its head can be read. On a real network it is not kept. */
  packet(_end: End): LabPacket | undefined {
    return undefined;
  }

  /** Lets others fill the bottleneck on the way to the client, or ends that. A real network has no such switch. */
  flood(_on: boolean): void {}

  /** The situation that has mostly held the column up lately. */
  get situation(): Situation {
    const seen = [...this.#lately].filter(([, share]) => share > 0.1);
    const rank = (what: Situation): number => RANKS.indexOf(RANKS.includes(what) ? what : 'wait');
    const [most] = seen.sort(([one, a], [other, b]) => rank(one) - rank(other) || b - a);
    return most?.[0] ?? 'nothing';
  }

  /** Lets what was seen lately count less. */
  protected fade(): void {
    for (const [what, share] of this.#lately) this.#lately.set(what, share * MEMORY);
  }

  protected see(what: Situation, share: number): void {
    this.#lately.set(what, (this.#lately.get(what) ?? 0) + share);
  }

  protected seeQueue(): void {
    this.see('queue', 1 - MEMORY);
  }

  /** Looks whether a round trip is that of a queue. */
  protected seeRtt(rtt: number, least: number): void {
    if (rtt > least + QUEUED_SECONDS) this.seeQueue();
  }

  /** Notes what an end waits for. */
  protected wait(end: End, { kind, number }: Pick<Wait, 'kind' | 'number'>, now: number): void {
    const before = this.waits[end];
    const same = kind === before.kind && (number === before.number || COUNTING.includes(kind));
    this.waits[end] = { kind, number, since: same ? before.since : now };
    if (kind !== 'nothing') this.see(kind, 1 - MEMORY);
  }

  /** Notes the age of the oldest message under way. */
  protected age(tick: number, now: number, seconds: number): void {
    if (tick % AGE_TICKS === 0) this.latencies.message.see(now, seconds);
  }

  /** Takes the fate of an item. */
  protected take({ type, traffic, time, seconds }: ColumnEvent): void {
    if (type === 'delivered') this.latencies[traffic!].add(time, seconds);
    else this.givenUp++;
  }
}

const NOTHING: Wait = { kind: 'nothing', number: 0, since: 0 };
