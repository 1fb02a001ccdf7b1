import { ConnectError, type PageCode } from '../errors.js';

/** These hosts are on this machine or in its own network. */
const LOCAL =
  /^(localhost|.+\.(localhost|local)|(127|10)\..+|192\.168\..+|172\.(1[6-9]|2\d|3[01])\..+|\[(::1|f[cd].+|fe80.+)\])$/;

/**
 * This finds out by which rule of the page, or of its user, the browser keeps a page from its relay. To a link that looks
 * like a relay that is not there.
 */
export class PageRules {
  readonly #relay: URL;
  #isForbidden = false;
  readonly #note = (event: Event): void => {
    const { effectiveDirective, blockedURI } = event as SecurityPolicyViolationEvent;
    // Browsers may say no more of an address than its scheme.
    const isOurs = blockedURI.includes(this.#relay.host) || /^wss?$/.test(blockedURI);
    this.#isForbidden ||= effectiveDirective === 'connect-src' && isOurs;
  };

  constructor(relay: URL) {
    this.#relay = relay;
    globalThis.addEventListener?.('securitypolicyviolation', this.#note);
  }

  release(): void {
    globalThis.removeEventListener?.('securitypolicyviolation', this.#note);
  }

  /** Returns the error that says so after an attempt has failed, or undefined when there is no such rule. */
  async broken(cause: unknown): Promise<ConnectError | undefined> {
    const { host, hostname, protocol } = this.#relay;
    const error = (code: PageCode, message: string): ConnectError =>
      new ConnectError(code, 'setup', message, { cause });
    // The browser may tell of what it blocks a little later.
    await new Promise((resolve) => setTimeout(resolve));
    if (this.#isForbidden)
      return error(
        'POLICY',
        `the page's Content-Security-Policy does not let it connect to ${host}: add to its connect-src ` +
          `${protocol}//${host} ${protocol.replace('http', 'ws')}//${host}`,
      );
    const { location } = globalThis;
    if (globalThis.origin === 'null' && location?.protocol !== 'file:')
      return error(
        'SANDBOX',
        'the page is in a sandboxed frame, where it has no origin that a relay could know: add allow-same-origin to ' +
          `the frame, as in <iframe sandbox="allow-scripts allow-same-origin">; if it has: ${String(cause)}`,
      );
    if (location && LOCAL.test(hostname) && !LOCAL.test(location.hostname) && (await asks()))
      return error(
        'LOCAL_NETWORK',
        `the browser lets no page of elsewhere reach ${host} until its user allows it (Local Network Access): allow ` +
          'it, or open the page from a local address; a frame needs <iframe allow="local-network-access">',
      );
    return undefined;
  }
}

/** Returns whether the browser has not been allowed yet to let this page reach local addresses. */
async function asks(): Promise<boolean> {
  try {
    const name = 'local-network-access' as PermissionName;
    return (await navigator.permissions.query({ name })).state !== 'granted';
  } catch {
    return false; // This browser has no such permission.
  }
}
