import { Deferred } from '../deferred.js';
import { DATAGRAM_MAX } from '../generated.js';
import { Backlog, type BacklogOptions } from './backlog.js';
import { neverKeeps } from './copying.js';
import type {
  Transport,
  TransportClose,
  TransportKind,
  TransportState,
  TransportStats,
} from './transport.js';

/** This many datagrams are kept until `ondatagram` is set. */
const KEPT = 64;

type DatagramHandler = (datagram: Uint8Array<ArrayBuffer>) => void;

/** All transports have this base. It checks and counts datagrams, lets bursts wait, and delivers what arrives. */
export abstract class BaseTransport implements Transport {
  abstract readonly kind: TransportKind;
  readonly maxDatagramSize: number;
  readonly #closed = new Deferred<TransportClose>();
  readonly closed = this.#closed.promise;
  ondrop: DatagramHandler | null = null;

  /** The bytes of the longest datagram that may arrive. */
  readonly #longest: number;
  #state: TransportState = 'open';
  #handler: DatagramHandler | null = null;
  #kept: Uint8Array<ArrayBuffer>[] = [];
  readonly #backlog: Backlog;
  readonly #stats = {
    datagramsSent: 0,
    bytesSent: 0,
    datagramsReceived: 0,
    bytesReceived: 0,
    droppedBacklog: 0,
    droppedClosed: 0,
    droppedForeign: 0,
    droppedUnread: 0,
  };

  /**
   * @param header bytes that are added to the longest datagram
   * @throws RangeError when datagrams cannot wait for as long as the options say.
   */
  protected constructor(maxDatagramSize: number, options: BacklogOptions, header = 0) {
    this.maxDatagramSize = maxDatagramSize + header;
    this.#longest = DATAGRAM_MAX + header;
    neverKeeps(this);
    this.#backlog = new Backlog(
      {
        isBusy: (size) => this.isBusy(size),
        leave: (datagram) => {
          if (!this.#hand(datagram)) this.ondrop?.(datagram);
        },
        drop: (datagram) => {
          this.#stats.droppedBacklog++;
          this.ondrop?.(datagram);
        },
      },
      options,
    );
  }

  get state(): TransportState {
    return this.#state;
  }

  get ondatagram(): DatagramHandler | null {
    return this.#handler;
  }

  set ondatagram(handler: DatagramHandler | null) {
    this.#handler = handler;
    if (handler) this.#kept.splice(0).forEach((datagram) => handler(datagram));
  }

  send(datagram: Uint8Array<ArrayBuffer>, last = false): boolean {
    const size = datagram.length;
    if (size === 0 || size > this.maxDatagramSize)
      throw new RangeError(`a datagram has 1 to ${this.maxDatagramSize} bytes, not ${size}`);
    if (this.#state !== 'open') {
      this.#stats.droppedClosed++;
      return false;
    }
    if (last) return this.#hand(datagram);
    this.#backlog.flush();
    if (this.#backlog.length === 0 && !this.isBusy(size)) return this.#hand(datagram);
    if (this.#backlog.add(datagram)) return true;
    this.#stats.droppedBacklog++;
    return false;
  }

  stats(): TransportStats {
    return { ...this.#stats, datagramsWaiting: this.#backlog.length };
  }

  close(code = 1000, reason = ''): void {
    if (this.#state !== 'open') return;
    this.#state = 'closing';
    this.#giveUp();
    this.end(code, reason);
  }

  /** Returns whether a datagram of `size` bytes has to wait because too much is leaving already. @internal */
  abstract isBusy(size: number): boolean;

  /** Hands a datagram to the platform, which must not keep its bytes; returns false when the platform does not take it. */
  protected abstract put(datagram: Uint8Array<ArrayBuffer>): boolean;

  /** Begins to end the transport; call `ended` when it has ended. */
  protected abstract end(code: number, reason: string): void;

  /** Settles `closed` and drops what waits, because the transport has ended. */
  protected ended(close: TransportClose): void {
    this.#state = 'closed';
    this.#giveUp();
    this.#closed.resolve(close);
  }

  /** Hands a datagram to the platform, and returns whether the platform takes it. */
  #hand(datagram: Uint8Array<ArrayBuffer>): boolean {
    const { length } = datagram;
    if (!this.put(datagram)) {
      this.#stats.droppedBacklog++;
      return false;
    }
    this.#stats.datagramsSent++;
    this.#stats.bytesSent += length;
    return true;
  }

  /** Drops the datagrams that wait, because they cannot leave any more. */
  #giveUp(): void {
    for (const datagram of this.#backlog.end()) {
      this.#stats.droppedClosed++;
      this.ondrop?.(datagram);
    }
  }

  /** Takes something that arrived and should be a datagram. */
  protected arrived(data: unknown): void {
    if (
      !(data instanceof ArrayBuffer) ||
      data.byteLength === 0 ||
      data.byteLength > this.#longest
    ) {
      this.#stats.droppedForeign++;
      return;
    }
    this.#stats.datagramsReceived++;
    this.#stats.bytesReceived += data.byteLength;
    const datagram = new Uint8Array(data);
    if (this.#handler) {
      this.#handler(datagram);
    } else if (this.#kept.push(datagram) > KEPT) {
      this.#kept.shift();
      this.#stats.droppedUnread++;
    }
  }
}
