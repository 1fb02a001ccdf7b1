import { throwIfAborted } from '../abort.js';
import { ConnectError, relayError, relaySays, type RelayCode } from '../errors.js';
import { DEFAULT_DATAGRAM_SIZE, SUBFLOW_HEADER_SIZE } from '../generated.js';
import type { BacklogOptions } from './backlog.js';
import { BaseTransport } from './base.js';
import { relayAddress, type SessionOptions } from './session.js';
import type { Subflows } from './subflows.js';
import { closeWithPage } from './with_page.js';
import { within } from './within.js';

/** The subprotocol that the relay speaks. */
export const WEBSOCKET_PROTOCOL = 'causeway.v1';

/** The beginning of the subprotocol with the session's key. Proxies log addresses, but no subprotocols. */
export const SESSION_PREFIX = 'causeway.session.';
/** The beginning of the subprotocol with the game server. */
const SERVER = 'causeway.server.';
/** The beginning of the subprotocol of a subflow, before its number. */
const SUBFLOW = 'causeway.subflow.';

/** Subflows are thought of when this many datagrams have come. */
const WATCHED = 32;

/** The part of a WebSocket that this transport needs: the browser's, Node's or that of the package `ws`. */
export interface WebSocketLike {
  binaryType: string;
  readonly bufferedAmount: number;
  readonly protocol: string;
  readonly readyState: number;
  send(data: Uint8Array<ArrayBuffer>): void;
  close(code?: number, reason?: string): void;
  addEventListener(type: 'open' | 'error', listener: () => void): void;
  addEventListener(type: 'message', listener: (event: { readonly data: unknown }) => void): void;
  addEventListener(
    type: 'close',
    listener: (event: { readonly code: number; readonly reason: string }) => void,
  ): void;
}

/** Options of {@link WebSocketTransport.connect}. */
export interface WebSocketOptions extends SessionOptions, BacklogOptions {
  /** When the signal is aborted, connecting is given up; the promise rejects with its reason. */
  readonly signal?: AbortSignal;
  /** The seconds in which to connect. Default 10. */
  readonly timeoutSeconds?: number;
  /**
   * Bytes that may wait in the browser before datagrams wait here. Datagrams in the browser wait for any time, and
   * delay everything that comes after them. Default 16384.
   */
  readonly maxBufferedAmount?: number;
  /** Longest datagram in bytes, at most 1400, which is what the relay takes. Default 1100. */
  readonly maxDatagramSize?: number;
  /** The constructor to use instead of the global `WebSocket`, for example that of the package `ws` in Node. */
  readonly WebSocket?: new (url: string, protocols: string[]) => WebSocketLike;
  /** The number of the subflow that this WebSocket is to be, see {@link Subflows}. @internal */
  readonly subflow?: number;
}

/** The value of `WebSocket.OPEN`. */
const OPEN = 1;
/** The value of `WebSocket.CLOSED`. */
const CLOSED = 3;

/** Returns the subprotocols with which a WebSocket asks the relay for a session and a server. */
const protocols = ({ session, server, subflow }: WebSocketOptions): string[] => [
  subflow ? SUBFLOW + subflow : WEBSOCKET_PROTOCOL,
  ...(session ? [SESSION_PREFIX + session] : []),
  ...(server ? [SERVER + server] : []),
];

function newSocket(address: string, options: WebSocketOptions): WebSocketLike {
  const Socket = options.WebSocket ?? globalThis.WebSocket;
  const fail = (message: string, cause?: unknown): ConnectError =>
    new ConnectError('TRANSPORT', 'setup', message, { cause });
  if (!Socket) throw fail('there is no WebSocket here; pass one in the options');
  try {
    const socket: WebSocketLike = new Socket(address, protocols(options));
    socket.binaryType = 'arraybuffer';
    return socket;
  } catch (error) {
    throw fail(`${address} cannot be connected to: ${String(error)}`, error);
  }
}

/**
 * A transport over a WebSocket, with one datagram in each binary message. TCP loses none and keeps their order, so they
 * may be late.
 */
export class WebSocketTransport extends BaseTransport {
  readonly kind = 'websocket';
  readonly #socket: WebSocketLike;
  /** True for a WebSocket of the user's, which may keep the bytes that it sends. */
  readonly #keeps: boolean;
  readonly #maxBufferedAmount: number;
  #subflows: Subflows | undefined;
  #addSubflows: (() => Promise<void>) | undefined;
  #came = 0;

  /**
   * Connects to a relay.
   * @param url address of the relay: `ws:`, `wss:`, or `http:` and `https:`, which mean the same
   * @throws {@link ConnectError} that says at which stage it failed; the reason of an aborted signal.
   */
  static async connect(
    url: string | URL,
    options: WebSocketOptions = {},
  ): Promise<WebSocketTransport> {
    throwIfAborted(options.signal);
    const address = relayAddress(url, 'ws').href;
    const socket = newSocket(address, options);
    const transport = new WebSocketTransport(socket, options);
    const failure = (what: string, code?: RelayCode): ConnectError =>
      relayError(address, 'handshake', what, {}, code);
    const late = (what: string): ConnectError =>
      relayError(address, 'handshake', what, { timedOut: true });
    try {
      await within(options, late, async () => {
        const opened = new Promise<void>((resolve) =>
          socket.addEventListener('open', () => resolve()),
        );
        const close = await Promise.race([opened, transport.closed]);
        if (!close && socket.protocol === protocols(options)[0]) return;
        if (!close) throw failure(`does not speak ${WEBSOCKET_PROTOCOL}`);
        const { code, reason } = close;
        if (code === 1006) throw failure('refused the WebSocket or is not there');
        const said = relaySays(code);
        const why = `(${[code, reason].filter(Boolean).join(' ')})`;
        throw failure(`${said?.means ?? 'refused the WebSocket'} ${why}`, said?.code);
      });
    } catch (error) {
      transport.close();
      throw error;
    }
    if (!options.session) return closeWithPage(transport);
    if (!options.subflow)
      transport.#addSubflows = async () => {
        const { Subflows } = await import('./subflows.js');
        const { signal: _, ...rest } = options;
        transport.#subflows = new Subflows(transport, (subflow) =>
          WebSocketTransport.connect(url, { ...rest, subflow }),
        );
      };
    return transport;
  }

  private constructor(socket: WebSocketLike, options: WebSocketOptions) {
    super(
      options.maxDatagramSize ?? DEFAULT_DATAGRAM_SIZE,
      options,
      options.subflow && SUBFLOW_HEADER_SIZE,
    );
    this.#socket = socket;
    this.#keeps = options.WebSocket !== undefined;
    this.#maxBufferedAmount = options.maxBufferedAmount ?? 16384;
    socket.addEventListener('message', ({ data }) => {
      this.#subflows?.came();
      if (++this.#came === WATCHED) this.#addSubflows?.().catch(() => {});
      this.arrived(data);
    });
    // A close event, which tells everything, follows each error, but not where Chromium obeys a page's policy.
    socket.addEventListener('error', () =>
      setTimeout(() => socket.readyState >= CLOSED && this.ended({ code: 1006, reason: '' })),
    );
    socket.addEventListener('close', ({ code, reason }) => this.ended({ code, reason }));
  }

  /** @internal */
  override isBusy(size: number): boolean {
    return this.#socket.bufferedAmount + size > this.#maxBufferedAmount;
  }

  /** Takes a datagram that came over a subflow. @internal */
  bring(datagram: ArrayBuffer): void {
    this.arrived(datagram);
  }

  protected override put(datagram: Uint8Array<ArrayBuffer>): boolean {
    if (this.#subflows?.put(datagram)) return true;
    // While the browser answers the relay's close, it drops datagrams with a warning on the console.
    if (this.#socket.readyState !== OPEN) return false;
    this.#socket.send(this.#keeps ? datagram.slice() : datagram);
    return true;
  }

  protected override end(code: number, reason: string): void {
    this.#subflows?.close();
    this.#socket.close(code, reason);
  }
}
