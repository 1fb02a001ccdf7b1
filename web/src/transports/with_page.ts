import type { Transport } from './transport.js';

/**
 * Closes a transport when its page is left. Leaving alone tells the relay nothing, which would then wait for its
 * timeout.
 */
export function closeWithPage<Of extends Transport>(transport: Of): Of {
  const leave = (): void => transport.close();
  globalThis.addEventListener?.('pagehide', leave);
  void transport.closed.then(() => globalThis.removeEventListener?.('pagehide', leave));
  return transport;
}
