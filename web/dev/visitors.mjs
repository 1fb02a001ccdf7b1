// Decides whose requests are answered: only those of this server's own pages and of other pages from this machine. A
// browser on this machine may have a stranger's page open, which must get neither a token nor the relay.
import { isIP } from 'node:net';
import { isLoopback } from './addresses.mjs';

const parse = (url) => (URL.canParse(url) ? new URL(url) : undefined);
/** Returns the name or address in a URL. */
const nameIn = (url) => url?.hostname.replace(/^\[|\]$/g, '');

/**
 * Checks the name that a request was sent to. A stranger's name may resolve to this machine (DNS rebinding), and the
 * stranger's pages would then have the same origin as ours. An address cannot be such a name.
 * @param allowed Vite's `server.allowedHosts`, which Vite obeys too
 * @returns a line for the developer, or undefined when there is no reason
 */
export function hostRefusal({ headers: { host = '' } }, allowed) {
  const name = nameIn(parse(`http://${host}`));
  const matches = (pattern) =>
    pattern.startsWith('.') ? `.${name}`.endsWith(pattern) : name === pattern;
  if (allowed === true || (name && (isIP(name) || ['.localhost', ...allowed].some(matches))))
    return undefined;
  return `${JSON.stringify(host)} is not a name of this server. If it is yours, add it to server.allowedHosts in vite.config.js\n`;
}

/** Returns why a page of another origin gets no answer; undefined when it gets one. */
export function originRefusal({ headers: { origin, host = '' } }) {
  if (!origin) return undefined;
  const url = parse(origin);
  const name = nameIn(url);
  const isOurs = url?.host === host || name === 'localhost' || isLoopback(name);
  return isOurs ? undefined : 'not for pages of other origins\n';
}
