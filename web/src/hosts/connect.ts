import { reasonOf, throwIfAborted } from '../abort.js';
import type { Core } from '../core.js';
import { HandshakeError } from '../errors.js';
import { DEFAULT_DATAGRAM_SIZE, tokenFacts } from '../generated.js';
import { loadCore } from '../loader.js';
import { fingerprint } from '../messages/connection.js';
import type { Schema } from '../messages/schema.js';
import type { ConnectionConfig } from '../messages/types.js';
import { Client } from '../secure/client.js';
import { openTransport, type TransportOptions } from '../transports/race.js';
import type { Transport } from '../transports/transport.js';
import { ClientHost, type ClientHostState } from './client_host.js';
import { fitsTransport, seconds, tickInterval } from './host.js';

/** Options of {@link connect}. */
export interface ConnectOptions<Of extends Schema> extends TransportOptions, ConnectionConfig {
  /** The connect token from the game's backend, for this connection only: 2048 bytes. */
  readonly token: Uint8Array | ArrayBuffer;
  /** The types of messages, the same as the server's. */
  readonly schema: Of;
  /** Gives the attempt up when it is aborted; the connection that it became is not concerned. */
  readonly signal?: AbortSignal;
  /** Is told each state on the way to the connection; then the client's `state` events tell. */
  readonly onstate?: (state: ClientHostState) => void;
  /** Rounds of datagrams in a second, at most 1000. Default 60. */
  readonly ticksPerSecond?: number;
  /** Puts something between the transport and the client, as a {@link Simulator}. */
  readonly through?: (transport: Transport) => Transport;
  /** Where the protocol runs. Default: the one core that {@link loadCore} gives. */
  readonly core?: Core;
}

/** What everybody can read of a token. */
interface TokenTimes {
  readonly expireTime: number;
  readonly fingerprint: bigint;
}

/** @throws {@link HandshakeError} `INVALID_TOKEN` */
export function readToken(core: Core, token: Uint8Array): TokenTimes {
  const { exports, memory, scratch } = core;
  const copy = core.allocate(token.length + 1);
  try {
    memory.bytes.set(token, copy);
    const code = exports.token_read(copy, token.length);
    if (code !== 0) {
      const cause = core.error(code);
      throw new HandshakeError('INVALID_TOKEN', 'token', cause.message, { cause });
    }
    return {
      expireTime: Number(memory.u64(scratch + tokenFacts.expireTime)),
      fingerprint: memory.u64(scratch + tokenFacts.fingerprint),
    };
  } finally {
    exports.release_secret(copy, token.length);
  }
}

/**
 * Connects with a game server through the relay at `url`.
 * @throws {@link HandshakeError} whose `code` tells why the server did not take the client and whose
 *   `stage` how far it came; {@link ConnectError} with what each transport failed of; {@link CoreError}
 *   with a code that says which part of schema or config cannot work; RangeError for the tick rate, and
 *   for a transport that does not take what would be sent; {@link LoadError}; the reason of an aborted
 *   signal.
 */
export async function connect<const Of extends Schema>(
  url: string | URL,
  options: ConnectOptions<Of>,
): Promise<ClientHost<Of>> {
  const { schema, signal, onstate } = options;
  throwIfAborted(signal);
  const interval = tickInterval(options.ticksPerSecond);
  const core = options.core ?? (await loadCore());
  const token = new Uint8Array(options.token);
  const { expireTime, fingerprint: wanted } = readToken(core, token);
  if (wanted !== 0n && wanted !== fingerprint(core, schema, options.channels, options.endpoint))
    throw new HandshakeError(
      'SCHEMA',
      'token',
      'the connect token is for another schema; build client and backend from the same one',
    );

  const client = new Client(core, schema, options);
  let transport: Transport | undefined;
  try {
    onstate?.('opening');
    transport = await openTransport(url, options);
    transport = options.through?.(transport) ?? transport;
    fitsTransport(Math.max(DEFAULT_DATAGRAM_SIZE, client.maxDatagramSize), transport);
    client.connect(token, seconds());
    const host = new ClientHost(client, transport, expireTime, interval);
    transport = undefined;
    await handshake(host, signal, onstate);
    return host;
  } catch (error) {
    transport?.close();
    client.destroy();
    throw error;
  }
}

async function handshake<Of extends Schema>(
  host: ClientHost<Of>,
  signal: AbortSignal | undefined,
  onstate: ((state: ClientHostState) => void) | undefined,
): Promise<void> {
  const abort = (): void => host.abort(reasonOf(signal!));
  const tell = ({ state }: { state: ClientHostState }): void => onstate?.(state);
  signal?.addEventListener('abort', abort);
  host.addEventListener('state', tell);
  try {
    onstate?.(host.state);
    if (signal?.aborted) abort();
    await host.connected;
  } catch (error) {
    // Who threw may have been `onstate`.
    host.disconnect();
    throw error;
  } finally {
    signal?.removeEventListener('abort', abort);
    host.removeEventListener('state', tell);
  }
}
