import type { CoreErrorCode } from '../errors.js';
import type { Schema } from '../messages/schema.js';
import type { ConnectionConfig, ConnectionEvent } from '../messages/types.js';

/** What a server can be told beside its schema. Its defaults are those of `cw_server_config`. */
export interface ServerConfig extends ConnectionConfig {
  /** The game's number, 64 bits, as in the connect tokens. */
  readonly protocolId: bigint | number;
  /** The key of the backend that makes the tokens: 32 bytes, or 64 hexadecimal digits. */
  readonly privateKey: Uint8Array | string;
  /** The server's addresses, as they stand in the tokens: `'203.0.113.7:40000'`; 1 to 32. */
  readonly addresses: readonly string[];
  /** Slots, 1 to 1024. Default 64. */
  readonly maxClients?: number;
  /**
   * The longest life of a token in seconds. A server refuses tokens that live longer, and those that may be older
   * than itself. Default 50. 0 turns both rules off; use it only where the key is new at every start.
   */
  readonly maxTokenLifeSeconds?: number;
  /** Clients that are still connecting, 1 to 65536. Default: twice `maxClients`. */
  readonly maxPending?: number;
  /** Used tokens to remember until they expire. Default: 16 times `maxClients`, at least 1024. */
  readonly tokenHistory?: number;
  /** The most requests that are decrypted in a second. Default 5000. */
  readonly requestsPerSecond?: number;
  /**
   * The most datagrams that are read of each client in a second; a quarter of that may come at once. A packet counts
   * once more for each 64 messages in it. Beyond that they are dropped unread and counted, see
   * {@link ServerClient.datagramsRefused}. Default 2000.
   */
  readonly clientDatagramsPerSecond?: number;
  /** Seconds of silence until a keep-alive is sent, above 0 to 10. Default 0.1. */
  readonly keepAliveSeconds?: number;
  /** Packets that tell a client of the end, because any one may be lost, 1 to 100. Default 10. */
  readonly disconnectPackets?: number;
  /**
   * Broadcast blocks that have not reached all clients yet, 1 to 32768. Default 64. A client that lacks more of them
   * than are left of this number is returned as one without room.
   */
  readonly maxBroadcasts?: number;
  /** Whether a player who connects anew ends the old connection and gets its slot. Default true. */
  readonly takeover?: boolean;
  /**
   * For development, INSECURE: lets in whoever asks, as any player. The server takes the tokens of
   * `generateInsecureToken` instead of those made with `privateKey`. Default false.
   */
  readonly insecure?: boolean;
}

/**
 * Why the connection of a client ended: by the client (`client`); by this server, which kicked it (`kicked`) or is
 * closing (`stopping`); because the same player has connected from elsewhere (`replaced`), or nothing came from it
 * any more (`timeout`).
 */
export type ServerDisconnectReason = 'client' | 'kicked' | 'timeout' | 'replaced' | 'stopping';

/** What has become of a client; `client` is its slot. */
export type ServerEvent<Of extends Schema = Schema> =
  | { readonly type: 'connect'; readonly client: number }
  /** The slot is free now. What the client had sent has come in events of its connection before this one. */
  | {
      readonly type: 'disconnect';
      readonly client: number;
      readonly reason: ServerDisconnectReason;
    }
  | {
      readonly type: 'connection';
      readonly client: number;
      readonly event: ConnectionEvent<Of>;
    };

/** What is known of a client. */
export interface ServerClientFacts {
  /** Who the player is, as the backend numbers them. */
  readonly id: bigint;
  /** Where its datagrams come from: `'203.0.113.7:50000'`. It may move. */
  readonly address: string;
  /** What the backend has put into the token, 256 bytes. */
  readonly userData: Uint8Array<ArrayBuffer>;
  /** Datagrams that were dropped because more came than `clientDatagramsPerSecond`. */
  readonly datagramsRefused: number;
}

/** A datagram, and where it goes to. */
export interface OutgoingDatagram {
  readonly datagram: Uint8Array<ArrayBuffer>;
  readonly host: string;
  readonly port: number;
}

/** Figures of a server, counted since it began, but for `clients` and `pending`. */
export interface ServerStats {
  /** Connected now. */
  readonly clients: number;
  /** Still connecting now. */
  readonly pending: number;
  readonly datagramsSent: number;
  readonly datagramsReceived: number;
  readonly bytesSent: number;
  readonly bytesReceived: number;
  /** Clients that have ever connected. */
  readonly connections: number;
  /** Of clients to another address. */
  readonly moves: number;
  /** Of slots, by newer sessions of the same clients. */
  readonly takeovers: number;
  readonly challengesSent: number;
  readonly deniedSent: number;
  /** Datagrams received that did nothing. */
  readonly datagramsDropped: number;
  /** Copies of broadcasts for which a client had no room. */
  readonly broadcastsRefused: number;
  /** How many datagrams were dropped for which error; an error that is not there has not happened. */
  readonly dropped: { readonly [Code in CoreErrorCode]?: number };
}

/** How a broadcast of a {@link Server} goes. */
export interface BroadcastOptions {
  readonly now: number;
  /** The slots that it is for. Default: all. */
  readonly to?: readonly number[];
  /** The bytes that go along, for a message whose type carries a block. */
  readonly block?: Uint8Array | undefined;
}
