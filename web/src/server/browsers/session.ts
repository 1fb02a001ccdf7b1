import { seconds } from '../../clock.js';
import {
  ANSWER_SECONDS,
  AWAY_SECONDS,
  IDLE_SECONDS,
  REQUEST_SECONDS,
  RESUME_SECONDS,
  closeCodes,
  closeTexts,
} from '../../generated.js';
import { clientsAllowance, strangersAllowance, type Allowance } from './allowance.js';
import type { BrowserLink, Farewell } from './link.js';
import type { Visitor } from './visitors.js';

const farewell = (why: 'SILENT' | 'UNANSWERED' | 'IDLE' | 'MOVED'): Farewell => [
  closeCodes[why],
  closeTexts[why],
];

/** The codes with which a browser closes a link on purpose, and when the page is left. */
const CLOSE_NORMAL = 1000;
const CLOSE_GOING_AWAY = 1001;

/** The calls that a {@link BrowserSession} makes. */
export interface SessionOwner {
  readonly datagramsPerSecond: number;
  /** Passes on a datagram; returns whether the server has a client at this session. */
  datagram(datagram: Uint8Array, session: BrowserSession): boolean;
  /** Returns whether the server has a client at this session. */
  hasClient(session: BrowserSession): boolean;
  /** A message was dropped that came over a link of a session. */
  dropped(): void;
  ended(session: BrowserSession): void;
}

/**
 * One player in a browser, as the server sees it: an address, whose datagrams go over the link that the browser has
 * opened last.
 */
export class BrowserSession {
  /** The address where the server sees the player. */
  readonly host: string;
  /** The text that links must have in common with the session to join it. */
  readonly key: string | undefined;
  /** The one who has opened the last link. */
  visitor: Visitor;
  readonly #owner: SessionOwner;
  #link: BrowserLink | undefined;
  #allowance: Allowance = strangersAllowance();
  #isClient = false;
  #hasAsked = false;
  #ended = false;
  /** The time when it opened, or last had a client. */
  #known = seconds();
  /** The time of the last datagram, either way. */
  #active = seconds();
  /** The time when it ends, unless another link comes. */
  #resumeUntil = Infinity;

  constructor(host: string, key: string | undefined, visitor: Visitor, owner: SessionOwner) {
    this.host = host;
    this.key = key;
    this.visitor = visitor;
    this.#owner = owner;
  }

  /** True while the server has a client here. Only then is the session worth its place. */
  get isClient(): boolean {
    return this.#isClient;
  }

  /** Carries the session over this link from now on. */
  join(link: BrowserLink, visitor: Visitor): void {
    this.#link?.close(farewell('MOVED'));
    this.visitor = visitor;
    this.#link = link;
    this.#resumeUntil = Infinity;
    link.allowance = this.#allowance;
    link.listener = {
      datagram: (datagram) => this.#receive(datagram),
      dropped: () => this.#owner.dropped(),
      broke: (why) => this.end(why),
      closed: (code) => this.#lost(code),
    };
  }

  /** Sends a datagram to the browser; returns false when it is dropped. */
  send(datagram: Uint8Array): boolean {
    this.#active = seconds();
    return this.#link?.send(datagram) ?? false;
  }

  /** Ends the session, and closes its link with this reason if it is still open. */
  end(why?: Farewell): void {
    if (this.#ended) return;
    this.#ended = true;
    const link = this.#link;
    this.#link = undefined;
    if (link) link.listener = undefined;
    if (why) link?.close(why);
    this.#owner.ended(this);
  }

  /** Ends what nobody waits for. Call it every second. */
  look(now: number): void {
    this.#note(this.#owner.hasClient(this), now);
    const stranger = this.#isClient ? 0 : now - this.#known;
    if (now > this.#resumeUntil) this.end();
    else if (!this.#hasAsked && stranger > REQUEST_SECONDS) this.end(farewell('SILENT'));
    else if (stranger > ANSWER_SECONDS) this.end(farewell('UNANSWERED'));
    else if (now - this.#active > IDLE_SECONDS) this.end(farewell('IDLE'));
    else this.#link?.look(now);
  }

  #receive(datagram: Uint8Array): void {
    const now = seconds();
    this.#hasAsked = true;
    this.#active = now;
    this.#note(this.#owner.datagram(datagram, this), now);
  }

  /** Notes whether the server has a client here, which may send more than a stranger. */
  #note(isClient: boolean, now: number): void {
    if (isClient) this.#known = now;
    if (isClient === this.#isClient) return;
    this.#isClient = isClient;
    this.#allowance = isClient
      ? clientsAllowance(this.#owner.datagramsPerSecond)
      : strangersAllowance();
    if (this.#link) this.#link.allowance = this.#allowance;
  }

  #lost(code: number): void {
    this.#link = undefined;
    if (!this.#isClient || !this.key || code === CLOSE_NORMAL) return this.end();
    const wait = code === CLOSE_GOING_AWAY ? AWAY_SECONDS : RESUME_SECONDS;
    this.#resumeUntil = seconds() + wait;
  }
}
