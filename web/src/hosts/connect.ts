import { throwIfAborted } from '../abort.js';
import { MisuseError } from '../errors.js';
import { coreOf, type CoreOptions } from '../loader.js';
import { fingerprint } from '../messages/connection.js';
import type { Schema } from '../messages/schema.js';
import type { ConnectionConfig } from '../messages/types.js';
import { checkOptions } from '../options.js';
import { Client } from '../secure/client.js';
import { openNearest, type TransportOptions } from '../transports/race.js';
import { relayList, type RelayAddresses } from '../transports/session.js';
import type { Transport } from '../transports/transport.js';
import { attemptWith } from './attempt.js';
import { tickInterval } from './carrier.js';
import type { GameClientState } from './client_events.js';
import { GameClient } from './game_client.js';
import type { Access } from './client_runner.js';
import { Tokens, type TokenOption } from './token.js';

/** A function that puts something between a transport and its user, as `through` of {@link SimulatedNetwork} does. */
export type Through = (transport: Transport) => Transport;

/** The options of a client, however it gets to its server. */
export interface ClientOptions<Of extends Schema> extends ConnectionConfig, CoreOptions {
  /**
   * The connect token from the game's backend: 2048 bytes, for one connection only. It may also be a function that asks
   * the backend for a token, and may tell the relays too ({@link TokenWithRelays}); then the client can connect again, and does so by itself when the page was frozen for so
   * long that the server has given it up.
   */
  readonly token: TokenOption;
  /** The types of messages, the same as the server's. */
  readonly schema: Of;
  /** When the signal is aborted, the attempt is given up; a connection that it has become goes on. */
  readonly signal?: AbortSignal;
  /**
   * This function is called with each state on the way to the connection; after that, the client's `state` events tell.
   */
  readonly onstate?: (state: GameClientState) => void;
  /** The rounds of datagrams in a second, at most 1000. Default 60. */
  readonly ticksPerSecond?: number;
  /**
   * True: the client connects anew by itself when the connection has ended, with new tokens and growing pauses, until
   * it is kicked, replaced by a newer session of the same player, ended by a server of another library, refused for
   * good, or you call `disconnect`. `token` must be a function. The first attempt is repeated while the relay finds no
   * server. Default false: only after the page did not run.
   */
  readonly reconnect?: boolean;
  /**
   * This function puts something between the transport and the client, as `through` of {@link SimulatedNetwork} does.
   */
  readonly through?: Through;
}

/** Options of {@link connect}. */
export interface ConnectOptions<Of extends Schema> extends ClientOptions<Of>, TransportOptions {}

/** @throws {@link MisuseError} `INVALID_ARGUMENT` when a client is to come back without new tokens */
export const checkReconnect = ({
  reconnect,
  token,
}: Pick<ClientOptions<Schema>, 'reconnect' | 'token'>): void => {
  if (reconnect && typeof token !== 'function')
    throw new MisuseError(
      'INVALID_ARGUMENT',
      'reconnect: a connect token is good for one connection; pass a function as token',
    );
};

/** Makes a client that goes this way to its server. @param open see {@link Access} */
export async function connectBy<const Of extends Schema>(
  options: ClientOptions<Of>,
  open: Access['open'],
): Promise<GameClient<Of>> {
  const { schema } = options;
  throwIfAborted(options.signal);
  checkReconnect(options);
  const interval = tickInterval(options.ticksPerSecond);
  const core = await coreOf(options);
  const tokens = new Tokens(core, options.token, () =>
    fingerprint(core, schema, options.channels, options.endpoint),
  );
  const host = new GameClient(core, new Client(core, schema, options), {
    tokens,
    returns: tokens.renewable,
    reconnects: options.reconnect ?? false,
    open,
    through: options.through,
    interval,
  });
  try {
    await attemptWith(options, host, (attempt) => host.reconnect({ signal: attempt }));
    return host;
  } catch (error) {
    host.destroy();
    throw error;
  }
}

/**
 * Connects with a game server through a relay.
 * @param relays the relay's address; or those of several, of which the nearest carries the player, counted through to
 *   the server, and another one when it is lost. A game server of this library keeps the connection then; one of
 *   another library gets a new one, with `reconnect`.
 * @throws {@link ConnectError} whose `code` tells why there is no connection and whose `stage` tells how far it came;
 *   {@link MisuseError} with a code that says which part of schema or config cannot work, `INVALID_ARGUMENT` when
 *   there is none or an option is null; RangeError for the tick rate, and for a transport that does not take what would
 *   be sent; the error of the function that is asked for the token; the reason of an aborted signal.
 */
export async function connect<const Of extends Schema>(
  relays: RelayAddresses,
  options: ConnectOptions<Of>,
): Promise<GameClient<Of>> {
  checkOptions('connect', options, ['token', 'schema']);
  const urls = relayList(relays);
  return connectBy(options, (attempt, server, others = urls) =>
    openNearest(others, { ...options, signal: attempt, server }),
  );
}
