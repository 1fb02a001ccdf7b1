import { Deferred } from '../deferred.js';
import { ConnectError } from '../errors.js';
import { RESUME_SECONDS, closeCodes } from '../generated.js';
import { neverKeeps } from './copying.js';
import { Dialer, type OpenLink } from './dialer.js';
import type {
  Transport,
  TransportClose,
  TransportKind,
  TransportState,
  TransportStats,
} from './transport.js';

/** WebSocket has these codes (RFC 6455) for an end without a code, and for a connection that broke. */
const NO_CODE = 1005;
const BROKEN_OFF = 1006;

/**
 * After ends with these codes, the relay still has the session, or takes it up again. The last one says that a newer
 * link of this kind has come.
 */
const LOST: readonly number[] = [
  closeCodes.UNLINKED,
  NO_CODE,
  BROKEN_OFF,
  closeCodes.RESTART,
  closeCodes.MOVED,
];

/**
 * A new link is tried beside an open one for at least TRIAL_SECONDS plus the time that it took to open, which is more
 * than a round trip. LOOK_SECONDS pass between two looks at it.
 */
const TRIAL_SECONDS = 1;
const LOOK_SECONDS = 0.1;

/** At most this many datagrams come over the old link because the relay does not know the new one yet. */
const TRIAL_LATE = 2;

/** A better kind of link that failed is tried again after this many seconds. */
const UPGRADE_SECONDS = 60;

/** Links come from here, the best kind first. */
export interface LinkSource {
  readonly kinds: ReadonlyMap<TransportKind, OpenLink>;
  readonly maxDatagramSize: number;
  readonly timeoutSeconds: number;
  /** Asks for another session of the relay, because the old one has ended. */
  renewSession(): void;
}

/** A transport to the game server whose links may be replaced: its events are those of {@link SessionTransport}. */
export interface Session extends Transport, EventTarget {
  /** The end of the last link, while there is none. @internal */
  readonly loss: TransportClose | undefined;
  /** @internal */
  isBusy(size: number): boolean;
  /** Looks for another way beside the one that is open and has become silent. */
  renew(): void;
  /** Lets only `close` end the transport from now on. @internal */
  keep(): void;
}

/** A link that has opened beside another one. */
interface Trial {
  readonly old: Transport;
  readonly link: Transport;
  /** The number of datagrams that the old link had brought when the trial began. */
  readonly received: number;
  /** The least number of looks. */
  readonly least: number;
  /**
   * True when the next datagram goes over both links, because the relay uses a link only when it has brought a
   * datagram.
   */
  probes: boolean;
  /** The number of looks since the first datagram went over the new link. */
  looks: number;
  timer: ReturnType<typeof setTimeout> | undefined;
}

/**
 * A session with the relay: one transport over links that come and go. It opens links of all kinds at
 * once, carries datagrams over the first that opens and moves to a better kind when that opens. A link
 * that is lost is replaced, for as long as the relay may know the session. {@link openTransport} makes one.
 *
 * Its events: `transport` when `kind` has changed, `state` when `state` has, and `relink` when another
 * link has taken the place of one that was lost or is silent.
 */
export class SessionTransport extends EventTarget implements Session {
  readonly maxDatagramSize: number;
  readonly #closed = new Deferred<TransportClose>();
  readonly closed = this.#closed.promise;
  ondrop: Transport['ondrop'] = null;
  readonly #firstLink = new Deferred<void>();
  /** Resolves when the first link has opened. @internal */
  readonly opened = this.#firstLink.promise;
  readonly #source: LinkSource;
  /** The dialers by kind, the best first. */
  readonly #dialers: ReadonlyMap<TransportKind, Dialer>;
  readonly #errors = new Map<TransportKind, unknown>();
  #state: TransportState = 'open';
  #handler: Transport['ondatagram'] = null;
  /** The links that have not ended. */
  readonly #links = new Set<Transport>();
  /** The link that carries datagrams, or the last that did while there is none. */
  #current: Transport | undefined;
  #trial: Trial | undefined;
  /** A link that opened during the trial of another. */
  #next: Transport | undefined;
  /** True when the current link is open, but nothing comes from it. */
  #silent = false;
  /** The number of datagrams that the current link had brought when it fell silent. */
  #before = 0;
  #kept = false;
  /** True when a link has been lost before. */
  #replaces = false;
  #deadline: ReturnType<typeof setTimeout> | undefined;
  /** The end of the last link, while there is none. @internal */
  loss: TransportClose | undefined;
  /** The links whose figures are not yet in the sums of links that are gone. */
  readonly #counted = new Set<Transport>();
  #past: TransportStats | undefined;

  /** @internal */
  constructor(source: LinkSource) {
    super();
    this.#source = source;
    neverKeeps(this);
    this.maxDatagramSize = source.maxDatagramSize;
    this.#dialers = new Map(
      [...source.kinds].map(([kind, open]) => [
        kind,
        new Dialer(open, source.timeoutSeconds, {
          opened: (link) => this.#opened(link),
          failed: (error) => this.#failed(kind, error),
        }),
      ]),
    );
    for (const [target, type] of signs()) target?.addEventListener?.(type, this.#sign);
    this.#dialers.forEach((dialer) => dialer.dial());
  }

  /** The kind of the link that carries datagrams now, or did until it was lost. */
  get kind(): TransportKind {
    return this.#current!.kind;
  }

  get state(): TransportState {
    return this.#state;
  }

  get ondatagram(): Transport['ondatagram'] {
    return this.#handler;
  }

  set ondatagram(handler: Transport['ondatagram']) {
    this.#handler = handler;
    this.#links.forEach((link) => this.#listen(link));
  }

  /** Sends a datagram, which is dropped while no link is open. */
  send(datagram: Uint8Array<ArrayBuffer>, last = false): boolean {
    const trial = this.#trial;
    if (trial?.probes && this.#current === trial.old) {
      trial.probes = !trial.link.send(datagram);
      trial.looks ||= 1;
    }
    return this.#current!.send(datagram, last);
  }

  /** @internal */
  isBusy(size: number): boolean {
    const link = this.#current!;
    return link.state === 'open' && Boolean(link.isBusy?.(size));
  }

  stats(): TransportStats {
    return [...this.#counted].reduce((sum, link) => addStats(sum, link.stats()), this.#past)!;
  }

  /**
   * Opens a new link beside the one that is open and has become silent; datagrams go over the new one
   * unless it shows that the old one still works. If none opens, others are tried until something comes. Does nothing
   * while a link is being replaced.
   */
  renew(): void {
    if (this.#state !== 'open' || this.#trial) return;
    if (!this.#silent) {
      this.#before = this.#current!.stats().datagramsReceived;
      this.#dialers.forEach((dialer) => dialer.forgive());
    }
    this.#silent = true;
    this.#dialers.forEach((dialer) => dialer.dial());
  }

  /** Lets only `close` end the transport from now on: in all other cases links are replaced. @internal */
  keep(): void {
    this.#kept = true;
    clearTimeout(this.#deadline);
  }

  close(code = 1000, reason = ''): void {
    if (this.#state === 'closing' || this.#state === 'closed') return;
    this.#stop();
    if (this.#links.size === 0) return this.#end({ code, reason });
    this.#enter('closing');
    this.#links.forEach((link) => link.close(code, reason));
  }

  #opened(link: Transport): void {
    this.#links.add(link);
    this.#counted.add(link);
    this.#listen(link);
    void link.closed.then((close) => this.#ended(link, close));
    const old = this.#current;
    if (!old || !this.#links.has(old)) this.#use(link);
    else if (this.#trial) this.#next = link;
    else this.#try(link, old);
  }

  /**
   * Tries a new link beside the old one. Nobody knows whether both carry the same session, because they may have come
   * to different relays. If both do, the relay sends over the newer one as soon as something has come over it.
   */
  #try(link: Transport, old: Transport): void {
    const { datagramsReceived: received } = old.stats();
    const least = (TRIAL_SECONDS + this.#dialers.get(link.kind)!.took) / LOOK_SECONDS;
    this.#trial = { old, link, received, least, probes: true, looks: 0, timer: undefined };
    if (this.#silent) this.#carry(link);
    this.#look(this.#trial);
  }

  #look(trial: Trial): void {
    const { old, link } = trial;
    if (this.#current === link) trial.looks ||= 1;
    if (link.stats().datagramsReceived > 0) return this.#settle(link);
    if (trial.looks > trial.least && brings(trial)) return this.#settle(old);
    trial.probes = true;
    if (trial.looks > 0) trial.looks++;
    trial.timer = setTimeout(() => this.#look(trial), LOOK_SECONDS * 1000);
  }

  /** Notes that the old link is not silent: it carries datagrams again, until the new one brings some too. */
  #unsilence(trial: Trial): void {
    this.#silent = false;
    this.#carry(trial.old);
  }

  /** Stops looking for another link when one that was silent brings more than what was under way. */
  #hear(link: Transport): void {
    if (brings({ old: link, received: this.#before })) this.#use(link);
  }

  #settle(winner: Transport): void {
    clearTimeout(this.#trial?.timer);
    this.#trial = undefined;
    const next = this.#next;
    this.#next = undefined;
    this.#use(winner, next);
    if (!next) return;
    if (this.#rank(next.kind) < this.#rank(winner.kind)) this.#try(next, winner);
    else next.close();
  }

  /** Lets this link carry the session from now on, and ends the others. */
  #use(link: Transport, spared?: Transport): void {
    this.#carry(link);
    this.#silent = false;
    this.loss = undefined;
    clearTimeout(this.#deadline);
    for (const other of this.#links) if (other !== link && other !== spared) other.close();
    for (const [kind, dialer] of this.#dialers)
      if (this.#rank(kind) >= this.#rank(link.kind)) dialer.stop();
      else if (!dialer.isBusy && spared?.kind !== kind) dialer.dialIn(UPGRADE_SECONDS);
    this.#firstLink.resolve();
    this.#enter('open');
  }

  #carry(link: Transport): void {
    const old = this.#current;
    this.#current = link;
    if (!old || old === link) return;
    const lost = !this.#links.has(old);
    this.#sum();
    if (old.kind !== link.kind) this.dispatchEvent(new Event('transport'));
    if (lost || this.#silent) this.dispatchEvent(new Event('relink'));
  }

  #ended(link: Transport, close: TransportClose): void {
    this.#links.delete(link);
    if (this.#next === link) this.#next = undefined;
    const trial = this.#trial;
    if (this.#state === 'closing') {
      if (this.#links.size === 0) this.#end(close);
    } else if (trial && (link === trial.link || link === trial.old)) {
      this.#settle(link === trial.link ? trial.old : trial.link);
    } else if (link === this.#current) {
      this.#lost(close);
    }
    this.#sum();
  }

  /** Begins to replace the last link, or ends the transport. */
  #lost(close: TransportClose): void {
    const known = LOST.includes(close.code);
    // A relay may open links only to close them. Then the pauses between attempts grow too.
    const fruitless = this.#replaces && this.#current!.stats().datagramsReceived === 0;
    if (!known && !this.#kept) return this.#end(close);
    this.#replaces = true;
    if (!known) this.#source.renewSession();
    if (!this.#kept) this.#deadline = setTimeout(() => this.#end(close), RESUME_SECONDS * 1000);
    this.loss = close;
    this.#enter('reconnecting');
    for (const dialer of this.#dialers.values()) {
      if (!fruitless) dialer.forgive();
      if (known && !fruitless) dialer.replace();
      else dialer.replaceLater();
    }
  }

  #failed(kind: TransportKind, error: unknown): void {
    const dialer = this.#dialers.get(kind)!;
    const current = this.#current;
    if (!current) {
      this.#errors.set(kind, error);
      if (this.#errors.size < this.#dialers.size) return;
      this.#firstLink.reject(
        ConnectError.ofAll([...this.#dialers.keys()].map((each) => this.#errors.get(each))),
      );
    } else if (this.#state === 'reconnecting' || this.#silent) dialer.replaceLater(error);
    else if (this.#rank(kind) < this.#rank(current.kind)) dialer.dialIn(UPGRADE_SECONDS, error);
  }

  /** Looks at the links after a sign that there may be another network, or that somebody looks at the page again. */
  readonly #sign = (event: Event): void => {
    if (event.type === 'visibilitychange' && globalThis.document?.visibilityState !== 'visible')
      return;
    if (this.#state === 'reconnecting')
      this.#dialers.forEach((dialer) => {
        dialer.stop();
        dialer.forgive();
        dialer.replace();
      });
    else if (event.type !== 'visibilitychange' && this.#current) this.renew();
  };

  #listen(link: Transport): void {
    link.ondrop = (datagram) => this.ondrop?.(datagram);
    link.ondatagram =
      this.#handler &&
      ((datagram) => {
        const trial = this.#trial;
        if (link === trial?.link) this.#settle(link);
        else if (this.#silent && link === this.#current && !trial) this.#hear(link);
        else if (trial && this.#silent && brings(trial)) this.#unsilence(trial);
        this.#handler?.(datagram);
      });
  }

  #rank(kind: TransportKind): number {
    return [...this.#dialers.keys()].indexOf(kind);
  }

  #enter(state: TransportState): void {
    if (state === this.#state) return;
    this.#state = state;
    this.dispatchEvent(new Event('state'));
  }

  /** Adds the figures of links that are gone to the sums. */
  #sum(): void {
    for (const link of this.#counted)
      if (!this.#links.has(link) && link !== this.#current) {
        this.#counted.delete(link);
        this.#past = addStats(this.#past, link.stats());
      }
  }

  #stop(): void {
    // A datagram that comes while the links close must not bring the session back.
    this.#silent = false;
    this.#dialers.forEach((dialer) => dialer.stop());
    clearTimeout(this.#deadline);
    clearTimeout(this.#trial?.timer);
    this.#trial = undefined;
    for (const [target, type] of signs()) target?.removeEventListener?.(type, this.#sign);
  }

  #end(close: TransportClose): void {
    this.#stop();
    this.#enter('closed');
    this.#closed.resolve(close);
  }
}

/** Returns whether the old link has brought more datagrams than were under way when it had brought so many. */
const brings = ({ old, received }: Pick<Trial, 'old' | 'received'>): boolean =>
  old.stats().datagramsReceived > received + TRIAL_LATE;

/** The events which say that there may be another network, or that somebody looks at the page again. */
const signs = (): readonly [Partial<EventTarget> | undefined, string][] => [
  [globalThis, 'online'],
  [(globalThis.navigator as { connection?: EventTarget } | undefined)?.connection, 'change'],
  [globalThis.document, 'visibilitychange'],
];

/** Returns the sums of figures. */
export const addStats = (sum: TransportStats | undefined, more: TransportStats): TransportStats =>
  sum
    ? (Object.fromEntries(
        Object.entries(more).map(([name, value]) => [
          name,
          value + sum[name as keyof TransportStats],
        ]),
      ) as unknown as TransportStats)
    : more;
