/** The destination of a socket's datagrams. */
export interface Destination {
  /** The address of the relay, or several with spaces between them. */
  readonly relay: string;
  /** The game server as the program knows it, `10.0.0.5:7000`; undefined when the relay chooses it. */
  readonly server?: string | undefined;
}

const SCHEME = 'causeway:';

/**
 * Reads the destination from the arguments with which Emscripten's sockets open a WebSocket, if they name a relay:
 * `new WebSocket('causeway:RELAY')`, or `new WebSocket('ws://SERVER/', ['causeway:RELAY'])`, in which Emscripten has put the
 * address that the program sends to.
 */
export function destinationOf(url: unknown, protocols: unknown): Destination | undefined {
  const address = String(url);
  if (address.startsWith(SCHEME)) return { relay: address.slice(SCHEME.length) };
  const relay = [protocols].flat().find((each) => String(each).startsWith(SCHEME)) as unknown;
  const [, server] = /^wss?:\/\/([^/]+)/.exec(address) ?? [];
  return relay && server ? { relay: String(relay).slice(SCHEME.length), server } : undefined;
}

/**
 * Returns the game server under the name that a relay expects: `10.0.0.5_7000`, `2001-db8--5_7000`. Relays know servers
 * by address; a server with a host name stays unnamed, which works with relays that have only one server.
 */
export function serverName({ server = '' }: Destination): string | undefined {
  const [, host = '', port] = /^\[?([\d.]+|[\da-f:.]+:[\da-f:.]*)\]?:(\d+)$/i.exec(server) ?? [];
  return port && `${host.replaceAll(':', '-')}_${port}`;
}
