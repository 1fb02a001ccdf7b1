import type { Abort } from '../abort.js';
import { ConnectError, relayError, type TransportStage } from '../errors.js';
import { DEFAULT_DATAGRAM_SIZE, httpStatuses } from '../generated.js';
import { askRelay } from './ask.js';
import type { BacklogOptions } from './backlog.js';
import { BaseTransport } from './base.js';
import { relayAddress, toldIn, type SessionOptions } from './session.js';
import { answerTo } from './ticket.js';
import type { TransportClose } from './transport.js';
import { closeWithPage } from './with_page.js';
import { within } from './within.js';

/** The beginning of the line with the session's key in the offer, among the lines that describe the whole offer. */
const SESSION = 'a=x-causeway-session:';
/** The beginning of the line with the game server. */
const SERVER = 'a=x-causeway-server:';

/**
 * The browser may keep this many bytes by default, which is about four datagrams. A page that is busy hears late that
 * they have left.
 */
const FEW = 4400;

/** But nothing is added to them when the first has waited for so many milliseconds. */
const MAX_AGE = 100;

/**
 * A relay that does not take a ticket is silent. It is asked when the channel, which takes four round trips, is not open
 * after so many milliseconds.
 */
const PATIENCE = 2000;

/** The last answer with a ticket of each relay, by the relay's address; `''` for a relay that is to be asked. */
const answers = new Map<string, string>();

/** The part of a data channel that this transport needs. */
export interface DataChannelLike {
  binaryType: string;
  readonly bufferedAmount: number;
  readonly readyState: string;
  send(data: Uint8Array<ArrayBuffer>): void;
  addEventListener(type: 'open' | 'close' | 'error', listener: () => void): void;
  addEventListener(type: 'message', listener: (event: { readonly data: unknown }) => void): void;
}

/** The part of a peer connection that this transport needs: the browser's or, in Node, that of a package. */
export interface PeerConnectionLike {
  readonly iceConnectionState: string;
  readonly connectionState: string;
  createDataChannel(
    label: string,
    options: { negotiated: boolean; id: number; ordered: boolean; maxRetransmits: number },
  ): DataChannelLike;
  createOffer(): Promise<{ type: string; sdp?: string }>;
  setLocalDescription(description: { type: 'offer'; sdp: string }): Promise<void>;
  setRemoteDescription(description: { type: 'answer'; sdp: string }): Promise<void>;
  addEventListener(
    type: 'iceconnectionstatechange' | 'connectionstatechange',
    listener: () => void,
  ): void;
  close(): void;
}

/** Options of {@link WebRtcTransport.connect}. */
export interface WebRtcOptions extends SessionOptions, BacklogOptions {
  /** When the signal is aborted, connecting is given up; the promise rejects with its reason. */
  readonly signal?: AbortSignal;
  /** The seconds in which to connect. Default 10. */
  readonly timeoutSeconds?: number;
  /**
   * Longest datagram in bytes. Default 1100, which one packet of every path carries. Longer datagrams are split, and
   * are lost when any part is.
   */
  readonly maxDatagramSize?: number;
  /**
   * Bytes that leave in one turn of the event loop. Default 4400. Datagrams that are sent after that wait, unless
   * `maxBufferedAmount` has room for them.
   */
  readonly maxBurst?: number;
  /**
   * Bytes that may wait in the browser before datagrams wait here. Datagrams in the browser wait for any time, and
   * delay everything that comes after them. With 0 none wait there except those of a burst. Default: 4400 bytes and a
   * burst, as long as none of them has waited for 0.1 seconds.
   */
  readonly maxBufferedAmount?: number;
  /** The constructor to use instead of the global `RTCPeerConnection`, for example in Node. */
  readonly RTCPeerConnection?: new () => PeerConnectionLike;
}

/** A transport over an unordered, unreliable WebRTC data channel, with one datagram in each message. */
export class WebRtcTransport extends BaseTransport {
  readonly kind = 'webrtc';
  readonly #peer: PeerConnectionLike;
  readonly #channel: DataChannelLike;
  /** True for a channel of the user's, which may keep the bytes that it sends. */
  readonly #keeps: boolean;
  readonly #maxBurst: number;
  readonly #maxBufferedAmount: number | undefined;
  #burst = 0;
  /** The number of bytes that were handed to the browser. */
  #handed = 0;
  /** The datagrams that may still wait there: how many bytes were handed with each, and when. */
  readonly #waiting: { readonly handed: number; readonly time: number }[] = [];

  /**
   * Connects to a relay: one HTTP request to its `/rtc`, then UDP. With a session, no request is made when that relay has
   * answered before, unless it does not take what its answer said any more.
   * @param url address of the relay: `http:` or `https:`, or `ws:` and `wss:`, which mean the same. Its fragment may have
   *   an answer behind a `&`, which the page's backend got from `/rtc/ticket`.
   * @throws {@link ConnectError} that says at which stage it failed; the reason of an aborted signal.
   */
  static async connect(url: string | URL, options: WebRtcOptions = {}): Promise<WebRtcTransport> {
    const PeerConnection = options.RTCPeerConnection ?? globalThis.RTCPeerConnection;
    if (!PeerConnection)
      throw new ConnectError(
        'TRANSPORT',
        'setup',
        'there is no RTCPeerConnection here; pass one in the options',
      );
    const relay = relayAddress(url, 'http');
    const address = new URL('rtc', relay);

    const known = options.session && (answers.get(address.href) ?? toldIn(relay, 2));
    const attempt = new Attempt(newPeer(PeerConnection), address, options, known);
    try {
      const channel = await within(options, attempt.late, (abort) => attempt.open(abort));
      const transport = new WebRtcTransport(attempt.peer, channel, options);
      return options.session ? transport : closeWithPage(transport);
    } catch (error) {
      attempt.cancel();
      answers.set(address.href, '');
      const { timedOut } = error as Partial<ConnectError>;
      if (!known || timedOut || options.signal?.aborted) throw error;
      return WebRtcTransport.connect(url, options);
    }
  }

  private constructor(peer: PeerConnectionLike, channel: DataChannelLike, options: WebRtcOptions) {
    super(options.maxDatagramSize ?? DEFAULT_DATAGRAM_SIZE, options);
    this.#peer = peer;
    this.#channel = channel;
    this.#keeps = options.RTCPeerConnection !== undefined;
    this.#maxBurst = options.maxBurst ?? 4400;
    this.#maxBufferedAmount = options.maxBufferedAmount;
    channel.addEventListener('message', ({ data }) => {
      const [, code, reason = ''] = /^(\d{4}) (.*)$/.exec(String(data)) ?? [];
      if (typeof data === 'string' && code) this.#end({ code: Number(code), reason });
      else this.arrived(data);
    });
    channel.addEventListener('close', () => this.#end());
    // Firefox below 113 has no connectionState.
    const watch = (): void => {
      const states = [peer.connectionState, peer.iceConnectionState];
      if (states.some((state) => state === 'failed' || state === 'closed')) this.#end();
    };
    onStates(peer, watch);
  }

  /**
   * The browser keeps datagrams that its congestion control does not let out, for seconds if one lets it. So little is
   * handed to it while anything waits there, except datagrams that were sent in this turn of the event loop, or for
   * which `maxBufferedAmount` has room.
   * @internal
   */
  override isBusy(size: number): boolean {
    const waiting = this.#channel.bufferedAmount;
    const age = this.#age(waiting);
    if (waiting + size <= (this.#maxBufferedAmount ?? 0)) return false;
    if (this.#burst > 0) return this.#burst + size > this.#maxBurst;
    if (waiting === 0) return false;
    return this.#maxBufferedAmount !== undefined || waiting + size > FEW || age > MAX_AGE;
  }

  /** Returns for how many milliseconds the first of the bytes has waited that wait in the browser. */
  #age(bytes: number): number {
    const left = this.#handed - bytes;
    while (this.#waiting[0] && this.#waiting[0].handed <= left) this.#waiting.shift();
    return this.#waiting[0] ? performance.now() - this.#waiting[0].time : 0;
  }

  protected override put(datagram: Uint8Array<ArrayBuffer>): boolean {
    try {
      this.#channel.send(this.#keeps ? datagram.slice() : datagram);
    } catch {
      return false;
    }
    if (this.#burst === 0)
      queueMicrotask(() => {
        this.#burst = 0;
      });
    this.#burst += datagram.length;
    this.#handed += datagram.length;
    this.#waiting.push({ handed: this.#handed, time: performance.now() });
    return true;
  }

  protected override end(): void {
    this.#peer.close();
    this.ended({ code: 1000, reason: '' });
  }

  /**
   * Ends the transport. The relay gives the reason in a text, with the code that closes a WebSocket; without that text
   * the reason is not known.
   */
  #end(close: TransportClose = { code: 1006, reason: 'the data channel was closed' }): void {
    if (this.state === 'closed') return;
    this.#peer.close();
    this.ended(close);
  }
}

function onStates(peer: PeerConnectionLike, changed: () => void): void {
  peer.addEventListener('connectionstatechange', changed);
  peer.addEventListener('iceconnectionstatechange', changed);
}

/** An attempt leads to an open data channel, or to an error. */
class Attempt {
  #session: URL | undefined;
  #channel: DataChannelLike | undefined;

  constructor(
    readonly peer: PeerConnectionLike,
    readonly address: URL,
    readonly wishes: SessionOptions,
    readonly known: string | undefined,
  ) {}

  async open(abort: Abort): Promise<DataChannelLike> {
    const { peer } = this;
    const channel = peer.createDataChannel('causeway', {
      negotiated: true,
      id: 0,
      ordered: false,
      maxRetransmits: 0,
    });
    channel.binaryType = 'arraybuffer';
    const opened = this.#opened(channel);
    // When an earlier step fails, its error is the better one, so this rejection must not go unhandled.
    opened.catch(() => {});

    const { sdp = '' } = await peer.createOffer();
    await peer.setLocalDescription({ type: 'offer', sdp });
    const { known } = this;
    const answer = known ? answerTo(sdp, known, this.wishes) : await this.#ask(sdp, abort.signal);
    try {
      await peer.setRemoteDescription({ type: 'answer', sdp: answer });
    } catch (error) {
      const what = `answered with what is no description: ${String(error)}`;
      throw relayError(this.address, 'signalling', what, { cause: error });
    }
    this.#channel = channel;
    // An abort does nothing once the channel is open.
    if (known) setTimeout(() => abort.abort(), PATIENCE);
    await opened;
    return channel;
  }

  /** Posts the offer and returns the answer. The relay needs none of our candidates. */
  async #ask(sdp: string, signal: AbortSignal): Promise<string> {
    const response = await askRelay(
      this.address,
      httpStatuses.CREATED,
      signal,
      sdp.replace(/^m=/m, `${this.#lines()}$&`),
    );
    const text = await response.text();
    const location = response.headers.get('location');
    if (location) this.#session = new URL(location, this.address);
    if (text.includes('ticket:')) answers.set(this.address.href, text);
    return text;
  }

  /** Returns the lines of the offer that are for the relay. */
  #lines(): string {
    const { session, server } = this.wishes;
    return (session ? `${SESSION}${session}\r\n` : '') + (server ? `${SERVER}${server}\r\n` : '');
  }

  #opened(channel: DataChannelLike): Promise<void> {
    const { peer } = this;
    return new Promise((resolve, reject) => {
      const fail = (what: string): void => reject(relayError(this.address, this.#stage(), what));
      channel.addEventListener('open', () => resolve());
      channel.addEventListener('close', () => fail('closed the data channel'));
      const watch = (): void => {
        if (peer.iceConnectionState === 'failed') fail('cannot be reached over UDP');
        else if (peer.connectionState === 'failed') fail('broke the connection off');
      };
      onStates(peer, watch);
    });
  }

  /** Tells the relay to free what it may have for a session that was never opened. */
  cancel(): void {
    this.peer.close();
    if (this.#session)
      void fetch(this.#session, { method: 'DELETE', keepalive: true }).catch(() => {});
  }

  readonly late = (what: string): ConnectError =>
    relayError(this.address, this.#stage(), what, { timedOut: true });

  #stage(): TransportStage {
    if (!this.#channel) return 'signalling';
    if (!['connected', 'completed'].includes(this.peer.iceConnectionState)) return 'ice';
    return this.peer.connectionState === 'connected' ? 'channel' : 'dtls';
  }
}

function newPeer(PeerConnection: new () => unknown): PeerConnectionLike {
  try {
    return new PeerConnection() as PeerConnectionLike;
  } catch (error) {
    throw new ConnectError(
      'TRANSPORT',
      'setup',
      `there is no further RTCPeerConnection: ${String(error)}`,
      {
        cause: error,
      },
    );
  }
}
