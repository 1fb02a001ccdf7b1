import type { CoreErrorCode } from '../errors.js';
import type { Schema } from '../messages/schema.js';
import type { ConnectionConfig, ConnectionEvent } from '../messages/types.js';

/** The options of a server, besides its schema. Its defaults are those of `cw_server_config`. */
export interface ServerConfig extends ConnectionConfig {
  /** The game's number, 64 bits, as in the connect tokens. */
  readonly protocolId: bigint | number;
  /** The key of the backend that makes the tokens: 32 bytes, or 64 hexadecimal digits. */
  readonly privateKey: Uint8Array | string;
  /** The server's addresses, as they stand in the tokens: `'203.0.113.7:40000'`; 1 to 32. */
  readonly addresses: readonly string[];
  /** The number of slots, 1 to 1024. Default 64. */
  readonly maxClients?: number;
  /**
   * The longest life of a token in seconds. A server refuses tokens that live longer, and tokens that may be older than
   * itself. Default 50. With 0, both rules are off; use it only where the key is new at every start.
   */
  readonly maxTokenLifeSeconds?: number;
  /** The most clients that are still connecting, 1 to 65536. Default: twice `maxClients`. */
  readonly maxPending?: number;
  /** The number of used tokens that are remembered until they expire. Default: 16 times `maxClients`, at least 1024. */
  readonly tokenHistory?: number;
  /** The most requests that are decrypted in a second. Default 5000. */
  readonly requestsPerSecond?: number;
  /**
   * The most datagrams that are read of each client in a second; a quarter of that may come at once. A packet counts
   * once more for each 64 messages in it. Datagrams beyond that are dropped unread and counted, see
   * {@link ServerClient.datagramsRefused}. Default 2000.
   */
  readonly clientDatagramsPerSecond?: number;
  /** Seconds of silence until a keep-alive is sent, above 0 to 10. Default 0.1. */
  readonly keepAliveSeconds?: number;
  /** Packets that tell a client of the end, because any one may be lost, 1 to 100. Default 10. */
  readonly disconnectPackets?: number;
  /**
   * Broadcast blocks that have not reached all clients yet, 1 to 32768. Default 64. A client that still lacks more
   * blocks than this number leaves free is returned as one without room.
   */
  readonly maxBroadcasts?: number;
  /** A player who connects anew ends the old connection and gets its slot. Default true. */
  readonly takeover?: boolean;
  /**
   * For development, INSECURE: everybody gets in, as any player. The server takes the tokens of `generateInsecureToken`
   * instead of those made with `privateKey`. Default false.
   */
  readonly insecure?: boolean;
}

/**
 * The reasons for which the connection of a client ended: the client ended it (`client`); this server kicked the client
 * (`kicked`) or is closing (`stopping`); the same player has connected from elsewhere (`replaced`); nothing came from
 * the client any more (`timeout`).
 */
export type ServerDisconnectReason = 'client' | 'kicked' | 'timeout' | 'replaced' | 'stopping';

/** An event of a client; `client` is its slot. */
export type ServerEvent<Of extends Schema = Schema> =
  | { readonly type: 'connect'; readonly client: number }
  /** The slot is free now. The messages of the client have come in events of its connection before this one. */
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

/** A server knows this of a client. */
export interface ServerClientInfo {
  /** The number of the player, which the backend has put into the token. */
  readonly id: bigint;
  /** The id of the token that it connected with, see `connectTokenId`. */
  readonly tokenId: string;
  /** The address that its datagrams come from: `'203.0.113.7:50000'`. It may change. */
  readonly address: string;
  /** The 256 bytes that the backend has put into the token. */
  readonly userData: Uint8Array<ArrayBuffer>;
  /** Datagrams that were dropped because more came than `clientDatagramsPerSecond`. */
  readonly datagramsRefused: number;
}

/** A datagram, and its destination. */
export interface OutgoingDatagram {
  readonly datagram: Uint8Array<ArrayBuffer>;
  readonly host: string;
  readonly port: number;
}

/** The figures of a server, counted since it began, except `clients` and `pending`. */
export interface ServerStats {
  /** Clients that are connected now. */
  readonly clients: number;
  /** Clients that are still connecting now. */
  readonly pending: number;
  readonly datagramsSent: number;
  readonly datagramsReceived: number;
  readonly bytesSent: number;
  readonly bytesReceived: number;
  /** Clients that have ever connected. */
  readonly connections: number;
  /** Moves of clients to another address. */
  readonly moves: number;
  /** Takeovers of slots by newer sessions of the same clients. */
  readonly takeovers: number;
  readonly challengesSent: number;
  readonly deniedSent: number;
  /** Datagrams received that had no effect. */
  readonly datagramsDropped: number;
  /** Copies of broadcasts for which a client had no room. */
  readonly broadcastsRefused: number;
  /** The number of datagrams that were dropped for each error; an error that is missing has not happened. */
  readonly dropped: { readonly [Code in CoreErrorCode]?: number };
}

/** The options of a broadcast of a {@link Server}. */
export interface BroadcastOptions {
  readonly now: number;
  /** The slots that get it. Default: all. */
  readonly to?: readonly number[];
  /** The bytes that go along, for a message whose type carries a block. */
  readonly block?: Uint8Array | undefined;
}
