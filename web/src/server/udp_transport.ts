import { DEFAULT_DATAGRAM_SIZE } from '../generated.js';
import { nodeModule, type DgramSocket } from '../node.js';
import type { BacklogOptions } from '../transports/backlog.js';
import { BaseTransport } from '../transports/base.js';
import { MAX_BACKLOG, socketType } from './socket.js';

/** Options of {@link UdpTransport.connect}. */
export interface UdpOptions extends BacklogOptions {
  /** Longest datagram that is sent, in bytes. Default 1100. */
  readonly maxDatagramSize?: number;
}

/** A transport over UDP to a game server, on Node. */
export class UdpTransport extends BaseTransport {
  override readonly kind = 'udp';
  readonly #socket: DgramSocket;

  /**
   * @param host the IP address of the server
   * @throws the system's error when it cannot make such a socket
   */
  static async connect(
    host: string,
    port: number,
    options: UdpOptions = {},
  ): Promise<UdpTransport> {
    const socket = nodeModule('node:dgram')!.createSocket({ type: socketType(host) });
    try {
      await new Promise<void>((resolve, reject) => {
        socket.once('error', reject);
        socket.connect(port, host, (error) => (error ? reject(error) : resolve()));
      });
    } catch (error) {
      socket.close();
      throw error;
    }
    return new UdpTransport(socket, options);
  }

  private constructor(socket: DgramSocket, options: UdpOptions) {
    super(options.maxDatagramSize ?? DEFAULT_DATAGRAM_SIZE, options);
    this.#socket = socket;
    socket.on('message', (datagram) => this.arrived(new Uint8Array(datagram).buffer));
    // An error may only mean that no server is at the other end yet.
    socket.on('error', () => {});
  }

  /** @internal */
  override isBusy(size: number): boolean {
    return this.#socket.getSendQueueSize() + size > MAX_BACKLOG;
  }

  protected override put(datagram: Uint8Array<ArrayBuffer>): boolean {
    // The socket keeps the bytes when the system does not take them at once.
    this.#socket.send(datagram.slice(), () => {});
    return true;
  }

  protected override end(code: number, reason: string): void {
    this.#socket.once('close', () => this.ended({ code, reason }));
    this.#socket.close();
  }
}
