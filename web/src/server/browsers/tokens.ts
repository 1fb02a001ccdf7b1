import { seconds } from '../../clock.js';
import { OwnerBuckets } from './bucket.js';
import { headerOf, type HttpRequest, type HttpResponse } from './http.js';
import type { Visitors } from './visitors.js';

/**
 * An owner of addresses gets so many tokens at once, as for a class behind one address, and so many a second after
 * that. A server remembers used tokens until they expire, and has room for 1024 or more.
 */
const AT_ONCE = 30;
const PER_SECOND = 2;

/** The parts of a server that serve tokens. */
export interface TokenSource<Player> {
  readonly visitors: Visitors;
  make(player: Player): Promise<Uint8Array>;
  failed(error: unknown): void;
}

/** A function that answers a request of a page for a connect token, as a listener of an HTTP server or a route. */
export type TokenHandler<Request extends HttpRequest> = (
  request: Request,
  response: HttpResponse,
) => Promise<void>;

/** A function that says which player has sent a request; no player gets no token. */
export type PlayerOf<Request, Player> = (
  request: Request,
) => Player | null | undefined | PromiseLike<Player | null | undefined>;

/** Makes the handler of `server.tokens`. */
export function tokenHandler<Request extends HttpRequest, Player>(
  source: TokenSource<Player>,
  playerOf: PlayerOf<Request, Player>,
): TokenHandler<Request> {
  const rates = new OwnerBuckets(PER_SECOND, AT_ONCE);
  const bodyFor = async (
    request: Request,
  ): Promise<[status: number, body: string | Uint8Array]> => {
    if (request.method !== 'POST') return [405, 'a token is asked for with POST\n'];
    if (!source.visitors.allows(request)) return [403, 'this origin is not allowed (origins)\n'];
    if (!rates.take(source.visitors.of(request).owner, seconds()))
      return [429, 'too many tokens for one address (trustedProxies, if it is that of a proxy)\n'];
    try {
      const player = await playerOf(request);
      if (player === null || player === undefined) return [403, 'you may not play\n'];
      return [200, await source.make(player)];
    } catch (error) {
      source.failed(error);
      return [500, 'no token can be made at the moment\n'];
    }
  };
  return async (request, response) => {
    const [status, body] = await bodyFor(request);
    if (response.headersSent) return; // another part of the application has answered
    const origin = headerOf(request, 'origin');
    response.writeHead(status, {
      'cache-control': 'no-store',
      'content-type': typeof body === 'string' ? 'text/plain' : 'application/octet-stream',
      ...(origin && status !== 403 && { 'access-control-allow-origin': origin, vary: 'origin' }),
    });
    response.end(body);
  };
}
