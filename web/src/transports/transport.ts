/** The kinds of transport to a relay, as `Transport.kind` tells them. */
export type RelayTransportKind = 'webrtc' | 'websocket';

/** All kinds of transport; `udp` is what `connectUdp` has on Node, without a relay. */
export type TransportKind = RelayTransportKind | 'udp';

/** The life of a transport. One that is made of several links is `reconnecting` while it has none. */
export type TransportState = 'open' | 'reconnecting' | 'closing' | 'closed';

/** How a transport ended. */
export interface TransportClose {
  /** The close code of the other side; 1006 when the transport broke without one. */
  readonly code: number;
  /** What the other side said about it; may be empty. */
  readonly reason: string;
}

/** What went through a transport, counted since it opened. Bytes are those of datagrams alone. */
export interface TransportStats {
  /** Datagrams handed to the browser. */
  readonly datagramsSent: number;
  readonly bytesSent: number;
  /** Datagrams that arrived. */
  readonly datagramsReceived: number;
  readonly bytesReceived: number;
  /** Datagrams that wait to leave, now. */
  readonly datagramsWaiting: number;
  /** Datagrams dropped because earlier ones had not left in time. */
  readonly droppedBacklog: number;
  /** Datagrams dropped because the transport was not open, or ended while they waited. */
  readonly droppedClosed: number;
  /** Messages that arrived and are no datagrams: text, empty or too long. */
  readonly droppedForeign: number;
  /** Datagrams that arrived while `ondatagram` was not set, but for the latest 64. */
  readonly droppedUnread: number;
}

/**
 * A way for datagrams between here and the relay. Like UDP it may lose, delay and drop them; what it
 * drops by itself it counts.
 */
export interface Transport {
  readonly kind: TransportKind;
  readonly state: TransportState;
  /** Longest datagram that `send` takes, in bytes. */
  readonly maxDatagramSize: number;
  /**
   * Is called with every datagram that arrives, which is then the receiver's to keep. The latest of
   * those that arrived before it was set are delivered when it is set.
   */
  ondatagram: ((datagram: Uint8Array<ArrayBuffer>) => void) | null;
  /** Is called with every datagram that `send` has taken and that was dropped before it could leave. */
  ondrop: ((datagram: Uint8Array<ArrayBuffer>) => void) | null;
  /** Resolves when the transport has ended, for whatever reason; never rejects. */
  readonly closed: Promise<TransportClose>;
  /** Whether so much leaves already that a datagram of `size` bytes has to wait. @internal */
  isBusy?(size: number): boolean;
  /**
   * Sends a datagram. One that finds too much leaving already waits for its turn, for `maxWaitSeconds` at most.
   * @param last whether it is one of the last, which go even when others wait to leave
   * @returns `false` when it was dropped at once: the transport is not open, or too much waits already. {@link stats}
   *   counts what is dropped, then and later.
   * @throws RangeError when the datagram is empty or longer than `maxDatagramSize`.
   */
  send(datagram: Uint8Array<ArrayBuffer>, last?: boolean): boolean;
  stats(): TransportStats;
  /** Ends the transport; `closed` resolves when it has ended. */
  close(code?: number, reason?: string): void;
}
