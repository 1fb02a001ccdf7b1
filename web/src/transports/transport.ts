/** The kinds of transport to a relay, as `Transport.kind` tells them. */
export type RelayTransportKind = 'webtransport' | 'webrtc' | 'websocket';

/** All kinds of transport; `udp` is the kind of `connectUdp` on Node, without a relay. */
export type TransportKind = RelayTransportKind | 'udp';

/** The states of a transport. A transport that is made of several links is `reconnecting` while it has none. */
export type TransportState = 'open' | 'reconnecting' | 'closing' | 'closed';

/** The end of a transport. */
export interface TransportClose {
  /** The close code of the other side; 1006 when the transport broke without one. */
  readonly code: number;
  /** The text of the other side about it, which may be empty. */
  readonly reason: string;
}

/** The figures of a transport, counted since it opened. Bytes are those of datagrams alone. */
export interface TransportStats {
  /** Datagrams handed to the browser. */
  readonly datagramsSent: number;
  readonly bytesSent: number;
  /** Datagrams that arrived. */
  readonly datagramsReceived: number;
  readonly bytesReceived: number;
  /** Datagrams that wait to leave at the moment. */
  readonly datagramsWaiting: number;
  /** Datagrams dropped because earlier ones had not left in time. */
  readonly droppedBacklog: number;
  /** Datagrams dropped because the transport was not open, or ended while they waited. */
  readonly droppedClosed: number;
  /** Messages that arrived and are no datagrams: text, empty or too long. */
  readonly droppedForeign: number;
  /** Datagrams that arrived while `ondatagram` was not set, except the latest 64. */
  readonly droppedUnread: number;
}

/**
 * A transport carries datagrams between here and the relay. Like UDP it may lose, delay and drop them; it counts the
 * datagrams that it drops by itself.
 */
export interface Transport {
  readonly kind: TransportKind;
  readonly state: TransportState;
  /** Longest datagram that `send` takes, in bytes. */
  readonly maxDatagramSize: number;
  /**
   * This function is called with every datagram that arrives, and may keep it. The latest datagrams that arrived before
   * the function was set are delivered when it is set.
   */
  ondatagram: ((datagram: Uint8Array<ArrayBuffer>) => void) | null;
  /** This function is called with every datagram that `send` has taken and that was dropped before it could leave. */
  ondrop: ((datagram: Uint8Array<ArrayBuffer>) => void) | null;
  /** Resolves when the transport has ended, for whatever reason; never rejects. */
  readonly closed: Promise<TransportClose>;
  /** Returns whether a datagram of `size` bytes has to wait because too much is leaving already. @internal */
  isBusy?(size: number): boolean;
  /**
   * Sends a datagram. When too much is leaving already, it waits for its turn, for `maxWaitSeconds` at most.
   * @param last true for one of the last datagrams, which go even when others wait to leave
   * @returns `false` when it was dropped at once: the transport is not open, or too much waits already. {@link stats}
   *   counts the datagrams that are dropped, then and later.
   * @throws RangeError when the datagram is empty or longer than `maxDatagramSize`.
   */
  send(datagram: Uint8Array<ArrayBuffer>, last?: boolean): boolean;
  stats(): TransportStats;
  /** Ends the transport; `closed` resolves when it has ended. */
  close(code?: number, reason?: string): void;
}
