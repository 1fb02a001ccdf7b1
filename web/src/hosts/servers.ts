import { ConnectError, TransportError, relaySays, type RelayCode } from '../errors.js';
import type { SessionTransport } from '../transports/links.js';
import type { TransportClose } from '../transports/transport.js';

/** What a relay says of one game server, and not of the player. */
const codes: readonly string[] = [
  'SERVER_NOT_ALLOWED',
  'SERVER_DOWN',
  'NOT_ANSWERED',
] satisfies RelayCode[];

const isOfServer = (error: unknown): boolean =>
  error instanceof ConnectError &&
  error.errors.some((each) => each instanceof TransportError && codes.includes(each.code));

/**
 * The game servers of a connect token, which a client tries in this order. Each is reached through a session
 * of its own: a relay keeps a session with one server.
 */
export class Servers {
  readonly #names: readonly string[];
  readonly #open: (server: string) => Promise<SessionTransport>;
  #index = 0;

  /** @param names as a relay wants them, at least one */
  constructor(names: readonly string[], open: (server: string) => Promise<SessionTransport>) {
    this.#names = names;
    this.#open = open;
  }

  /** Of the server whose session was opened last, or is being opened. */
  get index(): number {
    return this.#index;
  }

  /** Opens a session for this server, or for the first behind it that the relay does not refuse at once. */
  async open(index: number): Promise<SessionTransport> {
    for (this.#index = index; ; this.#index++)
      try {
        return await this.#open(this.#names[this.#index]!);
      } catch (error) {
        if (!this.#hasNext || !isOfServer(error)) throw error;
      }
  }

  /** The server to try next when a relay has ended a session without an answer, if that may help. */
  after({ code }: TransportClose): number | undefined {
    const isTold = codes.includes(relaySays(code)?.code ?? '');
    return isTold && this.#hasNext ? this.#index + 1 : undefined;
  }

  get #hasNext(): boolean {
    return this.#index + 1 < this.#names.length;
  }
}
