import type { Line } from './line.js';
import type { PageSide, WorkerSide } from './sides.js';

type PeerCalls = Pick<
  PageSide,
  'openPeer' | 'offer' | 'setLocal' | 'setRemote' | 'channelSend' | 'closePeer'
>;

interface Peer {
  readonly connection: RTCPeerConnection;
  readonly channel: RTCDataChannel;
  /** Bytes that the Worker has sent over the channel, if the channel could not be handed over. */
  sent: number;
}

/**
 * The peer connections that a page opens for its Worker, because a Worker cannot. Their data channels are handed to the
 * Worker.
 */
export class PagePeers {
  /** True when a data channel could not be handed over. */
  passesOn = false;
  readonly #line: () => Line<WorkerSide>;
  readonly #peers = new Map<number, Peer>();
  /** The errors of peers that could not be opened. */
  readonly #errors = new Map<number, unknown>();

  constructor(line: () => Line<WorkerSide>) {
    this.#line = line;
  }

  readonly calls: PeerCalls = {
    openPeer: (peer, label, options) => {
      try {
        this.#open(peer, label, options);
      } catch (error) {
        this.#errors.set(peer, error);
      }
    },
    offer: async (peer) => {
      const { type, sdp } = await this.#peer(peer).connection.createOffer();
      return sdp === undefined ? { type } : { type, sdp };
    },
    setLocal: (peer, description) => this.#peer(peer).connection.setLocalDescription(description),
    setRemote: (peer, description) => this.#peer(peer).connection.setRemoteDescription(description),
    channelSend: (peer, datagram) => {
      const found = this.#peers.get(peer);
      if (found?.channel.readyState !== 'open') return;
      found.channel.send(datagram);
      found.sent += datagram.length;
      this.#tellOfLeft(peer, found);
    },
    closePeer: (peer) => {
      this.#peers.get(peer)?.connection.close();
      this.#peers.delete(peer);
      this.#errors.delete(peer);
    },
  };

  /** Closes all peer connections. */
  close(): void {
    this.#peers.forEach(({ connection }) => connection.close());
    this.#peers.clear();
  }

  #peer(peer: number): Peer {
    const found = this.#peers.get(peer);
    if (!found) throw this.#errors.get(peer) ?? new Error('the peer connection was closed');
    return found;
  }

  #open(peer: number, label: string, options: RTCDataChannelInit): void {
    const line = this.#line();
    const connection = new RTCPeerConnection();
    const tell = (): void =>
      line.tell('peerState', peer, connection.iceConnectionState, connection.connectionState);
    connection.addEventListener('iceconnectionstatechange', tell);
    connection.addEventListener('connectionstatechange', tell);
    // Browsers hand a channel over only before anything else is done with it.
    const channel = connection.createDataChannel(label, options);
    const opened = { connection, channel, sent: 0 };
    this.#peers.set(peer, opened);
    try {
      line.give('channel', peer, channel);
    } catch {
      this.passesOn = true;
      this.#passOn(peer, opened);
    }
  }

  /** Passes on everything that goes through a data channel which the browser cannot hand over. */
  #passOn(peer: number, opened: Peer): void {
    const line = this.#line();
    const { channel } = opened;
    channel.binaryType = 'arraybuffer';
    for (const type of ['open', 'close', 'error'] as const)
      channel.addEventListener(type, () => line.tell('channelEvent', peer, type));
    channel.addEventListener('message', ({ data }) => line.tell('channelMessage', peer, data));
    channel.addEventListener('bufferedamountlow', () => this.#tellOfLeft(peer, opened));
  }

  #tellOfLeft(peer: number, { sent, channel }: Peer): void {
    this.#line().tell('channelLeft', peer, sent - channel.bufferedAmount);
  }
}
