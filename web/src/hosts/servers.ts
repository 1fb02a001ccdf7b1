import { ConnectError, relaySays, type RelayCode } from '../errors.js';
import type { Policy } from '../secure/policy.js';
import type { SessionTransport } from '../transports/links.js';
import type { TransportClose } from '../transports/transport.js';

/** These reasons of the relay concern one game server, and not the player. */
const codes: readonly string[] = [
  'SERVER_NOT_ALLOWED',
  'SERVER_DOWN',
  'NOT_ANSWERED',
] satisfies RelayCode[];

const isOfServer = (error: unknown): boolean =>
  error instanceof ConnectError &&
  error.errors.some((each) => each instanceof ConnectError && codes.includes(each.code));

/** Returns whether a relay has ended a session because of the game server. */
export const endsForServer = ({ code }: TransportClose): boolean =>
  codes.includes(relaySays(code)?.code ?? '');

/**
 * Opens a session for the server that the policy tries, or for the first behind it that the relay does not refuse at
 * once. Each server is reached through a session of its own: a relay keeps a session with one server.
 * @param names the servers of the token, under the names that a relay expects
 */
export async function openServer(
  policy: Policy,
  names: readonly string[],
  open: (server: string) => Promise<SessionTransport>,
): Promise<SessionTransport> {
  for (;;)
    try {
      return await open(names[policy.server]!);
    } catch (error) {
      if (!isOfServer(error) || !policy.skip()) throw error;
    }
}
