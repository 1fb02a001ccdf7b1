/** Where the datagrams of a socket go. */
export interface Destination {
  /** Address of the relay. */
  readonly relay: string;
  /** The game server as the program knows it, `10.0.0.5:7000`; unknown when it is up to the relay. */
  readonly server?: string | undefined;
}

const SCHEME = 'causeway:';

/**
 * What Emscripten's sockets say about the destination when they open a WebSocket, if it is for a relay:
 * `new WebSocket('causeway:RELAY')`, or `new WebSocket('ws://SERVER/', ['causeway:RELAY'])`, in which
 * Emscripten has put the address that the program sends to.
 */
export function destinationOf(url: unknown, protocols: unknown): Destination | undefined {
  const address = String(url);
  if (address.startsWith(SCHEME)) return { relay: address.slice(SCHEME.length) };
  const relay = [protocols].flat().find((each) => String(each).startsWith(SCHEME)) as unknown;
  const [, server] = /^wss?:\/\/([^/]+)/.exec(address) ?? [];
  return relay && server ? { relay: String(relay).slice(SCHEME.length), server } : undefined;
}

/**
 * The game server as a relay wants it named: `10.0.0.5_7000`, `2001-db8--5_7000`. Relays know servers by
 * address, so a host name is left to those that have one server only.
 */
export function serverName({ server = '' }: Destination): string | undefined {
  const [, host = '', port] = /^\[?([\d.]+|[\da-f:.]+:[\da-f:.]*)\]?:(\d+)$/i.exec(server) ?? [];
  return port && `${host.replaceAll(':', '-')}_${port}`;
}
