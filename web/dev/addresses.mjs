// Tells how this machine reaches IP addresses.
import { isIP } from 'node:net';

/** Returns whether only this machine reaches the address. */
export const isLoopback = (host) => host === '::1' || (isIP(host) === 4 && host.startsWith('127.'));

/**
 * Returns the address at which this machine reaches a server that listens at `host`, which may stand for every address.
 */
export const reachedAt = (host) => ({ '0.0.0.0': '127.0.0.1', '::': '::1' })[host] ?? host;
