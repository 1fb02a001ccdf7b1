// Whose requests are answered: those of this server's own pages, and of others on this machine. A browser
// here may have a stranger's page open, which must get neither a token nor the relay.
import { isIP } from 'node:net';
import { isLoopback } from './addresses.mjs';

const parse = (url) => (URL.canParse(url) ? new URL(url) : undefined);
/** The name or address in a URL. */
const nameIn = (url) => url?.hostname.replace(/^\[|\]$/g, '');

/**
 * Why a request gets no answer: the name that it was sent to may be a stranger's that resolves to this machine
 * (DNS rebinding), and the stranger's pages would be of the same origin as ours. An address is no such name.
 * @param allowed Vite's `server.allowedHosts`, by which Vite goes too
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

/** Why a page of another origin gets no answer; undefined when there is no reason. */
export function originRefusal({ headers: { origin, host = '' } }) {
  if (!origin) return undefined;
  const url = parse(origin);
  const name = nameIn(url);
  const isOurs = url?.host === host || name === 'localhost' || isLoopback(name);
  return isOurs ? undefined : 'not for pages of other origins\n';
}
