import { ConnectError, relaySays } from '../errors.js';
import { DATAGRAM_MAX, closeCodes } from '../generated.js';
import type { Session } from '../transports/links.js';
import { openNearest } from '../transports/race.js';
import { relayList } from '../transports/session.js';
import type { TransportClose, TransportKind, TransportStats } from '../transports/transport.js';
import { closeWithPage } from '../transports/with_page.js';
import * as attempts from './attempts.js';
import { complain, forget } from './console.js';
import { serverName, type Destination } from './destination.js';

/** At most this many bytes wait to leave, as in the buffer of a socket. */
const MAX_WAITING = 65536;

/** A socket that is closed ends after this many milliseconds, so that the last datagrams can still leave. */
const LINGER = 100;

/** These close codes are no error: either side has ended the session, or nobody used it. */
const QUIET: readonly number[] = [1000, 1005, closeCodes.IDLE];

/** The datagrams that a socket has dropped by itself. */
export interface SocketDrops {
  /** Datagrams to send that were empty or longer than the relay takes. */
  readonly droppedSize: number;
  /** Datagrams to send that waited for the relay while later ones took their place. */
  readonly droppedWaiting: number;
  /** Datagrams that arrived while the program had not read the ones before. */
  readonly droppedFull: number;
}

/**
 * Returns whether a message is one with which Emscripten's sockets tell one another their ports, in ten bytes. A game
 * server does not know such messages.
 */
const isPortMessage = (data: Uint8Array): boolean =>
  data.length === 10 && String.fromCharCode(...data.subarray(0, 8)) === '\xff\xff\xff\xffport';

/** Says in one sentence why datagrams do not get through. */
function reasonOf(error: unknown): string {
  const { errors = [] } = error instanceof ConnectError ? error : {};
  const said = errors.find((each) => each instanceof ConnectError && each.code !== 'TRANSPORT');
  const cause = said ?? error;
  return cause instanceof Error ? cause.message : String(cause);
}

function endingOf({ code, reason }: TransportClose): string {
  const said = relaySays(code);
  if (said) return said.means;
  const hint = code === 1008 ? '; a game without netcode needs a relay with --raw' : '';
  return `ended the session: ${code} ${reason}${hint}`;
}

/**
 * This is a way to a game server that looks like a WebSocket to Emscripten's sockets, with one datagram in each
 * message. It is open from the beginning, as a UDP socket is, and never resends. `open` tells that a relay has been
 * reached.
 */
export class DatagramSocket extends EventTarget {
  readonly CONNECTING = 0;
  readonly OPEN = 1;
  readonly CLOSING = 2;
  readonly CLOSED = 3;
  readonly url: string;
  readonly protocol = '';
  readonly extensions = '';
  readonly bufferedAmount = 0;
  binaryType = 'arraybuffer';
  readyState = 1;
  onopen: ((event: Event) => void) | null = null;
  onmessage: ((event: Event) => void) | null = null;
  onerror: ((event: Event) => void) | null = null;
  onclose: ((event: Event) => void) | null = null;
  /** Returns whether there is no room for another datagram that arrives. */
  isFull: (() => boolean) | undefined;

  readonly #destination: Destination;
  /** The name of the destination, for pauses and lines on the console. */
  readonly #name: string;
  #transport: Session | undefined;
  #sentAt = 0;
  #waiting: Uint8Array<ArrayBuffer>[] = [];
  #waitingBytes = 0;
  readonly #drops = { droppedSize: 0, droppedWaiting: 0, droppedFull: 0 };

  constructor(destination: Destination) {
    super();
    this.#destination = destination;
    this.#name = [destination.server, destination.relay].filter(Boolean).join(' over ');
    this.url = `causeway:${destination.relay}`;
    for (const type of ['open', 'message', 'error', 'close'] as const)
      this.addEventListener(type, (event) => this[`on${type}`]?.(event));
    void this.#run();
  }

  /** Sends a datagram, or drops it, as UDP does. */
  send(data: ArrayBuffer | ArrayBufferView): void {
    if (this.readyState !== this.OPEN) return;
    const datagram = ArrayBuffer.isView(data)
      ? new Uint8Array(data.buffer, data.byteOffset, data.byteLength).slice()
      : new Uint8Array(data);
    if (isPortMessage(datagram)) return;
    const size = datagram.length;
    if (size === 0 || size > DATAGRAM_MAX) {
      this.#drops.droppedSize++;
      complain('size', `a datagram of ${size} bytes was dropped: relays take 1 to ${DATAGRAM_MAX}`);
      return;
    }
    this.#sentAt = performance.now();
    if (this.#transport) this.#transport.send(datagram);
    else this.#wait(datagram);
  }

  /** Ends the session; what was sent last still has some time to leave. */
  close(): void {
    if (this.readyState !== this.OPEN) return;
    this.readyState = this.CLOSING;
    this.#leave();
  }

  /** Adds a listener like a WebSocket of the package `ws`, which Emscripten uses in Node. */
  on(type: string, listener: (first: unknown, how?: unknown) => void): this {
    this.addEventListener(type, (event) => {
      if (event instanceof MessageEvent) listener(event.data, { binary: true });
      else listener(event);
    });
    return this;
  }

  /** The kind of the transport that carries the datagrams at the moment. */
  get transport(): TransportKind | undefined {
    return this.#transport?.kind;
  }

  stats(): Partial<TransportStats> & SocketDrops {
    return { ...this.#transport?.stats(), ...this.#drops };
  }

  async #run(): Promise<void> {
    let error: string | undefined;
    await attempts.turn(this.#name);
    try {
      error = await this.#carry();
    } catch (cause) {
      error = reasonOf(cause);
    }
    if (error) {
      attempts.failed(this.#name);
      complain(this.#name, `no datagrams get through to ${this.#name}: ${error}`);
      this.dispatchEvent(new Event('error'));
    }
    this.readyState = this.CLOSED;
    this.dispatchEvent(new Event('close'));
  }

  /** Opens the way and waits for its end. Resolves to the reason when something was wrong, otherwise to nothing. */
  async #carry(): Promise<string | undefined> {
    const { relay } = this.#destination;
    const server = serverName(this.#destination);
    const relays = relayList(relay.split(' '));
    const transport = closeWithPage(
      await openNearest(relays, {
        maxDatagramSize: DATAGRAM_MAX,
        maxBufferedAmount: MAX_WAITING,
        ...(server && { server }),
      }),
    );
    this.#transport = transport;
    let others = relays.length > 1;
    transport.ondatagram = (datagram) => {
      if (others) transport.keep(); // has the other relays asked when this one dies
      others = false;
      this.#arrived(datagram);
    };
    this.dispatchEvent(new Event('open'));
    this.#waiting.splice(0).forEach((datagram) => transport.send(datagram));
    if (this.readyState === this.CLOSING) this.#leave();
    const close = await transport.closed;
    return QUIET.includes(close.code) ? undefined : `the relay at ${relay} ${endingOf(close)}`;
  }

  #wait(datagram: Uint8Array<ArrayBuffer>): void {
    this.#waiting.push(datagram);
    this.#waitingBytes += datagram.length;
    while (this.#waitingBytes > MAX_WAITING) {
      this.#waitingBytes -= this.#waiting.shift()!.length;
      this.#drops.droppedWaiting++;
    }
  }

  #leave(): void {
    const transport = this.#transport;
    if (!transport) return;
    const pause = this.#sentAt + LINGER - performance.now();
    setTimeout(() => transport.close(), Math.max(0, pause));
  }

  #arrived(datagram: Uint8Array<ArrayBuffer>): void {
    attempts.succeeded(this.#name);
    forget(this.#name);
    if (this.readyState !== this.OPEN) return;
    if (this.isFull?.()) this.#drops.droppedFull++;
    else this.dispatchEvent(new MessageEvent('message', { data: datagram.buffer }));
  }
}
