import { throwIfAborted } from '../abort.js';
import { ConnectError } from '../errors.js';
import { DEFAULT_DATAGRAM_SIZE } from '../generated.js';
import { checkOptions } from '../options.js';
import type { OpenLink } from './dialer.js';
import { SessionTransport, type Session } from './links.js';
import { PageRules } from './page_rules.js';
import { NearestSession } from './relays.js';
import { relayAddress, sessionKey, type SessionOptions } from './session.js';
import type { RelayTransportKind, Transport } from './transport.js';
import { WebRtcTransport, type WebRtcOptions } from './webrtc.js';
import { WebSocketTransport, type WebSocketOptions } from './websocket.js';
import type { WebTransportOptions } from './webtransport.js';
import { closeWithPage } from './with_page.js';
import { within } from './within.js';

/** Options of {@link openTransport}. The options of the transports go to each transport that knows them. */
export interface TransportOptions extends Omit<
  WebRtcOptions & WebSocketOptions & WebTransportOptions,
  'session'
> {
  /**
   * The kinds of links that may be used, the best first. Default: `['webtransport', 'webrtc', 'websocket']`, without
   * `webtransport` in Safari, which loses datagrams of a burst over it.
   */
  readonly transports?: readonly RelayTransportKind[];
}

interface WithDatagrams {
  WebTransportDatagramDuplexStream?: { readonly prototype: object };
}

/** Safari is the only browser that has no `writable` there. */
export const defaultKinds = (): readonly RelayTransportKind[] =>
  'writable' in Object((globalThis as WithDatagrams).WebTransportDatagramDuplexStream?.prototype)
    ? ['webtransport', 'webrtc', 'websocket']
    : ['webrtc', 'websocket'];

type Connect = (relay: URL, options: TransportOptions & SessionOptions) => Promise<Transport>;

/** The functions that open links. The code of WebTransport is loaded only by those who use it. */
export const kinds: Record<RelayTransportKind, Connect> = {
  webrtc: (relay, options) => WebRtcTransport.connect(relay, options),
  websocket: (relay, options) => WebSocketTransport.connect(relay, options),
  webtransport: async (relay, options) => {
    const { WebTransportTransport } = await import('./webtransport.js');
    return WebTransportTransport.connect(relay, options);
  },
};

/**
 * Opens a session for a host, which closes it.
 * @throws what {@link openTransport} throws
 */
export async function openSession(
  url: string | URL,
  options: TransportOptions,
): Promise<SessionTransport> {
  const { transports = defaultKinds(), signal } = options;
  throwIfAborted(signal);
  if (transports.length === 0)
    throw new ConnectError('TRANSPORT', 'setup', 'there is no transport to try');
  const relay = relayAddress(url, 'http');
  let session = sessionKey();
  const open =
    (kind: RelayTransportKind): OpenLink =>
    (how) =>
      kinds[kind](relay, { ...options, ...how, session });
  const transport = new SessionTransport({
    kinds: new Map(transports.map((kind) => [kind, open(kind)])),
    maxDatagramSize: options.maxDatagramSize ?? DEFAULT_DATAGRAM_SIZE,
    timeoutSeconds: options.timeoutSeconds ?? 10,
    renewSession: () => {
      session = sessionKey();
    },
  });
  const rules = new PageRules(relay);
  try {
    return await untilAborted(transport, signal);
  } catch (error) {
    throw signal?.aborted ? error : ((await rules.broken(error)) ?? error);
  } finally {
    rules.release();
  }
}

/**
 * Opens a session with the nearest of these relays, for a host, which closes it.
 * @throws what {@link openTransport} throws
 */
export async function openNearest(
  relays: readonly URL[],
  options: TransportOptions,
): Promise<Session> {
  if (relays.length === 1) return openSession(relays[0]!, options);
  const open = relays.map(
    (url) => (signal: AbortSignal) => openSession(url, { ...options, signal }),
  );
  throwIfAborted(options.signal);
  const size = options.maxDatagramSize ?? DEFAULT_DATAGRAM_SIZE;
  return untilAborted(new NearestSession(open, size), options.signal);
}

/** Resolves to the transport when it is open; rejects with the signal's reason when the signal is aborted before. */
async function untilAborted<Of extends Session & { readonly opened: Promise<void> }>(
  transport: Of,
  signal: AbortSignal | undefined,
): Promise<Of> {
  try {
    await within({ signal, timeoutSeconds: Infinity }, String, () => transport.opened);
    return transport;
  } catch (error) {
    transport.close();
    throw error;
  }
}

/**
 * Opens a transport to the relay: over the link that opens first, and over the best one that opens in the end. It
 * survives the loss of its links for 15 s, and ends with the page.
 * @throws {@link ConnectError} with the `errors` of each kind of link, when none opens; also for an
 *   address that is none, and when a rule of the page forbids it ({@link PageCode}); {@link MisuseError}
 *   `INVALID_ARGUMENT` for an option that is null; the reason of an aborted signal.
 */
export async function openTransport(
  url: string | URL,
  options: TransportOptions = {},
): Promise<SessionTransport> {
  checkOptions('openTransport', options);
  return closeWithPage(await openSession(url, options));
}
