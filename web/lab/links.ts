import { ConnectError, relaySays } from '../src/errors.js';
import type { SessionTransport } from '../src/transports/links.js';
import { openTransport } from '../src/transports/race.js';
import type { TransportClose } from '../src/transports/transport.js';
import { LINE_MAX_DATAGRAM } from './generated.js';

export type LinkKind = 'webrtc' | 'websocket';

interface Link {
  readonly kind: LinkKind;
  readonly opening: Promise<SessionTransport>;
  /** Aborts the opening. */
  readonly abort: AbortController;
  ended: boolean;
}

/** The links to a relay: one for each column, which outlives a run. */
export class Links {
  readonly #links: Link[] = [];

  /** @param relay the address of the relay */
  constructor(readonly relay: string) {}

  /** Returns the link of a column, which is opened unless it is open. */
  open(place: number, kind: LinkKind): Promise<SessionTransport> {
    const link = this.#links[place];
    if (link && link.kind === kind && !link.ended) return link.opening;
    if (link) close(link);
    return (this.#links[place] = opened(this.relay, kind)).opening;
  }

  /** Closes all links but the first ones. */
  keep(count: number): void {
    this.#links.splice(count).forEach(close);
  }
}

function opened(relay: string, kind: LinkKind): Link {
  const abort = new AbortController();
  const opening = openTransport(relay, {
    transports: [kind],
    maxDatagramSize: LINE_MAX_DATAGRAM,
    signal: abort.signal,
  });
  const link: Link = { kind, opening, abort, ended: false };
  const end = (): void => {
    link.ended = true;
  };
  opening.then(({ closed }) => void closed.then(end), end);
  return link;
}

function close(link: Link): void {
  link.ended = true;
  link.abort.abort();
  void link.opening.then(
    (transport) => transport.close(),
    () => {},
  );
}

/** Says in one sentence why a link could not be opened. */
export function whyNot(relay: string, error: unknown): string {
  const first = error instanceof ConnectError ? error.errors[0] : error;
  const message = first instanceof Error ? first.message : String(first);
  if (!(first instanceof ConnectError)) return `The link to ${relay} failed: ${message}.`;
  if (first.code === 'NO_RTC') return `There is no relay with WebRTC at ${relay}.`;
  if (first.code !== 'TRANSPORT') return `The relay at ${relay} refuses: ${message}.`;
  switch (first.stage) {
    case 'setup':
      return `The lab cannot use the relay ${relay}: ${message}.`;
    case 'handshake':
    case 'signalling':
      return `There is no relay at ${relay}.`;
    default:
      return `The relay at ${relay} answers, but WebRTC does not open: this network may block UDP.`;
  }
}

/** Says in one sentence why a link has ended. */
export function whyOver(relay: string, { code, reason }: TransportClose): string {
  const said = relaySays(code);
  if (said?.code === 'SERVER_DOWN' || said?.code === 'NOT_ANSWERED')
    return `The relay at ${relay} finds no lab server behind it.`;
  return `The relay at ${relay} has ended the link: ${said?.means ?? (reason || 'no reason given')}.`;
}
