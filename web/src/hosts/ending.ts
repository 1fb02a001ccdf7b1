import type { ClientState } from '../secure/core_client.js';

/**
 * Why a connection ended: by this side (`client`); by the server, which kicked the player (`kicked`), or is
 * stopping (`stopping`), or has the same player from elsewhere (`replaced`), or does not say why because it
 * is of another make (`server`); or it timed out (`timeout`), or its transport ended (`transport`).
 */
export type DisconnectReason =
  'client' | 'kicked' | 'stopping' | 'replaced' | 'server' | 'timeout' | 'transport';

/** How a connection ended that the core has ended: for messages, and for bytes as the codes of WebSocket. */
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

/** A client that was connected is not any more. */
export const endingOf = (client: { readonly state: ClientState; explain(): string }): Ending => {
  const ending = endings[client.state];
  return ending
    ? { ...ending, message: client.explain() }
    : { reason: 'server', closeCode: 1000, message: 'the server has disconnected this client' };
};
