import { CoreError } from '../errors.js';
import { nodeModule, type DgramSocket } from '../node.js';

/** Bytes that may wait for the system to take them; datagrams behind them would be late. */
const MAX_BACKLOG = 1 << 20;

/** What the system is asked for, so that a pause of the program loses nothing; it may give less. */
const BUFFER_SIZE = 4 << 20;

/** What a socket could not do, counted since it was opened. */
export interface SocketStats {
  /** Datagrams that the system refused to send. */
  readonly sendErrors: number;
  /** Datagrams dropped because earlier ones had not left yet. */
  readonly droppedBacklog: number;
}

/** What a {@link UdpSocket} tells. */
export interface SocketListener {
  datagram(datagram: Uint8Array, host: string, port: number): void;
  error(error: Error): void;
}

/** A UDP socket of Node. */
export class UdpSocket {
  readonly host: string;
  readonly port: number;
  readonly #socket: DgramSocket;
  readonly #stats = { sendErrors: 0, droppedBacklog: 0 };
  readonly #sent = (error: Error | null): void => {
    if (error) this.#stats.sendErrors++;
  };

  /**
   * @param host the IP address to bind to
   * @throws {@link CoreError} `INVALID_ARGUMENT` for a host that is no IP address; what the system says when it
   *   cannot be bound
   */
  static async open(host: string, port: number): Promise<UdpSocket> {
    const family = nodeModule('node:net')?.isIP(host);
    if (!family)
      throw new CoreError('INVALID_ARGUMENT', `host: '${host}' is no IP address, as 0.0.0.0 or ::`);
    const socket = nodeModule('node:dgram')!.createSocket({
      type: family === 6 ? 'udp6' : 'udp4',
      lookup: (address, of, done) => done(null, address, of),
    });
    await new Promise<void>((resolve, reject) => {
      socket.once('listening', () => {
        socket.off('error', reject);
        resolve();
      });
      socket.once('error', reject);
      socket.bind(port, host);
    });
    return new UdpSocket(socket);
  }

  private constructor(socket: DgramSocket) {
    this.#socket = socket;
    const { address, port } = socket.address();
    this.host = address;
    this.port = port;
    socket.setRecvBufferSize(BUFFER_SIZE);
    socket.setSendBufferSize(BUFFER_SIZE);
  }

  /** Begins to tell what arrives. */
  listen(listener: SocketListener): void {
    this.#socket.on('message', (datagram, { address, port }) =>
      listener.datagram(datagram, address, port),
    );
    this.#socket.on('error', (error) => listener.error(error));
  }

  /** Sends a datagram, which must stay as it is. What the system does not take is lost, as datagrams may be. */
  send(datagram: Uint8Array, host: string, port: number): void {
    if (this.#socket.getSendQueueSize() > MAX_BACKLOG) this.#stats.droppedBacklog++;
    else this.#socket.send(datagram, port, host, this.#sent);
  }

  stats(): SocketStats {
    return { ...this.#stats };
  }

  /** Resolves when it is closed. */
  close(): Promise<void> {
    return new Promise((resolve) => {
      this.#socket.once('close', resolve);
      this.#socket.close();
    });
  }
}
