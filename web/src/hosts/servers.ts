import { ConnectError, relaySays, type RelayCode } from '../errors.js';
import type { Policy } from '../secure/policy.js';
import type { Session } from '../transports/links.js';
import type { TransportClose } from '../transports/transport.js';

/** These reasons of the relay concern one game server, and not the player. */
const codes: readonly string[] = [
  'SERVER_NOT_ALLOWED',
  'SERVER_DOWN',
  'NOT_ANSWERED',
] satisfies RelayCode[];

/** These say that there is no server, or no relay, yet or for a moment. */
const downCodes: readonly string[] = ['SERVER_DOWN', 'RELAY_STOPPING'] satisfies RelayCode[];

const saysOne = (of: readonly string[], error: unknown): boolean =>
  error instanceof ConnectError &&
  (of.includes(error.code) || error.errors.some((each) => saysOne(of, each)));

/** Returns whether an attempt has failed because there is no server, which may be about to start. */
export const saysDown = (error: unknown): boolean => saysOne(downCodes, error);

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
  open: (server: string) => Promise<Session>,
): Promise<Session> {
  for (;;)
    try {
      return await open(names[policy.server]!);
    } catch (error) {
      if (!saysOne(codes, error) || !policy.skip()) throw error;
    }
}
