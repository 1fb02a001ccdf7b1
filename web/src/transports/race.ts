import { Abort, reasonOf, throwIfAborted } from '../abort.js';
import { ConnectError, TransportError } from '../errors.js';
import type { Transport, TransportKind } from './transport.js';
import { WebRtcTransport, type WebRtcOptions } from './webrtc.js';
import { WebSocketTransport, type WebSocketOptions } from './websocket.js';

/** Options of {@link openTransport}. Those of the transports go to each that knows them. */
export interface TransportOptions extends WebRtcOptions, WebSocketOptions {
  /** What to try, the best first. Default: `['webrtc', 'websocket']`. */
  readonly transports?: readonly TransportKind[];
  /** The next one is tried after so long beside those that have not opened yet. Default 0.7. */
  readonly staggerSeconds?: number;
}

const kinds = {
  webrtc: WebRtcTransport,
  websocket: WebSocketTransport,
} satisfies Record<TransportKind, unknown>;

/** The kind that won last, by the origin of the relay, for as long as the page lives. */
const winners = new Map<string, TransportKind>();

/**
 * Opens the first transport to the relay that works. They are tried one after the other: the next one
 * begins when the one before failed or takes long, and all but the first that opens are closed. What
 * won is tried first the next time.
 * @throws {@link ConnectError} with what each of them failed of; the reason of an aborted signal.
 */
export async function openTransport(
  url: string | URL,
  options: TransportOptions = {},
): Promise<Transport> {
  const { transports = ['webrtc', 'websocket'], staggerSeconds = 0.7, signal } = options;
  throwIfAborted(signal);
  if (transports.length === 0) throw new TransportError('setup', 'there is no transport to try');
  const origin = new URL(url, globalThis.location?.href).host;
  const last = winners.get(origin);
  const order = [...transports].sort((a, b) => Number(b === last) - Number(a === last));

  const race = new Abort(signal);
  try {
    const winner = await firstToOpen(order, staggerSeconds, race.signal, (kind) =>
      kinds[kind].connect(url, { ...options, signal: race.signal }),
    );
    winners.set(origin, winner.kind);
    return winner;
  } catch (error) {
    throwIfAborted(signal);
    throw error;
  } finally {
    race.release();
    race.abort();
  }
}

function firstToOpen(
  order: readonly TransportKind[],
  staggerSeconds: number,
  signal: AbortSignal,
  connect: (kind: TransportKind) => Promise<Transport>,
): Promise<Transport> {
  return new Promise((resolve, reject) => {
    const errors = new Map<TransportKind, unknown>();
    let started = 0;
    let won = false;
    let timer: ReturnType<typeof setTimeout> | undefined;

    const next = (): void => {
      clearTimeout(timer);
      const kind = order[started++];
      if (kind === undefined || signal.aborted) return;
      timer = setTimeout(next, staggerSeconds * 1000);
      connect(kind).then(
        (transport) => {
          clearTimeout(timer);
          if (won) transport.close();
          won = true;
          resolve(transport);
        },
        (error: unknown) => {
          errors.set(kind, error);
          if (errors.size === order.length)
            reject(new ConnectError(order.map((name) => errors.get(name))));
          else next();
        },
      );
    };
    signal.addEventListener('abort', () => {
      clearTimeout(timer);
      if (!won) reject(reasonOf(signal));
    });
    next();
  });
}
