import { seconds } from '../clock.js';
import { subflows as wire } from '../generated.js';
import { Parity } from './parity.js';
import type { WebSocketTransport } from './websocket.js';
import { StallWatch } from './stall_watch.js';

const HEADER = wire.header;

/** Subflows are opened after this many stalls, and closed when nothing has been late for NEEDED_SECONDS. */
const STALLS = 2;
const NEEDED_SECONDS = 30;

/** Seconds between two attempts to open those that could not be opened, or have ended. */
const RETRY_SECONDS = 5;

/** The part of the first WebSocket that subflows need. */
export interface Carrier {
  readonly closed: Promise<unknown>;
  /** Takes a datagram that came over a subflow. */
  bring(datagram: ArrayBuffer): void;
}

/** A WebSocket that carries the session together with others. */
interface Subflow {
  readonly number: number;
  readonly link: Pick<WebSocketTransport, 'state' | 'send' | 'close' | 'closed' | 'ondatagram'>;
  /** The datagrams that are not confirmed yet: the low bytes of their sequence numbers, and when they went. */
  readonly unconfirmed: { readonly low: number; readonly time: number }[];
  /** The value of `turns` when a datagram last went over it. */
  turn: number;
}

/**
 * Several WebSockets that carry one session together, each a TCP connection of its own: a lost packet holds up only what
 * follows on the same one. They are opened beside the first WebSocket when it stalls, and closed when they are not
 * needed. `relay/session/subflows.h` is the other end, describes the header of the messages, and does the same.
 */
export class Subflows {
  readonly #carrier: Carrier;
  readonly #open: (number: number) => Promise<Subflow['link']>;
  readonly #now: () => number;
  readonly #watch = new StallWatch();
  readonly #each = new Map<number, Subflow>();
  readonly #parity = new Parity();
  /** The low bytes for the latest datagrams that came, by the number of the subflow less 1. */
  readonly #received = new Uint8Array(wire.most);
  /** The times of the latest stalls. */
  #stalls: number[] = [];
  /** When something was last late. */
  #needed = 0;
  #tried = -Infinity;
  /** When the newest datagram went that is confirmed. */
  #confirmed = 0;
  /** The datagrams that went. */
  #turns = 0;
  /** The datagrams that are still to have parity. */
  #protect = 0;
  /** The datagrams that came since a header went out. */
  #toBeAnswered = 0;
  #closed = false;

  /** @param open opens the subflow of a number from 1 on */
  constructor(
    carrier: Carrier,
    open: (number: number) => Promise<Subflow['link']>,
    now: () => number = seconds,
  ) {
    this.#carrier = carrier;
    this.#open = open;
    this.#now = now;
    void carrier.closed.then(() => this.close());
  }

  /** Notes that a datagram came over the first WebSocket. */
  came(): void {
    const now = this.#now();
    if (!this.#watch.came(now)) return;
    this.#stalls = [now, ...this.#stalls.filter((time) => now - time < NEEDED_SECONDS)];
    if (this.#stalls.length >= STALLS) this.#need(now);
  }

  /** Sends a datagram over a subflow; returns false when the first WebSocket is to send it. */
  put(datagram: Uint8Array<ArrayBuffer>): boolean {
    const now = this.#now();
    this.#watch.sent(now);
    if (this.#each.size > 0 && now - this.#needed > NEEDED_SECONDS) this.#closeAll();
    const best = this.#choose();
    if (!best) return false;
    this.#send(best, datagram, now);
    return true;
  }

  close(): void {
    this.#closed = true;
    this.#closeAll();
  }

  #closeAll(): void {
    this.#stalls = [];
    for (const { link } of this.#each.values()) link.close();
    this.#each.clear();
  }

  /** Notes that something was late, and opens the subflows that are missing. */
  #need(now: number): void {
    this.#needed = now;
    if (now - this.#tried < RETRY_SECONDS) return;
    this.#tried = now;
    for (let number = 1; number <= wire.most; number++)
      if (!this.#each.has(number))
        this.#open(number).then(
          (link) => this.#join(number, link),
          () => {}, // the session goes on over those that are open
        );
  }

  #join(number: number, link: Subflow['link']): void {
    if (this.#closed) return link.close();
    const subflow: Subflow = { number, link, unconfirmed: [], turn: 0 };
    this.#received[number - 1] = 0;
    this.#each.set(number, subflow);
    link.ondatagram = (message) => this.#take(subflow, message);
    void link.closed.then(() => {
      if (this.#each.get(number) === subflow) this.#each.delete(number);
    });
  }

  /** Sends a datagram, or without one a message that only confirms. */
  #send(subflow: Subflow, datagram: Uint8Array<ArrayBuffer> = new Uint8Array(), now = 0): void {
    const { isDue, sizes, mixed } = this.#parity;
    const { length } = datagram;
    const protects = length > 0 && this.#protect > 0 && isDue;
    if (length > 0) {
      this.#parity.add(datagram);
      this.#protect--;
      subflow.turn = ++this.#turns;
      if (subflow.unconfirmed.length === wire.unconfirmedMost) subflow.unconfirmed.shift();
      subflow.unconfirmed.push({ low: this.#parity.sent & 255, time: now });
    }
    const { sent } = this.#parity;
    const flag = protects ? wire.parity : 0;
    const both = protects ? [length & 255, length >> 8, sizes & 255, sizes >> 8] : [];
    const header = [sent & 255, (sent | flag) >> 8, ...this.#received, ...both];
    const message = new Uint8Array(header.length + length + (protects ? mixed.length : 0));
    message.set(header);
    message.set(datagram, header.length);
    if (protects) message.set(mixed, header.length + length);
    this.#toBeAnswered = 0;
    subflow.link.send(message);
  }

  /** Takes a message that came over a subflow. */
  #take(subflow: Subflow, message: Uint8Array<ArrayBuffer>): void {
    if (message.length < HEADER) return;
    const now = this.#now();
    for (const each of this.#each.values()) this.#confirm(each, message[1 + each.number]!);
    if ([...this.#each.values()].some((each) => this.#isLate(each))) {
      this.#protect = wire.protected;
      this.#need(now);
    }
    if (message.length > HEADER) {
      this.#received[subflow.number - 1] = message[0]!;
      this.#toBeAnswered++;
      this.#takeDatagrams(new DataView(message.buffer), now);
    }
    const best = this.#toBeAnswered >= wire.confirmAfter && this.#choose();
    if (best) this.#send(best);
  }

  /** Takes the datagram of a message, and of the pair before it the one that has not come. */
  #takeDatagrams(message: DataView<ArrayBuffer>, now: number): void {
    const { buffer } = message;
    const first = message.getUint16(0, true);
    const sequence = first & ~wire.parity;
    let start = HEADER;
    let end = buffer.byteLength;
    if (first & wire.parity && end >= HEADER + wire.paritySizes) {
      this.#need(now); // something was late on the way to the relay's
      start += wire.paritySizes;
      end = start + message.getUint16(HEADER, true);
      const sizes = message.getUint16(HEADER + 2, true);
      const other = this.#parity.recover(sequence, sizes, new Uint8Array(buffer.slice(end)));
      if (other) this.#carrier.bring(other.buffer);
    }
    const datagram = buffer.slice(start, end);
    this.#parity.keep(sequence, new Uint8Array(datagram));
    this.#carrier.bring(datagram);
  }

  /**
   * Takes the confirmation of a datagram, and so of all before it on the same subflow. One that was overtaken by a newer
   * one is for a datagram that is confirmed already.
   */
  #confirm({ unconfirmed }: Subflow, sequence: number): void {
    const index = unconfirmed.map(({ low }) => low).lastIndexOf(sequence);
    if (index < 0) return;
    this.#confirmed = Math.max(this.#confirmed, unconfirmed[index]!.time);
    unconfirmed.splice(0, index + 1);
  }

  #isLate({ unconfirmed }: Subflow): boolean {
    return unconfirmed.length > 0 && this.#confirmed - unconfirmed[0]!.time > wire.lateSeconds;
  }

  /**
   * Returns the subflow over which a datagram goes best: one that is in time, and over which none of the last two went,
   * since a pair and its parity go over three. The one that has waited longest for a confirmation is the next that may
   * turn out late.
   */
  #choose(): Subflow | undefined {
    const order = (subflow: Subflow): number =>
      (this.#isLate(subflow) ? -2e9 : 0) +
      (subflow.turn + 2 > this.#turns ? -1e9 : 0) +
      (subflow.unconfirmed[0]?.time ?? this.#now());
    return [...this.#each.values()]
      .filter(({ link }) => link.state === 'open')
      .sort((a, b) => order(b) - order(a))[0];
  }
}
