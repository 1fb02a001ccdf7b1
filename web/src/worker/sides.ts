import type { ClientHostState, Disconnect } from '../hosts/client_events.js';
import type { ClientHostStats } from '../hosts/client_host.js';
import type { ConnectOptions } from '../hosts/connect.js';
import type { ConnectToken } from '../hosts/token.js';
import type { WasmSource } from '../wasm_source.js';
import type { Schema } from '../messages/schema.js';
import type { ChannelStats, Fate, Message } from '../messages/types.js';
import type { TransportKind } from '../transports/transport.js';

/** How many messages may wait in the page to be taken there; more of them wait in the Worker. */
export const WINDOW = 64;

/** Options of `connect` that go through a port. */
export interface PortableOptions extends Omit<
  ConnectOptions<Schema>,
  'token' | 'wasm' | 'core' | 'signal' | 'onstate' | 'through' | 'WebSocket' | 'RTCPeerConnection'
> {
  /** `undefined`: the page is asked. */
  readonly token: ConnectToken | undefined;
  readonly wasm: Exclude<WasmSource, URL | Response | PromiseLike<Response>> | undefined;
}

/** What a page knows of its client without asking. */
export interface Facts {
  readonly state: ClientHostState;
  readonly transport: TransportKind | undefined;
  readonly slot: { readonly index: number; readonly count: number };
  readonly writable: boolean;
}

/** How a data channel is wanted. */
export type ChannelOptions = {
  readonly negotiated: boolean;
  readonly id: number;
  readonly ordered: boolean;
  readonly maxRetransmits: number;
};

/** What a page asks of its Worker. */
export type WorkerSide = {
  /** Connects; `peers`: the page has peer connections. */
  start(url: string, options: PortableOptions, peers: boolean): Promise<Facts>;
  /** Sends a message and says whether there is room for more. */
  send(...message: unknown[]): boolean;
  track(...message: unknown[]): Promise<Fate>;
  stats(): ClientHostStats;
  channelStats(channel: number): ChannelStats;
  /** So many messages were taken. */
  taken(count: number): void;
  /** Ends the connection or the attempt. */
  disconnect(): void;
  /** Of a peer connection. */
  peerState(peer: number, ice: string, connection: string): void;
  /** The data channel of a peer connection, which is the Worker's now. */
  channel(peer: number, channel: RTCDataChannel): void;
  /** Of a data channel that remains the page's. */
  channelEvent(peer: number, type: 'open' | 'close' | 'error'): void;
  channelMessage(peer: number, data: unknown): void;
  /** So many bytes have left a data channel that remains the page's. */
  channelLeft(peer: number, bytes: number): void;
};

/** What a Worker asks of its page. */
export type PageSide = {
  token(): Promise<ConnectToken>;
  state(facts: Facts): void;
  transport(facts: Facts): void;
  drain(): void;
  message(message: Message<Schema>): void;
  /** The connection has ended, after the last message; these are its last figures. */
  end(how: Disconnect, stats: ClientHostStats): void;
  openPeer(peer: number, label: string, options: ChannelOptions): void;
  offer(peer: number): Promise<{ type: string; sdp?: string }>;
  setLocal(peer: number, description: { type: 'offer'; sdp: string }): Promise<void>;
  setRemote(peer: number, description: { type: 'answer'; sdp: string }): Promise<void>;
  channelSend(peer: number, datagram: Uint8Array<ArrayBuffer>): void;
  closePeer(peer: number): void;
};
