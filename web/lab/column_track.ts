import {
  Column,
  type ColumnEvent,
  type End,
  type Lab,
  type LabControl,
  type LabPacket,
} from './lab.js';
import { flooded, forLab, type Settings } from './settings.js';
import { CLIENT, SERVER, Track } from './track.js';

/** A packet counts as queued when it takes this many seconds longer than the path. */
const QUEUED_SECONDS = 0.1;

/** A column over the simulated network. */
export class ColumnTrack extends Track {
  readonly #column: Column;
  readonly #queuedAfter: number;

  constructor(lab: Lab, protocol: string, settings: Settings) {
    super(protocol, settings);
    this.#column = new Column(lab, protocol, { seed: settings.seed });
    this.#column.change(forLab(settings));
    this.#queuedAfter = (settings.rtt / 2 + settings.jitter) / 1000 + QUEUED_SECONDS;
  }

  destroy(): void {
    this.#column.destroy();
  }

  get hash(): string {
    return this.#column.hash;
  }

  get control(): LabControl {
    return this.#column.control(SERVER);
  }

  override packet(end: End): LabPacket | undefined {
    return this.#column.packet(end);
  }

  override flood(on: boolean): void {
    this.#column.change(on ? flooded(this.settings) : forLab(this.settings));
  }

  get bytesPerMessage(): number {
    const bytes = [SERVER, CLIENT].map((end) => Number(this.#column.wireStats(end).bytes));
    return (bytes[0]! + bytes[1]!) / (this.latencies.message.count || NaN);
  }

  step(tick: number): void {
    const column = this.#column;
    column.step();
    this.fade();
    for (const event of column.events()) this.#take(event);
    const now = column.time;
    for (const end of [SERVER, CLIENT] as const) {
      this.wait(end, column.waiting(end), now);
      this.age(tick, now, column.itemStats(end, 'message').oldestSeconds);
    }
  }

  #take(event: ColumnEvent): void {
    const { type, sender, number, size, time, seconds } = event;
    if (type === 'delivered' || type === 'given_up') return this.take(event);
    const up = sender === CLIENT;
    this.flights.push({ number, up, bytes: size, sent: time, seconds, fate: type });
    if (type === 'lost') {
      this.lost++;
      this.see('loss', 0.11);
    } else if (type === 'overflowed') {
      this.overflowed++;
      this.see('overflow', 0.11);
    } else if (seconds > this.#queuedAfter) this.seeQueue();
  }
}
