import { MisuseError } from '../errors.js';
import { nodeModule, type DgramSocket } from '../node.js';

/** This many bytes may wait for the system to take them. Further datagrams would be late. */
export const MAX_BACKLOG = 1 << 20;

/**
 * The bytes of the socket's buffers for which the system is asked, so that a pause of the program loses nothing. The
 * system may grant less.
 */
const BUFFER_SIZE = 4 << 20;

/** Returns whether a text is an IP address. */
export const isIp = (text: string): boolean => nodeModule('node:net')!.isIP(text) !== 0;

/** The text before an IPv4 address on a socket of IPv6. */
const MAPPED = '::ffff:';

/** Returns the type of a socket for this IP address. */
export const socketType = (host: string): 'udp4' | 'udp6' => (host.includes(':') ? 'udp6' : 'udp4');

/**
 * Asks for a size of a buffer. Linux grants as much as it may of too large a size; macOS and the BSDs refuse it, so
 * smaller sizes are tried.
 */
function askFor(size: number, set: (size: number) => void): void {
  try {
    set(size);
  } catch {
    if (size > 1) askFor(size >> 1, set);
  }
}

/** The failures of a socket, counted since it was opened. */
export interface SocketStats {
  /** Datagrams that the system refused to send. */
  readonly sendErrors: number;
  /** Datagrams dropped because earlier ones had not left yet. */
  readonly droppedBacklog: number;
}

/** The calls that a {@link UdpSocket} makes. */
export interface SocketListener {
  datagram(datagram: Uint8Array, host: string, port: number): void;
  error(error: Error): void;
}

/** A UDP socket of Node. */
export class UdpSocket {
  readonly host: string;
  readonly port: number;
  readonly #socket: DgramSocket;
  readonly #isIpv6: boolean;
  readonly #stats = { sendErrors: 0, droppedBacklog: 0 };
  readonly #sent = (error: Error | null): void => {
    if (error) this.#stats.sendErrors++;
  };

  /**
   * @param host the IP address to bind to
   * @throws {@link MisuseError} `INVALID_ARGUMENT` for a host that is no IP address; the system's error when the socket
   *   cannot be bound
   */
  static async open(host: string, port: number): Promise<UdpSocket> {
    if (!isIp(host))
      throw new MisuseError(
        'INVALID_ARGUMENT',
        `host: '${host}' is no IP address, as 0.0.0.0 or ::`,
      );
    const socket = nodeModule('node:dgram')!.createSocket({
      type: socketType(host),
      lookup: (address, of, done) => done(null, address, of),
    });
    try {
      await new Promise<void>((resolve, reject) => {
        socket.once('listening', () => {
          socket.off('error', reject);
          resolve();
        });
        socket.once('error', reject);
        socket.bind(port, host);
      });
    } catch (error) {
      socket.close();
      throw error;
    }
    return new UdpSocket(socket);
  }

  private constructor(socket: DgramSocket) {
    this.#socket = socket;
    const { address, port } = socket.address();
    this.host = address;
    this.#isIpv6 = address.includes(':');
    this.port = port;
    askFor(BUFFER_SIZE, (size) => socket.setRecvBufferSize(size));
    askFor(BUFFER_SIZE, (size) => socket.setSendBufferSize(size));
  }

  /** Adds the port of this socket to an address without a port; returns any other text unchanged. */
  withPort(address: string): string {
    if (!isIp(address)) return address;
    return address.includes(':') ? `[${address}]:${this.port}` : `${address}:${this.port}`;
  }

  /** Begins to pass on what arrives. */
  listen(listener: SocketListener): void {
    this.#socket.on('message', (datagram, { address, port }) =>
      listener.datagram(datagram, address.startsWith(MAPPED) ? address.slice(7) : address, port),
    );
    this.#socket.on('error', (error) => listener.error(error));
  }

  /** Sends a datagram, whose bytes must not change afterwards. A datagram that the system does not take is lost. */
  send(datagram: Uint8Array, host: string, port: number): void {
    const to = this.#isIpv6 && !host.includes(':') ? MAPPED + host : host;
    if (this.#socket.getSendQueueSize() > MAX_BACKLOG) this.#stats.droppedBacklog++;
    // Node throws when something is sent to port 0, from which a stranger's datagram may have come.
    else if (port === 0) this.#stats.sendErrors++;
    else this.#socket.send(datagram, port, to, this.#sent);
  }

  stats(): SocketStats {
    return { ...this.#stats };
  }

  /** Closes the socket, and resolves when it is closed. */
  close(): Promise<void> {
    return new Promise((resolve) => {
      this.#socket.once('close', resolve);
      this.#socket.close();
    });
  }
}
