import type { Transport } from './transport.js';

/** The transports whose `send` does not keep a datagram; an object that is made of one is not among them. */
const copying = new WeakSet<Transport>();

export const neverKeeps = (transport: Transport): unknown => copying.add(transport);

/** Returns whether a datagram may change as soon as the transport's `send` returns. */
export const keepsNone = (transport: Transport): boolean => copying.has(transport);
