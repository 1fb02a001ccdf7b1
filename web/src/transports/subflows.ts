import { seconds } from '../clock.js';
import { SUBFLOW_HEADER_SIZE as HEADER, subflows as wire } from '../generated.js';
import type { WebSocketTransport } from './websocket.js';
import { StallWatch } from './stall_watch.js';

/** Subflows are opened at the second stall in this many seconds, and closed when nothing has been late for as long. */
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
  /** The datagrams that are not confirmed yet, and when they went. */
  readonly kept: { readonly datagram: Uint8Array<ArrayBuffer>; readonly time: number }[];
  /** The number of the oldest of these that went again. */
  repeated: number;
  /** The sequence number of the latest datagram that went. */
  sent: number;
  /** When the first datagram came since one went. */
  unanswered: number;
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
  /** The sequence numbers of the latest datagrams that came, by the number of the subflow less 1. */
  readonly #received = new Uint8Array(wire.most);
  /** When the latest stall was. */
  #stalled = -Infinity;
  /** When something was last late. */
  #needed = 0;
  #tried = -Infinity;
  /** When the newest datagram went that is confirmed. */
  #confirmed = 0;
  /** The datagrams that may go again. */
  #allowance = 0;
  /** The datagrams that came since a header went out. */
  #unconfirmed = 0;
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
    if (now - this.#stalled < NEEDED_SECONDS) this.#need(now);
    this.#stalled = now;
  }

  /** Sends a datagram over a subflow; returns false when the first WebSocket is to send it. */
  put(datagram: Uint8Array<ArrayBuffer>): boolean {
    const now = this.#now();
    this.#watch.sent(now);
    if (this.#each.size > 0 && now - this.#needed > NEEDED_SECONDS) this.#closeAll();
    const best = this.#choose();
    if (!best) return false;
    this.#allowance = Math.min(this.#allowance + wire.repeatShare, wire.repeatMost);
    this.#send(best, datagram, now);
    this.#update(now);
    return true;
  }

  close(): void {
    this.#closed = true;
    this.#closeAll();
  }

  #closeAll(): void {
    this.#stalled = -Infinity;
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
    const subflow: Subflow = { number, link, kept: [], repeated: 0, sent: 0, unanswered: Infinity };
    this.#received[number - 1] = 0;
    this.#each.set(number, subflow);
    link.ondatagram = (message) => this.#take(subflow, message);
    void link.closed.then(() => {
      if (this.#each.get(number) === subflow) this.#each.delete(number);
    });
  }

  /** Sends a datagram, or without one a message that only confirms. */
  #send(subflow: Subflow, datagram = new Uint8Array(), now = 0, flags = 0): void {
    if (datagram.length > 0) {
      if (subflow.kept.length === wire.keptMost) this.#forget(subflow, 1);
      subflow.kept.push({ datagram: datagram.slice(), time: now });
      subflow.sent = (subflow.sent + 1) & wire.sequenceMask;
    }
    const message = new Uint8Array(HEADER + datagram.length);
    message.set([subflow.sent | flags, ...this.#received]);
    message.set(datagram, HEADER);
    this.#unconfirmed = 0;
    subflow.unanswered = Infinity;
    subflow.link.send(message);
  }

  /** Takes a message that came over a subflow. */
  #take(subflow: Subflow, message: Uint8Array<ArrayBuffer>): void {
    if (message.length < HEADER) return;
    const now = this.#now();
    this.#received[subflow.number - 1] = message[0]! & wire.sequenceMask;
    if (message[0]! & wire.repeated) this.#need(now);
    for (const each of this.#each.values()) this.#confirm(each, message[each.number]!);
    if (message.length > HEADER) {
      this.#unconfirmed++;
      subflow.unanswered = Math.min(subflow.unanswered, now);
      this.#carrier.bring(message.slice(HEADER).buffer);
    }
    this.#update(now);
  }

  /** Takes a confirmation of the datagrams up to a sequence number, which may have been overtaken by a newer one. */
  #confirm(subflow: Subflow, sequence: number): void {
    const left = (subflow.sent - sequence) & wire.sequenceMask;
    const count = subflow.kept.length - left;
    if (count <= 0) return;
    this.#confirmed = Math.max(this.#confirmed, subflow.kept[count - 1]!.time);
    this.#forget(subflow, count);
  }

  #forget(subflow: Subflow, count: number): void {
    subflow.kept.splice(0, count);
    subflow.repeated = Math.max(0, subflow.repeated - count);
  }

  #isLate({ kept }: Subflow): boolean {
    return kept.length > 0 && this.#confirmed - kept[0]!.time > wire.lateSeconds;
  }

  /**
   * Returns the subflow over which a datagram goes best, other than `but`: one that is in time, with as little before
   * the datagram as there can be, since each before it may get lost. If that is the same, an answer to what came first
   * saves TCP a packet that only acknowledges it.
   */
  #choose(but?: Subflow): Subflow | undefined {
    const order = (subflow: Subflow): number =>
      subflow.kept.length + (this.#isLate(subflow) ? wire.keptMost : 0);
    return [...this.#each.values()]
      .filter((subflow) => subflow !== but && subflow.link.state === 'open')
      .sort((a, b) => order(a) - order(b) || a.unanswered - b.unanswered)[0];
  }

  /** Sends again what is late, and confirms what has come if no datagram has done so. */
  #update(now: number): void {
    for (const subflow of this.#each.values())
      if (subflow.kept.length > subflow.repeated && this.#isLate(subflow)) {
        this.#need(now);
        this.#repeat(subflow, now);
      }
    const best = this.#unconfirmed >= wire.unconfirmedMost && this.#choose();
    if (best) this.#send(best);
  }

  /** Sends what waits on a subflow over another. */
  #repeat(subflow: Subflow, now: number): void {
    const other = this.#choose(subflow);
    if (!other || this.#isLate(other)) return;
    for (; this.#allowance >= 1 && subflow.repeated < subflow.kept.length; this.#allowance--)
      this.#send(other, subflow.kept[subflow.repeated++]!.datagram, now, wire.repeated);
  }
}
