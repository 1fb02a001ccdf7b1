/** The parts of a request of Node's HTTP server that are used here. */
export interface HttpRequest {
  readonly method?: string | undefined;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly socket: {
    readonly remoteAddress?: string | undefined;
    readonly remotePort?: number | undefined;
  };
}

/** The parts of a response of Node's HTTP server that are used here. */
export interface HttpResponse {
  readonly headersSent: boolean;
  writeHead(status: number, headers: Record<string, string>): unknown;
  end(body: string | Uint8Array): unknown;
}

/** The connection of a request, which may become a WebSocket. */
export interface HttpSocket {
  /** Null until somebody reads. */
  readonly readableFlowing: boolean | null;
  on(event: 'data', listener: (data: Uint8Array) => void): unknown;
  on(event: 'error', listener: () => void): unknown;
  once(event: 'finish' | 'close', listener: () => void): unknown;
  end(text: string): unknown;
  destroy(): unknown;
}

type UpgradeListener = (request: HttpRequest, socket: HttpSocket, head: Uint8Array) => void;

/** The parts of an HTTP or HTTPS server of Node that are used here. */
export interface HttpServer {
  on(event: 'upgrade', listener: UpgradeListener): unknown;
  off(event: 'upgrade', listener: UpgradeListener): unknown;
  listenerCount(event: 'upgrade'): number;
}

/** Returns a header as one text; several lines of it are one list. */
export const headerOf = ({ headers }: HttpRequest, name: string): string => {
  const value = headers[name] ?? '';
  return typeof value === 'string' ? value : value.join(',');
};

/** Returns the entries of a header that is a list. */
export const listOf = (request: HttpRequest, name: string): string[] =>
  headerOf(request, name)
    .split(',')
    .map((entry) => entry.trim())
    .filter(Boolean);
