import { seconds, worldSeconds } from '../clock.js';
import { closedError } from '../errors.js';
import type { AnswerValue, QuestionValue, RequestName } from '../messages/request.js';
import { placed } from '../messages/channels.js';
import type { MessageArguments, MessageName, Schema } from '../messages/schema.js';
import { generateConnectToken, generateInsecureToken, type ConnectTokenOptions } from './token.js';
import { isVirtual, type BrowserSessions, type BrowserStats } from './browsers/sessions.js';
import { tokenHandler, type PlayerOf, type TokenHandler } from './browsers/tokens.js';
import type { HttpRequest } from './browsers/http.js';
import type { Visitors } from './browsers/visitors.js';
import { ServerClient, type ClientOwner, type KickOptions } from './client.js';
import {
  ConnectEvent,
  RefusedTokensEvent,
  SocketErrorEvent,
  TickEvent,
  refusedTokenCodes,
  type GameServerEvents,
} from './events.js';
import type { Server } from './server.js';
import type { SocketStats, UdpSocket } from './socket.js';
import { ServerTicks } from './ticks.js';
import type { ServerClientInfo, ServerEvent, ServerStats } from './types.js';

/** Statistics of a server, and of its socket. */
export interface GameServerStats extends ServerStats {
  readonly socket: SocketStats;
  /** The figures of players in browsers, when `listen` was given an HTTP server. */
  readonly browsers?: BrowserStats;
}

/** The options of a server's own tokens; the server itself knows the others. */
export type OwnTokenOptions = Pick<
  ConnectTokenOptions,
  'clientId' | 'expireSeconds' | 'timeoutSeconds' | 'userData'
>;

/** The options that all tokens of a server have in common. @internal */
export type TokenBase = Omit<ConnectTokenOptions, keyof OwnTokenOptions> & {
  readonly insecure: boolean;
};

/** A function that answers a request of a client. */
export type ServerAnswerer<Of extends Schema, Name extends RequestName<Of>> = (
  question: QuestionValue<Of, Name>,
  client: ServerClient<Of>,
) => AnswerValue<Of, Name> | PromiseLike<AnswerValue<Of, Name>>;

/** A player as `tokens` takes it: a number, or options of the player's token. */
export type TokenPlayer = OwnTokenOptions | OwnTokenOptions['clientId'];

/** The places where datagrams come from, and who may bring them. @internal */
export interface ServerPaths {
  readonly socket: UdpSocket;
  readonly browsers: BrowserSessions | undefined;
  readonly visitors: Visitors;
}

/** A player whom nobody knows. */
const guest = (): bigint => crypto.getRandomValues(new BigUint64Array(1))[0]!;

/** A function by which listeners for these events come or go. */
type Listening<Events> = (<Type extends keyof Events>(
  type: Type,
  listener: (event: Events[Type]) => void,
  options?: boolean | AddEventListenerOptions,
) => void) &
  EventTarget['addEventListener'];

const worldOffset = (now: number): number => worldSeconds() - now;

/**
 * A game server on a UDP socket; {@link listen} makes one. A `connect` event brings each client. Once in each tick it
 * dispatches a `tick` event, and then sends what is due.
 */
export class GameServer<Of extends Schema = Schema> extends EventTarget {
  declare readonly addEventListener: Listening<GameServerEvents<Of>>;
  declare readonly removeEventListener: Listening<GameServerEvents<Of>>;
  /** The address where the server listens: `'127.0.0.1:40000'`. */
  readonly address: string;
  /** The number of slots. */
  readonly maxClients: number;
  readonly #server: Server<Of>;
  readonly #socket: UdpSocket;
  readonly #browsers: BrowserSessions | undefined;
  readonly #visitors: Visitors;
  readonly #tokens: TokenBase;
  readonly #ticks: ServerTicks;
  readonly #clients = new Set<ServerClient<Of>>();
  readonly #bySlot: (ServerClient<Of> | undefined)[] = [];
  readonly #owner: ClientOwner<Of>;
  readonly #answerers = new Map<string, (question: never, client: ServerClient<Of>) => unknown>();
  #received = 0;
  #tick = 0;
  #closing: Promise<void> | undefined;
  #closed = false;
  /** The numbers of refused tokens that were told, and when to look again. */
  #refused: ServerStats['dropped'] = {};
  #lookAt = 0;

  /** @internal */
  constructor(
    server: Server<Of>,
    paths: ServerPaths,
    tokens: TokenBase,
    { interval, maxClients }: { readonly interval: number; readonly maxClients: number },
  ) {
    super();
    this.maxClients = maxClients;
    const { socket, browsers, visitors } = paths;
    this.#server = server;
    this.#socket = socket;
    this.#browsers = browsers;
    this.#visitors = visitors;
    this.#tokens = tokens;
    this.address = socket.withPort(socket.host);
    this.#owner = {
      clients: this.#clients,
      info: (slot) => this.#info(slot),
      kick: (client, text, options) => this.#kick(client, text, options),
      broadcastTo: (clients, message) => this.#broadcastTo(clients, message),
      answererOf: (type, client) => {
        const answer = this.#answerers.get(type);
        return answer && ((question) => answer(question, client));
      },
    };
    this.#ticks = new ServerTicks(
      interval,
      () => this.#run(),
      () => this.#received,
    );
    socket.listen({
      // A forger over UDP must not pass for a player in a browser.
      datagram: (datagram, host, port) => {
        if (!isVirtual(host)) this.#arrived(datagram, host, port);
      },
      error: (error) => this.dispatchEvent(new SocketErrorEvent(error)),
    });
    browsers?.listen({
      datagram: (...datagram) => this.#arrived(...datagram),
      hasClient: (...at) => !this.#closed && server.hasClient(...at),
    });
  }

  /** The clients that are connected now. */
  get clients(): ReadonlySet<ServerClient<Of>> {
    return this.#clients;
  }

  /** The port where the server listens. */
  get port(): number {
    return this.#socket.port;
  }

  /**
   * Sends a message to all clients. It is checked and encoded once.
   * @returns the clients that had no room for it
   * @throws what {@link ServerClient.send} throws because of the message, and {@link ConnectionError} when the server is
   *   closed. Nothing is sent then.
   */
  broadcast<Name extends MessageName<Of>>(
    ...message: MessageArguments<Of, Name>
  ): ServerClient<Of>[];
  broadcast<Name extends MessageName<Of>>(
    channel: number,
    ...message: MessageArguments<Of, Name>
  ): ServerClient<Of>[];
  broadcast(...message: unknown[]): ServerClient<Of>[] {
    return this.#broadcast(message);
  }

  /** Sends a message to some clients, like {@link broadcast}. Clients that are not connected any more are skipped. */
  broadcastTo<Name extends MessageName<Of>>(
    clients: Iterable<ServerClient<Of>>,
    ...message: MessageArguments<Of, Name>
  ): ServerClient<Of>[];
  broadcastTo<Name extends MessageName<Of>>(
    clients: Iterable<ServerClient<Of>>,
    channel: number,
    ...message: MessageArguments<Of, Name>
  ): ServerClient<Of>[];
  broadcastTo(clients: Iterable<ServerClient<Of>>, ...message: unknown[]): ServerClient<Of>[] {
    return this.#broadcastTo(clients, message);
  }

  #broadcastTo(
    clients: Iterable<ServerClient<Of>>,
    message: readonly unknown[],
  ): ServerClient<Of>[] {
    const to = [...clients].filter((client) => this.#clients.has(client)).map(({ slot }) => slot);
    return this.#broadcast(message, to);
  }

  /**
   * Answers the requests of this type that come from clients, as {@link ServerClient.answer} does for one client, whose own
   * function goes first. The function gets the value of the question and the client.
   */
  answer<Name extends RequestName<Of>>(
    type: Name,
    answerer: ServerAnswerer<Of, Name> | null,
  ): void {
    if (answerer) this.#answerers.set(type, answerer);
    else this.#answerers.delete(type);
  }

  /** Makes a connect token for this server, as the backend of a game does for a player whom it knows. */
  generateConnectToken(options: OwnTokenOptions): Promise<Uint8Array<ArrayBuffer>> {
    const { clientId, expireSeconds, timeoutSeconds, userData } = options;
    const generate = this.#tokens.insecure ? generateInsecureToken : generateConnectToken;
    return generate({
      ...this.#tokens,
      clientId,
      ...(expireSeconds !== undefined && { expireSeconds }),
      ...(timeoutSeconds !== undefined && { timeoutSeconds }),
      ...(userData !== undefined && { userData }),
    });
  }

  /**
   * Makes the handler of an HTTP server, or of a route, that answers a page's `POST` with a connect token.
   * @param playerOf says which player has sent a request; without a player, the page gets 403. Default: each request
   *   comes from a new player. When the function throws, the page gets 500, and there is an `error` event.
   */
  tokens<Request extends HttpRequest = HttpRequest>(
    playerOf: PlayerOf<Request, TokenPlayer> = guest,
  ): TokenHandler<Request> {
    const make = (player: TokenPlayer): Promise<Uint8Array> =>
      this.generateConnectToken(typeof player === 'object' ? player : { clientId: player });
    const failed = (error: unknown): void =>
      void this.dispatchEvent(new SocketErrorEvent(error as Error));
    return tokenHandler({ visitors: this.#visitors, make, failed }, playerOf);
  }

  /** Returns the figures of the server, its socket, and the pages that it serves itself. */
  stats(): GameServerStats {
    this.#look();
    return {
      ...this.#server.stats(),
      socket: this.#socket.stats(),
      ...(this.#browsers && { browsers: this.#browsers.stats() }),
    };
  }

  /** Tells all clients that the server is stopping, and resolves when the socket is closed. */
  close(): Promise<void> {
    // The end begins after the caller has gone on, which may be a listener of this server.
    return (this.#closing ??= Promise.resolve().then(() => this.#close()));
  }

  async #close(): Promise<void> {
    this.#ticks.stop();
    this.#server.disconnectAll();
    this.#transmit();
    this.#closed = true;
    this.#browsers?.close();
    await this.#socket.close();
    this.#server.destroy();
  }

  #look(): void {
    if (this.#closed) throw closedError();
  }

  #kick(client: ServerClient<Of>, text: string, { code = 0, flushSeconds = 0 }: KickOptions): void {
    if (!(Number.isInteger(code) && code >= 0 && code < 2 ** 32))
      throw new RangeError(`code: ${code} is not a whole number from 0 to 2^32 - 1`);
    if (typeof flushSeconds !== 'number' || !Number.isFinite(flushSeconds))
      throw new RangeError(`flushSeconds: ${flushSeconds} is not a number of seconds`);
    this.#server.disconnect(client.slot, { code, text: String(text) }, flushSeconds, seconds());
    this.#clients.delete(client);
  }

  #broadcast(message: readonly unknown[], to?: readonly number[]): ServerClient<Of>[] {
    this.#look();
    const [channel, type, value, block] = placed<Of>(message, this.#server);
    this.#server.broadcast(channel, type, value, { now: seconds(), block, ...(to && { to }) });
    return [...this.#clients].filter(({ slot }) => this.#server.broadcastRefused(slot));
  }

  /** Returns what is known of a client; an address of a browser is the player's own. */
  #info(slot: number): ServerClientInfo | undefined {
    const info = this.#server.client(slot);
    const host = info && /^\[(.*)\]/.exec(info.address)?.[1];
    const address = host && this.#browsers?.addressOf(host);
    return address ? { ...info!, address } : info;
  }

  /** Returns whether there is a client at this address. */
  #arrived(datagram: Uint8Array, host: string, port: number): boolean {
    if (this.#closed) return false;
    this.#received++;
    const slot = this.#server.receive(datagram, host, port, seconds());
    this.#follow();
    if (slot !== undefined) this.#bySlot[slot]?.arrived();
    // The next step of a handshake need not wait for the tick.
    else this.#transmit();
    return slot !== undefined;
  }

  #run(): void {
    this.dispatchEvent(new TickEvent(this.#tick++));
    const now = seconds();
    this.#server.update(now, worldOffset(now));
    this.#transmit();
    for (const client of this.#bySlot) client?.arrived();
    if (now >= this.#lookAt) this.#tellRefused(now);
  }

  /** Tells of tokens that were refused since the last look, once a second at most. */
  #tellRefused(now: number): void {
    this.#lookAt = now + 1;
    const earlier = this.#refused;
    this.#refused = this.#server.stats().dropped;
    for (const code of refusedTokenCodes) {
      const count = (this.#refused[code] ?? 0) - (earlier[code] ?? 0);
      if (count === 0) continue;
      this.dispatchEvent(new RefusedTokensEvent(code, count, this.#server.explain(code)));
    }
  }

  /** Sends the datagrams that are due, which lets some clients come and go. */
  #transmit(): void {
    const now = seconds();
    for (let out = this.#server.transmit(now); out; out = this.#server.transmit(now))
      if (isVirtual(out.host)) this.#browsers?.send(out.datagram, out.host);
      else this.#socket.send(out.datagram, out.host, out.port);
    this.#follow();
  }

  /**
   * Dispatches the events of clients that have come and gone. It first marks all that have gone, so that no listener
   * can send to them any more.
   */
  #follow(): void {
    const calls: (() => void)[] = [];
    for (let event = this.#server.next(); event; event = this.#server.next())
      calls.push(this.#note(event));
    calls.forEach((call) => call());
  }

  /** @returns a function that dispatches the event */
  #note(event: ServerEvent<Of>): () => void {
    const slot = event.client;
    if (event.type === 'connect') {
      const client = new ServerClient<Of>(this.#server.connection(slot), slot, this.#owner);
      this.#bySlot[slot] = client;
      this.#clients.add(client);
      return () => this.dispatchEvent(new ConnectEvent(client));
    }
    const client = this.#bySlot[slot]!;
    if (event.type === 'connection') {
      client.leave(event.event);
      return () => {};
    }
    this.#bySlot[slot] = undefined;
    this.#clients.delete(client);
    return client.end(event.reason);
  }
}
