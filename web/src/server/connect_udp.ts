import { connectBy, type ClientOptions } from '../hosts/connect.js';
import type { GameClient } from '../hosts/game_client.js';
import { DEFAULT_DATAGRAM_SIZE } from '../generated.js';
import type { Schema } from '../messages/schema.js';
import { checkOptions } from '../options.js';
import { SessionTransport } from '../transports/links.js';
import { UdpTransport, type UdpOptions } from './udp_transport.js';

/** Options of {@link connectUdp}. */
export interface ConnectUdpOptions<Of extends Schema> extends ClientOptions<Of>, UdpOptions {}

/** A socket must open within this many seconds. The system opens it at once. */
const TIMEOUT_SECONDS = 10;

/**
 * Returns the address that the name of a server in a token stands for: `10.0.0.5_7000`, `2001-db8-0-0-0-0-0-5_7000`.
 */
const addressOf = (server: string): [host: string, port: number] => {
  const [host = '', port] = server.split('_');
  return [host.replaceAll('-', ':'), Number(port)];
};

/**
 * Connects with a game server of the token over UDP, without a relay: for bots and tests on Node.
 * @throws {@link ConnectError}, {@link MisuseError}, RangeError, what a token function throws and
 *   the reason of an aborted signal, as {@link connect} does; {@link ConnectError} when there is no socket
 */
export async function connectUdp<const Of extends Schema>(
  options: ConnectUdpOptions<Of>,
): Promise<GameClient<Of>> {
  checkOptions('connectUdp', options, ['token', 'schema']);
  return connectBy(options, async (_, server) => {
    const session = new SessionTransport({
      kinds: new Map([['udp', () => UdpTransport.connect(...addressOf(server), options)]]),
      maxDatagramSize: options.maxDatagramSize ?? DEFAULT_DATAGRAM_SIZE,
      timeoutSeconds: TIMEOUT_SECONDS,
      renewSession: () => {},
    });
    await session.opened;
    return session;
  });
}
