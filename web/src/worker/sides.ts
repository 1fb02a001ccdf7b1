import type { GameClientState, Disconnect } from '../hosts/client_events.js';
import type { GameClientStats } from '../hosts/game_client.js';
import type { ConnectOptions } from '../hosts/connect.js';
import type { ConnectToken, TokenAnswer } from '../hosts/token.js';
import type { WasmSource } from '../wasm_source.js';
import type { Packets } from '../overlay/packet_watch.js';
import type { RequestOptions } from '../messages/request.js';
import type { Schema } from '../messages/schema.js';
import type { ChannelStats, Fate, Message } from '../messages/types.js';
import type { TransportKind } from '../transports/transport.js';

/** The number of messages that may wait in the page to be taken; more of them wait in the Worker. */
export const WINDOW = 64;

/** Options of `connect` that go through a port. */
export interface PortableOptions extends Omit<
  ConnectOptions<Schema>,
  'token' | 'wasm' | 'core' | 'signal' | 'onstate' | 'through' | 'WebSocket' | 'RTCPeerConnection'
> {
  /** The token; when it is `undefined`, the Worker asks the page. */
  readonly token: ConnectToken | undefined;
  readonly wasm: Exclude<WasmSource, URL | Response | PromiseLike<Response>> | undefined;
}

/** Options of a request that go through a port. */
export type PortableRequest = Omit<RequestOptions, 'signal'>;

/** A page knows this of its client without asking. */
export interface ClientStatus {
  readonly state: GameClientState;
  readonly transport: TransportKind | undefined;
  readonly slot: { readonly index: number; readonly count: number };
  readonly writable: boolean;
}

/** The options of a data channel. */
export type ChannelOptions = {
  readonly negotiated: boolean;
  readonly id: number;
  readonly ordered: boolean;
  readonly maxRetransmits: number;
};

/** The functions of a Worker that its page calls. */
export type WorkerSide = {
  /** Connects; `peers` says that the page can open peer connections. */
  start(relays: readonly string[], options: PortableOptions, peers: boolean): Promise<ClientStatus>;
  /** Sends a message and returns whether there is room for more. */
  send(...message: unknown[]): boolean;
  track(...message: unknown[]): Promise<Fate>;
  /** Asks a question under a number of the page's, and resolves with the answer. */
  request(id: number, type: string, value: unknown, options: PortableRequest): Promise<unknown>;
  /** Gives a request up. */
  cancel(id: number): void;
  stats(): GameClientStats;
  channelStats(channel: number): ChannelStats;
  /** Returns the newest packets, which are watched from the first call on. */
  packets(): Packets | Promise<Packets>;
  /** Tells the number of messages that were taken. */
  taken(count: number): void;
  /** Ends the connection or the attempt. */
  disconnect(): void;
  /** Tells the states of a peer connection. */
  peerState(peer: number, ice: string, connection: string): void;
  /** Hands over the data channel of a peer connection, which belongs to the Worker from now on. */
  channel(peer: number, channel: RTCDataChannel): void;
  /** Tells an event of a data channel that the page keeps. */
  channelEvent(peer: number, type: 'open' | 'close' | 'error'): void;
  channelMessage(peer: number, data: unknown): void;
  /** Tells the number of bytes that have left a data channel which the page keeps. */
  channelLeft(peer: number, bytes: number): void;
};

/** The functions of a page that its Worker calls. */
export type PageSide = {
  token(): Promise<TokenAnswer>;
  state(status: ClientStatus): void;
  transport(status: ClientStatus): void;
  drain(): void;
  message(message: Message<Schema>): void;
  /** Answers a question of the game server. */
  answer(type: string, value: unknown): Promise<unknown>;
  /** Tells the end of the connection, after the last message, with its last figures. */
  end(how: Disconnect, stats: GameClientStats): void;
  openPeer(peer: number, label: string, options: ChannelOptions): void;
  offer(peer: number): Promise<{ type: string; sdp?: string }>;
  setLocal(peer: number, description: { type: 'offer'; sdp: string }): Promise<void>;
  setRemote(peer: number, description: { type: 'answer'; sdp: string }): Promise<void>;
  channelSend(peer: number, datagram: Uint8Array<ArrayBuffer>): void;
  closePeer(peer: number): void;
};
