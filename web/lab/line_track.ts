import type { SessionTransport } from '../src/transports/links.js';
import type { Lab, LabControl } from './lab.js';
import { Line } from './line.js';
import { whyNot, whyOver } from './links.js';
import { TICKS_PER_SECOND, type Settings } from './settings.js';
import { CLIENT, SERVER, Track } from './track.js';

/** Over a WebSocket, the column has this protocol of the lab. */
const OVER_WEBSOCKET = 'plain';
/** The seconds of silence after which the server counts as gone. */
const SILENCE_SECONDS = 3;
/** A dot flies for so many seconds, however long its packet took. */
const FLIGHT_SECONDS = 0.5;
/** The most dots of a tick. */
const DOTS = 16;

/** A column needs these beside its settings. */
export interface Way {
  /** The address of the relay, for sentences. */
  readonly relay: string;
  readonly link: Promise<SessionTransport>;
  /** Returns the seconds of the run. */
  readonly clock: () => number;
  /** Is told in a sentence why the column cannot go on. */
  readonly fail: (sentence: string) => void;
}

/** A column over a real network. */
export class LineTrack extends Track {
  override readonly controls = 'The flow control of this page';
  readonly #line: Line;
  #transport: SessionTransport | undefined;
  /** The time when the link opened. */
  #opened = 0;
  #destroyed = false;
  /** The packets from each end whose fate is known, for the dots. */
  readonly #known = [NOBODY, NOBODY];
  #number = 0;

  constructor(
    lab: Lab,
    protocol: string,
    settings: Settings,
    readonly way: Way,
  ) {
    super(protocol, settings);
    this.#line = new Line(lab, protocol === 'websocket' ? OVER_WEBSOCKET : protocol, {
      key: crypto.getRandomValues(new Uint32Array(1))[0]!,
      messageEvery: TICKS_PER_SECOND / settings.messages,
      blocks: settings.blocks,
    });
    way.link.then(
      (transport) => this.#open(transport),
      (error: unknown) => this.#fail(whyNot(way.relay, error)),
    );
  }

  destroy(): void {
    this.#destroyed = true;
    if (this.#transport) this.#transport.ondatagram = null;
    this.#line.destroy();
  }

  get hash(): string {
    return '';
  }

  get control(): LabControl {
    return this.#line.control;
  }

  get bytesPerMessage(): number {
    const [down, up] = [SERVER, CLIENT].map((end) => this.#line.wireStats(end).bytes);
    return (down! + up!) / (this.latencies.message.count || NaN);
  }

  /** The shortest round trip of a packet in seconds; 0 before there is one. */
  get leastRtt(): number {
    return this.#line.stats.leastRtt;
  }

  /** The packets whose fate is known, both ways. */
  get packets(): number {
    return this.#known[SERVER]!.datagrams + this.#known[CLIENT]!.datagrams;
  }

  step(tick: number): void {
    if (!this.#transport) return;
    const now = this.way.clock();
    this.#line.step(now);
    this.#send(now);
    this.fade();
    this.#look(now);
    for (const end of [SERVER, CLIENT] as const) this.wait(end, this.#line.waiting(end), now);
    this.age(tick, now, this.#line.itemStats('message', now).oldestSeconds);
    this.#check(now);
  }

  #open(transport: SessionTransport): void {
    if (this.#destroyed) return;
    this.#transport = transport;
    this.#opened = this.way.clock();
    transport.ondatagram = (datagram) => {
      const now = this.way.clock();
      this.#line.receive(datagram, now);
      this.#send(now);
      for (const event of this.#line.events()) this.take(event);
    };
    void transport.closed.then((close) => this.#fail(whyOver(this.way.relay, close)));
  }

  #send(now: number): void {
    for (const datagram of this.#line.transmit(now)) this.#transport!.send(datagram);
  }

  /** Makes dots of the packets whose fate has become known. */
  #look(now: number): void {
    for (const end of [SERVER, CLIENT] as const) {
      const before = this.#known[end]!;
      const { datagrams, datagramsLost: lost, bytes } = this.#line.wireStats(end);
      const came = datagrams - lost - (before.datagrams - before.lost);
      const size = (bytes - before.bytes) / Math.max(came, 1);
      this.#known[end] = { datagrams, lost, bytes };
      this.#fly(came, end === CLIENT, size, now, 'sent');
      this.#fly(lost - before.lost, end === CLIENT, size, now, 'lost');
      if (lost > before.lost) this.see('loss', 0.11);
    }
    this.lost = this.#known[SERVER]!.lost + this.#known[CLIENT]!.lost;
    const { rtt, leastRtt } = this.#line.stats;
    this.seeRtt(rtt, leastRtt);
  }

  #fly(count: number, up: boolean, bytes: number, sent: number, fate: 'sent' | 'lost'): void {
    for (let i = 0; i < Math.min(count, DOTS); i++) {
      const number = this.#number++;
      this.flights.push({ number, up, bytes, sent, seconds: FLIGHT_SECONDS, fate });
    }
  }

  #check(now: number): void {
    const { answer, heard } = this.#line.stats;
    if (answer === 'full') this.#fail(`The lab server behind ${this.way.relay} has no place left.`);
    else if (answer === 'foreign')
      this.#fail(`The lab server behind ${this.way.relay} is of another version than this page.`);
    else if (now - Math.max(heard, this.#opened) > SILENCE_SECONDS)
      this.#fail(`The relay at ${this.way.relay} is there, but no lab server answers behind it.`);
  }

  #fail(sentence: string): void {
    if (!this.#destroyed) this.way.fail(sentence);
  }
}

const NOBODY = { datagrams: 0, lost: 0, bytes: 0 };
