import {
  Column,
  type ColumnEvent,
  type End,
  type Lab,
  type LabControl,
  type Traffic,
  type Waiting,
} from './lab.js';
import { Latencies } from './latencies.js';
import { flooded, forLab, type Settings } from './settings.js';
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
/** A packet counts as queued when it takes this many seconds longer than the path. */
const QUEUED_SECONDS = 0.1;
/** The situations in the order in which they are shown: the one that explains more comes first. */
const RANKS: readonly (Situation | 'wait')[] = ['queue', 'wait', 'overflow', 'loss'];
/** The ticks between two looks at the age of the oldest message. */
const AGE_TICKS = 3;

/** A column of a run, with the figures that the page keeps of it. */
export class Track {
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
  readonly #column: Column;
  readonly #queuedAfter: number;
  /** The share of the latest time in which the column was in each situation. */
  readonly #lately = new Map<Situation, number>();

  constructor(
    lab: Lab,
    protocol: string,
    readonly settings: Settings,
  ) {
    this.#column = new Column(lab, protocol, { seed: settings.seed });
    this.#column.change(forLab(settings));
    this.#queuedAfter = (settings.rtt / 2 + settings.jitter) / 1000 + QUEUED_SECONDS;
  }

  destroy(): void {
    this.#column.destroy();
  }

  get protocol(): string {
    return this.#column.protocol;
  }

  get hash(): string {
    return this.#column.hash;
  }

  /** The state of the server's flow control. */
  get control(): LabControl {
    return this.#column.control(SERVER);
  }

  /** Lets others fill the bottleneck on the way to the client, or ends that. */
  flood(on: boolean): void {
    this.#column.change(on ? flooded(this.settings) : forLab(this.settings));
  }

  /** The bytes that both ends sent for each message that arrived; NaN before one has. */
  get bytesPerMessage(): number {
    const bytes = [SERVER, CLIENT].map((end) => Number(this.#column.wireStats(end).bytes));
    return (bytes[0]! + bytes[1]!) / (this.latencies.message.count || NaN);
  }

  /** Lets a tick pass. */
  step(tick: number): void {
    const column = this.#column;
    column.step();
    for (const [what, share] of this.#lately) this.#lately.set(what, share * MEMORY);
    for (const event of column.events()) this.#take(event);
    const now = column.time;
    for (const end of [SERVER, CLIENT]) {
      const { kind, number } = column.waiting(end);
      const before = this.waits[end];
      const same = kind === before.kind && (number === before.number || COUNTING.includes(kind));
      this.waits[end] = { kind, number, since: same ? before.since : now };
      if (kind !== 'nothing') this.#see(kind, 1 - MEMORY);
      if (tick % AGE_TICKS === 0)
        this.latencies.message.see(now, column.itemStats(end, 'message').oldestSeconds);
    }
  }

  /** The situation that has mostly held the column up lately. */
  get situation(): Situation {
    const seen = [...this.#lately].filter(([, share]) => share > 0.1);
    const rank = (what: Situation): number => RANKS.indexOf(RANKS.includes(what) ? what : 'wait');
    const [most] = seen.sort(([one, a], [other, b]) => rank(one) - rank(other) || b - a);
    return most?.[0] ?? 'nothing';
  }

  #see(what: Situation, share: number): void {
    this.#lately.set(what, (this.#lately.get(what) ?? 0) + share);
  }

  #take({ type, sender, traffic, number, size, time, seconds }: ColumnEvent): void {
    if (type === 'delivered') this.latencies[traffic!].add(time, seconds);
    else if (type === 'given_up') this.givenUp++;
    else {
      const up = sender === CLIENT;
      this.flights.push({ number, up, bytes: size, sent: time, seconds, fate: type });
      if (type === 'lost') {
        this.lost++;
        this.#see('loss', 0.11);
      } else if (type === 'overflowed') {
        this.overflowed++;
        this.#see('overflow', 0.11);
      } else if (seconds > this.#queuedAfter) this.#see('queue', 1 - MEMORY);
    }
  }
}

const NOTHING: Wait = { kind: 'nothing', number: 0, since: 0 };
