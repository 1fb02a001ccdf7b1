import { seconds, worldSeconds } from '../clock.js';
import { MisuseError } from '../errors.js';
import { tickInterval } from '../hosts/carrier.js';
import type { Schema } from '../messages/schema.js';
import { checkOptions } from '../options.js';
import type { HttpServer } from './browsers/http.js';
import { BrowserSessions } from './browsers/sessions.js';
import { Visitors, type VisitorOptions } from './browsers/visitors.js';
import { addressList } from './checks.js';
import { generateKey } from './token.js';
import type { WasmSource } from '../wasm_source.js';
import { loadServer, type ServerCore } from './core.js';
import { GameServer } from './game_server.js';
import { Server } from './server.js';
import { UdpSocket } from './socket.js';
import type { ServerConfig } from './types.js';

/** Options of {@link listen}. */
export interface ListenOptions<Of extends Schema>
  extends Omit<ServerConfig, 'privateKey' | 'addresses'>, VisitorOptions {
  /** The types of messages, the same as the clients'. */
  readonly schema: Of;
  /**
   * An HTTP or HTTPS server of Node, to which pages connect over WebSocket as they would to a relay, besides the clients
   * that come over UDP. It needs the package `ws`. Requests for WebSockets of other subprotocols are left to the
   * application.
   */
  readonly server?: HttpServer;
  /**
   * The most sessions of one IP address, or one IPv6 /64, that come to the HTTP server, strangers included. Default:
   * half of `maxClients`, at least 4.
   */
  readonly maxSessionsPerAddress?: number;
  /** The IP address to listen at. Default `'127.0.0.1'`; `'0.0.0.0'` or `'::'` is every address of the machine. */
  readonly host?: string;
  /** The UDP port. Default 0, which takes any free one. */
  readonly port?: number;
  /**
   * The key of the backend that makes the tokens: 32 bytes, or 64 hexadecimal digits. Default: a new key, for tokens
   * that the server's own `generateConnectToken` makes.
   */
  readonly privateKey?: Uint8Array | string;
  /**
   * The server's addresses, as they stand in the tokens: `'203.0.113.7:40000'`. An address without a port gets the port
   * of the server. Default: the address where it listens.
   */
  readonly addresses?: readonly string[];
  /** The ticks in a second, at most 1000. Default 60. */
  readonly ticksPerSecond?: number;
  /** The core in which the protocol runs. Default: the one that `loadServer` returns. */
  readonly core?: ServerCore;
  /** The source of causeway-server.wasm when no core is given, as for `loadServer`. */
  readonly wasm?: WasmSource;
}

const isEvery = (host: string): boolean => /^[0.:]+$/.test(host);

/** @throws RangeError for a value that is not a port */
function checkPort(port: number): void {
  if (!(Number.isInteger(port) && port >= 0 && port < 65536))
    throw new RangeError(`port: ${port} is not a whole number from 0 to 65535`);
}

/** The limits that the server and the sessions of browsers have in common. */
const limitsOf = ({
  maxClients = 64,
  clientDatagramsPerSecond = 2000,
}: Pick<ServerConfig, 'maxClients' | 'clientDatagramsPerSecond'>) => ({
  maxClients,
  clientDatagramsPerSecond,
});

/** Returns what takes the browsers, when there is an HTTP server. */
function browsersOf<Of extends Schema>(
  options: ListenOptions<Of>,
  visitors: Visitors,
): BrowserSessions | undefined {
  const { maxClients, clientDatagramsPerSecond: datagramsPerSecond } = limitsOf(options);
  const { server, maxSessionsPerAddress = Math.max(4, Math.ceil(maxClients / 2)) } = options;
  if (server === undefined) return undefined;
  if (typeof server?.listenerCount !== 'function')
    throw new TypeError(
      "server: an HTTP server of Node is needed, as createServer() of 'node:http'",
    );
  if (!(Number.isInteger(maxSessionsPerAddress) && maxSessionsPerAddress > 0))
    throw new RangeError(
      `maxSessionsPerAddress: ${maxSessionsPerAddress} is no whole number above 0`,
    );
  return new BrowserSessions(server, visitors, {
    maxClients,
    maxSessionsPerAddress,
    datagramsPerSecond,
  });
}

/**
 * Starts a game server on a UDP socket, and on an HTTP server if there is one.
 * @throws {@link MisuseError} with a code that says which part of schema or options cannot work; TypeError or RangeError
 *   that names an option; {@link ConnectError}; the system's error when the socket cannot be bound, such as `EADDRINUSE`
 */
export async function listen<const Of extends Schema>(
  options: ListenOptions<Of>,
): Promise<GameServer<Of>> {
  checkOptions('listen', options, ['schema']);
  const { host = '127.0.0.1', port = 0, schema, channels, endpoint } = options;
  checkPort(port);
  const interval = tickInterval(options.ticksPerSecond);
  const visitors = new Visitors(options);
  const browsers = browsersOf(options, visitors);
  const core = options.core ?? (await loadServer({ wasm: options.wasm }));
  if (!options.addresses && isEvery(host))
    throw new MisuseError(
      'CONFIG',
      `addresses: ${host} is every address of the machine; say which ones stand in the tokens, as ` +
        "['203.0.113.7:40000']",
      'addresses',
    );
  const socket = await UdpSocket.open(host, port);
  try {
    const addresses = addressList('addresses', options.addresses ?? [host], 1).map((address) =>
      socket.withPort(address),
    );
    const { privateKey = generateKey() } = options;
    // For a new key, there can be no tokens of an earlier run.
    const { maxTokenLifeSeconds = options.privateKey ? undefined : 0 } = options;
    const config: ServerConfig = {
      ...options,
      ...limitsOf(options),
      addresses,
      privateKey,
      ...(maxTokenLifeSeconds !== undefined && { maxTokenLifeSeconds }),
    };
    const now = seconds();
    const server = new Server(core, schema, config, worldSeconds() - now);
    const tokens = {
      core,
      protocolId: options.protocolId,
      privateKey,
      insecure: options.insecure ?? false,
      servers: addresses,
      schema,
      ...(channels && { channels }),
      ...(endpoint && { endpoint }),
    };
    const { maxClients } = limitsOf(options);
    return new GameServer(server, { socket, browsers, visitors }, tokens, { interval, maxClients });
  } catch (error) {
    await socket.close();
    throw error;
  }
}
