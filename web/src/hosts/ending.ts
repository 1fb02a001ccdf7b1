import type { ClientState } from '../secure/core_client.js';

/**
 * The reasons for which a connection ends: this side ended it (`client`); the server kicked the player (`kicked`), is
 * stopping (`stopping`), has the same player from elsewhere (`replaced`), or does not say why because it is of another
 * make (`server`); the connection timed out (`timeout`), or its transport ended (`transport`).
 */
export type DisconnectReason =
  'client' | 'kicked' | 'stopping' | 'replaced' | 'server' | 'timeout' | 'transport';

/**
 * The end of a connection by the core: a reason for connections with messages, and a close code of WebSocket for those
 * with bytes.
 */
export interface Ending {
  readonly reason: DisconnectReason;
  readonly closeCode: number;
  readonly message: string;
}

const endings: Partial<Record<ClientState, Omit<Ending, 'message'>>> = {
  TIMED_OUT: { reason: 'timeout', closeCode: 1006 },
  KICKED: { reason: 'kicked', closeCode: 1000 },
  REPLACED: { reason: 'replaced', closeCode: 1000 },
  STOPPING: { reason: 'stopping', closeCode: 1001 },
};

/** Returns how the connection of a client ended that was connected and is not any more. */
export const endingOf = (client: { readonly state: ClientState; explain(): string }): Ending => {
  const ending = endings[client.state];
  return ending
    ? { ...ending, message: client.explain() }
    : { reason: 'server', closeCode: 1000, message: 'the server has disconnected this client' };
};
