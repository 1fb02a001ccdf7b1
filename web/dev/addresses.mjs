// IP addresses, as a program on this machine sees them.
import { isIP } from 'node:net';

/** Whether only this machine reaches it. */
export const isLoopback = (host) => host === '::1' || (isIP(host) === 4 && host.startsWith('127.'));

/** Where this machine reaches what listens at `host`, which may stand for every address. */
export const reachedAt = (host) => ({ '0.0.0.0': '127.0.0.1', '::': '::1' })[host] ?? host;
