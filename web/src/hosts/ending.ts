import type { ClientState } from '../secure/core_client.js';

/**
 * The reasons for which a connection ends: this side ended it (`client`); the server kicked the player (`kicked`), is
 * stopping (`stopping`), has the same player from elsewhere (`replaced`), or does not say why because it is of another
 * make (`server`); the connection timed out (`timeout`), or its transport ended (`transport`).
 */
export type DisconnectReason =
  'client' | 'kicked' | 'stopping' | 'replaced' | 'server' | 'timeout' | 'transport';

/** The end of a connection by the core. */
interface Ending {
  readonly reason: DisconnectReason;
  readonly message: string;
}

const reasons: Partial<Record<ClientState, DisconnectReason>> = {
  TIMED_OUT: 'timeout',
  KICKED: 'kicked',
  REPLACED: 'replaced',
  STOPPING: 'stopping',
};

/** Returns how the connection of a client ended that was connected. */
export const endingOf = (client: { readonly state: ClientState; explain(): string }): Ending => {
  const { state } = client;
  if (state === 'CONNECTED')
    return { reason: 'timeout', message: 'the server does not know this client any more' };
  const reason = reasons[state];
  return reason
    ? { reason, message: client.explain() }
    : { reason: 'server', message: 'the server has disconnected this client' };
};
