import type { DataChannelLike, PeerConnectionLike } from '../transports/webrtc.js';
import type { Line } from './line.js';
import type { ChannelOptions, PageSide, WorkerSide } from './sides.js';

type PeerCalls = Pick<
  WorkerSide,
  'peerState' | 'channel' | 'channelEvent' | 'channelMessage' | 'channelLeft'
>;

/**
 * A data channel that the page has opened: handed to the Worker, or held by the page where the browser cannot do that.
 */
class RemoteChannel extends EventTarget implements DataChannelLike {
  binaryType = 'arraybuffer';
  readonly #hand: (datagram: Uint8Array<ArrayBuffer>) => void;
  /** The channel itself, when it is the Worker's. */
  #own: RTCDataChannel | undefined;
  #readyState = 'connecting';
  /** Bytes that were handed to the page, and bytes of these that have left it. */
  #handed = 0;
  #left = 0;

  constructor(hand: (datagram: Uint8Array<ArrayBuffer>) => void) {
    super();
    this.#hand = hand;
  }

  get bufferedAmount(): number {
    return this.#own?.bufferedAmount ?? this.#handed - this.#left;
  }

  get readyState(): string {
    return this.#own?.readyState ?? this.#readyState;
  }

  /** The signature is that of the interface, in which message events have data. */
  override addEventListener(
    type: string,
    listener: ((event: never) => void) | EventListenerObject | null,
    options?: boolean | AddEventListenerOptions,
  ): void {
    super.addEventListener(type, listener as EventListener, options);
  }

  send(datagram: Uint8Array<ArrayBuffer>): void {
    if (this.#own) return this.#own.send(datagram);
    this.#handed += datagram.length;
    this.#hand(datagram);
  }

  own(channel: RTCDataChannel): void {
    this.#own = channel;
    channel.binaryType = 'arraybuffer';
    for (const type of ['open', 'close', 'error'])
      channel.addEventListener(type, () => this.dispatchEvent(new Event(type)));
    channel.addEventListener('message', ({ data }) => this.arrived(data));
  }

  happened(type: 'open' | 'close' | 'error'): void {
    if (type !== 'error') this.#readyState = type === 'open' ? 'open' : 'closed';
    this.dispatchEvent(new Event(type));
  }

  arrived(data: unknown): void {
    this.dispatchEvent(new MessageEvent('message', { data }));
  }

  left(bytes: number): void {
    this.#left = bytes;
  }
}

/** A peer connection of the page. */
class RemotePeer extends EventTarget implements PeerConnectionLike {
  iceConnectionState = 'new';
  connectionState = 'new';
  channel: RemoteChannel | undefined;
  readonly #id: number;
  readonly #line: Line<PageSide>;
  readonly #forget: () => void;

  constructor(id: number, line: Line<PageSide>, forget: () => void) {
    super();
    this.#id = id;
    this.#line = line;
    this.#forget = forget;
  }

  createDataChannel(label: string, options: ChannelOptions): RemoteChannel {
    this.#line.tell('openPeer', this.#id, label, options);
    return (this.channel = new RemoteChannel((datagram) =>
      this.#line.tell('channelSend', this.#id, datagram),
    ));
  }

  createOffer(): Promise<{ type: string; sdp?: string }> {
    return this.#line.call('offer', this.#id);
  }

  setLocalDescription(description: { type: 'offer'; sdp: string }): Promise<void> {
    return this.#line.call('setLocal', this.#id, description);
  }

  setRemoteDescription(description: { type: 'answer'; sdp: string }): Promise<void> {
    return this.#line.call('setRemote', this.#id, description);
  }

  close(): void {
    this.#line.tell('closePeer', this.#id);
    this.#forget();
  }

  changed(ice: string, connection: string): void {
    this.iceConnectionState = ice;
    this.connectionState = connection;
    this.dispatchEvent(new Event('iceconnectionstatechange'));
    this.dispatchEvent(new Event('connectionstatechange'));
  }
}

/** The peer connections that a Worker has through its page. */
export class RemotePeers {
  readonly #peers = new Map<number, RemotePeer>();
  #last = 0;
  /** The class to use in the place of the platform's. */
  readonly PeerConnection: new () => PeerConnectionLike;

  constructor(line: () => Line<PageSide>) {
    const open = (): RemotePeer => {
      const id = ++this.#last;
      const peer = new RemotePeer(id, line(), () => this.#peers.delete(id));
      this.#peers.set(id, peer);
      return peer;
    };
    this.PeerConnection = class {
      constructor() {
        return open();
      }
    } as new () => PeerConnectionLike;
  }

  readonly calls: PeerCalls = {
    peerState: (peer, ice, connection) => this.#peers.get(peer)?.changed(ice, connection),
    channel: (peer, channel) => this.#peers.get(peer)?.channel?.own(channel),
    channelEvent: (peer, type) => this.#peers.get(peer)?.channel?.happened(type),
    channelMessage: (peer, data) => this.#peers.get(peer)?.channel?.arrived(data),
    channelLeft: (peer, bytes) => this.#peers.get(peer)?.channel?.left(bytes),
  };
}
