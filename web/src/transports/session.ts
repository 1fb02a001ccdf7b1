import { ConnectError, MisuseError } from '../errors.js';

/** The options that name the relay's session and its game server. */
export interface SessionOptions {
  /**
   * The key of the relay's session that this link joins, as {@link sessionKey} makes it. All links of a page with the
   * same key carry the same session, so that the game server sees one player. It is a secret. Default: a session that
   * only this link has, and that ends with the link and with the page.
   */
  readonly session?: string;
  /**
   * The game server that the relay is asked for, when it has several: `10.0.0.5_7000`, and with `-` for each colon of
   * an IPv6 address `2001-db8--5_7000`. Default: none is named. `connect` and `openSecureTransport` name the servers of
   * the connect token, one after the other.
   */
  readonly server?: string;
}

/** Makes the key of a session: 128 random bits in base64url. */
export function sessionKey(): string {
  const random = crypto.getRandomValues(new Uint8Array(16));
  return btoa(String.fromCharCode(...random))
    .replaceAll('+', '-')
    .replaceAll('/', '_')
    .replaceAll('=', '');
}

/**
 * Returns the address of a relay, with another scheme if the transport needs one.
 * @param scheme the scheme of the transport: `http` or `ws`; with an `s` when the address of the relay has one
 * @throws {@link ConnectError} of the stage `setup`
 */
export function relayAddress(url: string | URL, scheme: 'http' | 'ws'): URL {
  const base = globalThis.location?.href;
  try {
    const address = new URL(url, base);
    address.protocol = address.protocol.replace(/^(ws|http)/, scheme);
    // Browsers open no WebSocket at an address with a fragment.
    if (scheme === 'ws') address.hash = '';
    return address;
  } catch (error) {
    const wanted = base
      ? ''
      : '; outside of pages it must be whole, such as https://relay.example/';
    throw new ConnectError('TRANSPORT', 'setup', `${url} is no address of a relay${wanted}`, {
      cause: error,
    });
  }
}

/**
 * Returns what the page's backend was told by the relay, and has put into the fragment of its address: 1 is about
 * WebTransport, 2 about WebRTC. Nothing is `''`.
 */
export const toldIn = (relay: URL, part: 1 | 2): string =>
  decodeURIComponent(relay.hash.split(/[#&]/)[part] ?? '');

/** The address of a relay, or the addresses of several, of which the nearest is used. */
export type RelayAddresses = string | URL | readonly (string | URL)[];

/**
 * Returns the addresses of relays.
 * @throws {@link MisuseError} when there is none, and what {@link relayAddress} throws
 */
export function relayList(relays: RelayAddresses): URL[] {
  const list = Array.isArray(relays) ? (relays as readonly (string | URL)[]) : [relays as string];
  if (list.length === 0)
    throw new MisuseError('INVALID_ARGUMENT', 'there is no address of a relay; give one or more');
  return list.map((url) => relayAddress(url, 'http'));
}
