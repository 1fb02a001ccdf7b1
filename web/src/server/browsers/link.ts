import { seconds } from '../../clock.js';
import { DATAGRAM_MAX, PING_SECONDS, closeCodes, closeTexts } from '../../generated.js';
import { strangersAllowance, type Allowance } from './allowance.js';
import type { HttpSocket } from './http.js';
import type { WsSocket } from './ws.js';

/** The code and the text that close a WebSocket. */
export type Farewell = readonly [code: number, text: string];

/** A browser has this many seconds to answer a close. */
const CLOSE_SECONDS = 2;
/** This many bytes may wait for a browser before datagrams to it are dropped. */
const WAITING_MAX = 65536;
/** A browser for which as many bytes wait has had answers made that it does not read. */
const UNREAD_MAX = 1 << 20;
/** After a frame too many, nothing is read for so long: what is read at once may be thousands of frames. */
const PAUSE_SECONDS = 0.25;
/** The value of `WebSocket.OPEN`. */
const OPEN = 1;

/** The calls that a {@link BrowserLink} makes. */
export interface LinkListener {
  datagram(datagram: Uint8Array): void;
  /** A message came that is too long or empty, or one more than is allowed. */
  dropped(): void;
  /** The browser has broken the rules. The link is closing, with the reason if there is none yet. */
  broke(why?: Farewell): void;
  /** The link has ended, with this code of the browser's or of this server's. */
  closed(code: number): void;
}

/**
 * One WebSocket of a browser. Its allowance bounds what is read of it, of whatever kind: the rest waits in the
 * browser.
 */
export class BrowserLink {
  /** The frames and bytes that are still read of it. */
  allowance: Allowance = strangersAllowance();
  listener: LinkListener | undefined;
  readonly #socket: WsSocket;
  #resume: ReturnType<typeof setTimeout> | undefined;
  #pausedUntil = -Infinity;
  #end: ReturnType<typeof setTimeout> | undefined;
  #receivedAt = seconds();
  #pinged = false;

  constructor(socket: WsSocket, connection: HttpSocket) {
    this.#socket = socket;
    // The frames are counted one by one, and these bytes in all: fragments are no messages, but cost time.
    connection.on('data', ({ length }) => {
      const wait = this.allowance.bytes.charge(length, this.#hear());
      if (wait > 0) this.#pause(wait);
    });
    socket.on('message', (data, isBinary) => this.#message(data, isBinary));
    socket.on('ping', () => void this.#allows());
    socket.on('pong', () => void this.#allows());
    // The package `ws` has closed it with the code that says why.
    socket.on('error', () => {
      this.#cut();
      this.listener?.broke();
    });
    socket.on('close', (code) => {
      clearTimeout(this.#resume);
      clearTimeout(this.#end);
      this.listener?.closed(code);
    });
  }

  /** Sends a datagram; returns false when it is dropped, because too much waits or the link is closing. */
  send(datagram: Uint8Array): boolean {
    const { bufferedAmount, readyState } = this.#socket;
    if (readyState !== OPEN || bufferedAmount + datagram.length > WAITING_MAX) return false;
    this.#socket.send(datagram, { binary: true });
    return true;
  }

  /** Closes it, and cuts the connection when the browser does not answer in time. */
  close([code, text]: Farewell): void {
    this.listener = undefined;
    this.#socket.close(code, text);
    this.#cut();
  }

  /** Asks a silent browser whether it is there, and cuts the connection when it is not. Call it every second. */
  look(now: number): void {
    const silent = now - this.#receivedAt;
    if (silent > 2 * PING_SECONDS || this.#socket.bufferedAmount > UNREAD_MAX)
      this.#socket.terminate();
    else if (silent > PING_SECONDS && !this.#pinged) {
      this.#pinged = true;
      this.#socket.ping();
    }
  }

  #message(data: Uint8Array, isBinary: boolean): void {
    const isAllowed = this.#allows();
    if (!this.listener) return;
    if (!isBinary) return this.listener.broke([closeCodes.TEXT, closeTexts.TEXT]);
    if (!isAllowed || data.length === 0 || data.length > DATAGRAM_MAX)
      return this.listener.dropped();
    this.listener.datagram(data);
  }

  /** Counts a frame; returns whether it is allowed. Then nothing is read for a while if it is not. */
  #allows(): boolean {
    const wait = this.allowance.frames.take(1, this.#hear());
    if (wait > 0) this.#pause(Math.max(wait, PAUSE_SECONDS));
    return wait === 0;
  }

  /** Notes that the browser is there; returns the time. */
  #hear(): number {
    this.#receivedAt = seconds();
    this.#pinged = false;
    return this.#receivedAt;
  }

  /** Reads nothing for so long, or until an earlier pause is over when that ends later. */
  #pause(forSeconds: number): void {
    const until = seconds() + forSeconds;
    if (until <= this.#pausedUntil) return;
    this.#pausedUntil = until;
    this.#socket.pause();
    clearTimeout(this.#resume);
    this.#resume = setTimeout(() => this.#socket.resume(), forSeconds * 1000);
  }

  #cut(): void {
    clearTimeout(this.#end);
    this.#end = setTimeout(() => this.#socket.terminate(), CLOSE_SECONDS * 1000);
  }
}
