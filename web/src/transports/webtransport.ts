import { throwIfAborted } from '../abort.js';
import { ConnectError, relayError } from '../errors.js';
import { DEFAULT_DATAGRAM_SIZE, httpStatuses } from '../generated.js';
import { askRelay } from './ask.js';
import type { BacklogOptions } from './backlog.js';
import { BaseTransport } from './base.js';
import { relayAddress, toldIn, type SessionOptions } from './session.js';
import { bytesOf } from './ticket.js';
import { closeWithPage } from './with_page.js';
import { within } from './within.js';

/** The part of the streams of a browser that this transport needs. */
interface Reader {
  read(): Promise<{ readonly value?: Uint8Array; readonly done: boolean }>;
  cancel(): Promise<void>;
}
interface Writer {
  write(datagram: Uint8Array<ArrayBuffer>): Promise<void>;
  abort(): Promise<void>;
}

/** The part of a WebTransport that this transport needs. */
export interface WebTransportLike {
  readonly ready: Promise<unknown>;
  readonly closed: Promise<{ readonly closeCode?: number; readonly reason?: string }>;
  readonly datagrams: {
    readonly maxDatagramSize: number;
    outgoingMaxAge?: number | null;
    readonly readable: { getReader(): Reader };
    /** Safari has only `createWritable`, and browsers of before 2026 have only `writable`. */
    createWritable?(): { getWriter(): Writer };
    readonly writable?: { getWriter(): Writer };
  };
  close(info?: { closeCode: number; reason: string }): void;
}

type WebTransportConstructor = new (
  url: string,
  options: {
    serverCertificateHashes: { algorithm: string; value: Uint8Array<ArrayBuffer> }[] | undefined;
  },
) => WebTransportLike;

/** Options of {@link WebTransportTransport.connect}. */
export interface WebTransportOptions extends SessionOptions, BacklogOptions {
  /** When the signal is aborted, connecting is given up; the promise rejects with its reason. */
  readonly signal?: AbortSignal;
  /** The seconds in which to connect. Default 10. */
  readonly timeoutSeconds?: number;
  /** Longest datagram in bytes. Default 1100; the relay gets one that the browser does not take whole in two parts. */
  readonly maxDatagramSize?: number;
  /** Bytes that may wait in the browser before datagrams wait here. Default 4400. */
  readonly maxBufferedAmount?: number;
}

/** The answer of the relay to a page that asks for its address; `webtransport_requests.c` writes it. */
interface RelayAnswer {
  /** The port as `:4433` at the host that the page knows, or another address with its port. */
  readonly address: string;
  readonly path: string;
  /** The SHA-256 of its certificates, in hexadecimal digits; none when an authority has signed it. */
  readonly hashes: readonly string[];
}

/**
 * The answers of relays by the addresses of these; `undefined` for a relay that is to be asked. An answer holds until the
 * relay is started again or changes its certificates, after six days or more.
 */
const known = new Map<string, RelayAnswer | undefined>();

/** About four datagrams. */
const FEW = 4400;

/** The browser drops a datagram that has waited for so many milliseconds. */
const MAX_AGE = 100;

/** A transport over the datagrams of WebTransport. It works in a Worker without its page. */
export class WebTransportTransport extends BaseTransport {
  readonly kind = 'webtransport';
  readonly #transport: WebTransportLike;
  readonly #writer: Writer;
  readonly #reader: Reader;
  readonly #maxBufferedAmount: number;
  /** Bytes that the browser has not taken yet. */
  #waiting = 0;
  /** The number of the last datagram that went in two parts, from 1 to 127. */
  #number = 0;

  /**
   * Connects to a relay: one HTTP request to its `/webtransport`, unless its answer is known, then QUIC.
   * @param url address of the relay: `http:` or `https:`, or `ws:` and `wss:`, which mean the same. Its fragment may be
   *   the answer to that request, which the page's backend has asked for: two round trips less.
   * @throws {@link ConnectError} that says at which stage it failed; the reason of an aborted signal.
   */
  static async connect(
    url: string | URL,
    options: WebTransportOptions = {},
  ): Promise<WebTransportTransport> {
    const address = relayAddress(url, 'http');
    const relay = new URL('webtransport', address);
    const late = (what: string): ConnectError =>
      relayError(relay, 'signalling', what, { timedOut: true });
    const opened = await within(options, late, ({ signal }) =>
      reach(address, relay, options, signal),
    );
    const transport = new WebTransportTransport(opened, options);
    return options.session ? transport : closeWithPage(transport);
  }

  private constructor(transport: WebTransportLike, options: WebTransportOptions) {
    super(options.maxDatagramSize ?? DEFAULT_DATAGRAM_SIZE, options);
    const { datagrams } = transport;
    this.#transport = transport;
    this.#maxBufferedAmount = options.maxBufferedAmount ?? FEW;
    this.#writer = (datagrams.createWritable?.() ?? datagrams.writable!).getWriter();
    this.#reader = datagrams.readable.getReader();
    if ('outgoingMaxAge' in datagrams) datagrams.outgoingMaxAge = MAX_AGE;
    transport.closed.then(
      ({ closeCode, reason = '' }) => this.#end(closeCode || 1006, reason),
      () => this.#end(1006, 'the session was lost'),
    );
    void this.#read();
  }

  /** @internal */
  override isBusy(size: number): boolean {
    return this.#waiting > 0 && this.#waiting + size > this.#maxBufferedAmount;
  }

  /** The first byte says that the datagram is whole, or which part of which one it is (`parts.h`). */
  protected override put(datagram: Uint8Array<ArrayBuffer>): boolean {
    // Firefox crashes when something is written after the other side has closed the session.
    if (this.state === 'closed') return false;
    if (datagram.length < this.#transport.datagrams.maxDatagramSize) {
      this.#write(0, datagram);
    } else {
      const half = Math.ceil(datagram.length / 2);
      this.#number = (this.#number % 127) + 1;
      this.#write(this.#number << 1, datagram.subarray(0, half));
      this.#write((this.#number << 1) | 1, datagram.subarray(half));
    }
    return true;
  }

  #write(head: number, data: Uint8Array): void {
    const whole = new Uint8Array(1 + data.length);
    whole[0] = head;
    whole.set(data, 1);
    this.#waiting += whole.length;
    const taken = (): void => {
      this.#waiting -= whole.length;
    };
    this.#writer.write(whole).then(taken, taken);
  }

  async #read(): Promise<void> {
    try {
      for (;;) {
        const { value, done } = await this.#reader.read();
        if (done || !value) return;
        this.arrived(value.slice().buffer);
      }
    } catch {
      // The session has ended, which `closed` tells.
    }
  }

  protected override end(code: number, reason: string): void {
    this.#transport.close({ closeCode: code, reason });
    this.#end(code, reason);
  }

  #end(code: number, reason: string): void {
    if (this.state === 'closed') return;
    this.ended({ code, reason });
    this.#reader.cancel().catch(() => {});
    this.#writer.abort().catch(() => {});
  }
}

/** Opens a session with what is known of the relay. Asks the relay if nothing is, or if that is wrong by now. */
async function reach(
  address: URL,
  relay: URL,
  options: SessionOptions,
  signal: AbortSignal,
): Promise<WebTransportLike> {
  const { href } = address;
  const attempt = (answer: RelayAnswer): Promise<WebTransportLike> =>
    open(href, relay, answer, options, signal);
  try {
    const answer = known.has(href)
      ? known.get(href)
      : (JSON.parse(toldIn(address, 1)) as RelayAnswer);
    known.set(href, undefined);
    if (answer) return await attempt(answer);
  } catch {
    throwIfAborted(signal);
  }
  const response = await askRelay(relay, httpStatuses.OK, signal);
  return attempt((await response.json()) as RelayAnswer);
}

/** Opens a session at the address of the answer. */
async function open(
  href: string,
  relay: URL,
  answer: RelayAnswer,
  { session, server }: SessionOptions,
  signal: AbortSignal,
): Promise<WebTransportLike> {
  const { WebTransport } = globalThis as { WebTransport?: WebTransportConstructor };
  if (!WebTransport) throw new ConnectError('TRANSPORT', 'setup', 'there is no WebTransport here');
  const { address, path, hashes } = answer;
  const host = address.startsWith(':') ? relay.hostname : '';
  const url = new URL(path, `https://${host}${address}`);
  if (session) url.searchParams.set('session', session);
  if (server) url.searchParams.set('server', server);
  const transport = new WebTransport(url.href, {
    serverCertificateHashes: hashes[0]
      ? hashes.map((hash) => ({ algorithm: 'sha-256', value: bytesOf(hash) }))
      : undefined,
  });
  transport.closed.then(
    // A relay that ends a session with a code of its own is another one the next time, as after an upgrade.
    ({ closeCode = 0 }) => closeCode > 1000 && known.set(href, undefined),
    () => {}, // The reason is that of `ready` too.
  );
  signal.addEventListener('abort', () => transport.close());
  try {
    await transport.ready;
    known.set(href, answer);
    return transport;
  } catch (cause) {
    transport.close();
    throw relayError(relay, 'handshake', `cannot be reached over UDP: ${String(cause)}`, {
      cause,
    });
  }
}
