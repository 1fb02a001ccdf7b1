import { reasonOf, throwIfAborted } from '../abort.js';
import { Deferred } from '../deferred.js';
import { ConnectError, MisuseError, closedError, refusedError, refusalOf } from '../errors.js';
import { refusals } from '../generated.js';
import {
  DisconnectedEvent,
  StateEvent,
  TransportEvent,
  type GameClientEvents,
  type GameClientState,
  type Disconnect,
} from '../hosts/client_events.js';
import type { GameClientStats } from '../hosts/game_client.js';
import { Host, type HostMessages } from '../hosts/host.js';
import { PageVisit } from '../hosts/page_visit.js';
import { reasonFor } from '../hosts/refusal.js';
import type { TokenOption } from '../hosts/token.js';
import type {
  AnswerValue,
  QuestionValue,
  RequestName,
  RequestOptions,
} from '../messages/request.js';
import type { Schema } from '../messages/schema.js';
import type { ChannelStats, Message } from '../messages/types.js';
import type { Packets } from '../overlay/packet_watch.js';
import type { TransportKind } from '../transports/transport.js';
import { Line, type Port } from './line.js';
import { PagePeers } from './page_peers.js';
import {
  WINDOW,
  type ClientStatus,
  type PageSide,
  type PortableOptions,
  type WorkerSide,
} from './sides.js';

/** The part of a Worker that is needed here. */
export interface WorkerLike extends Port {
  onerror: ((event: ErrorEvent) => void) | null;
  terminate(): void;
}

/** The address and options with which a client gets to its server, each time that it connects. */
export interface WorkerAccess {
  readonly relays: readonly string[];
  readonly options: PortableOptions;
  readonly token: TokenOption;
  open(): WorkerLike;
}

/** The Worker is told of messages that were taken when there are this many. */
const BATCH = WINDOW / 4;

/** A page that is being left waits this many milliseconds for its Worker to tell the server. */
const GOODBYE = 20;

/** A Worker has this many milliseconds to end its connection, and then to tell the server. */
const FAREWELL = 1000;

/**
 * Returns whether this is Firefox's engine. It has WebSockets in Workers, but carries all their traffic by way of the
 * page.
 */
const isGecko = (): boolean => /\bGecko\/\d/.test(globalThis.navigator?.userAgent ?? '');

const nowhere: ClientStatus = {
  state: 'disconnected',
  transport: undefined,
  slot: { index: 0, count: 0 },
  writable: false,
};

/**
 * A connection with a game server that lives in a Worker: ticks, packets and encryption do not wait for the page.
 * {@link connectInWorker} makes one. It is used like a `GameClient`, but methods that ask the Worker return promises:
 * `send` resolves when the message is in the queue, and rejects with what `GameClient.send` throws. Messages leave in
 * the order of the calls. `writable` is that of the last answer of the Worker.
 */
export class WorkerClient<Of extends Schema = Schema> extends Host<
  Of,
  GameClientEvents<Of>,
  Promise<void>
> {
  /** @internal */
  protected override readonly messages: HostMessages<Of, Promise<void>> = {
    isWritable: () => this.#status.writable,
    send: async (message) => {
      this.#ask();
      const writable = await this.#line.call('send', ...message);
      this.#status = { ...this.#status, writable };
    },
    track: async (message) => {
      this.#ask();
      return this.#line.call('track', ...message);
    },
    request: (type, value, options) => this.#request(type, value, options),
    take: () => {
      const message = this.#received.shift();
      if (message && ++this.#taken % BATCH === 0) this.#line.tell('taken', BATCH);
      return message;
    },
  };
  readonly #access: WorkerAccess;
  readonly #visit: PageVisit;
  #line!: Line<WorkerSide>;
  #worker: WorkerLike | undefined;
  #peers!: PagePeers;
  #status = nowhere;
  #received: Message<Of>[] = [];
  #taken = 0;
  /** The number of the latest request. */
  #asked = 0;
  #closed!: Deferred<Disconnect>;
  #lastStats: GameClientStats | undefined;
  /**
   * The error of the application's function that was asked for a token. It is kept here because not every error goes
   * through a port.
   */
  #noToken: { readonly why: unknown } | undefined;

  /** @internal */
  constructor(access: WorkerAccess) {
    super();
    this.#access = access;
    // The server is told of the end when the page goes, because its Worker goes with it.
    this.#visit = new PageVisit(
      () => {
        this.disconnect();
        // A Worker does not outlive this event, and nothing says when it has told the server.
        const end = performance.now() + GOODBYE;
        while (performance.now() < end);
      },
      // A client that fails tells so by a `disconnect` event.
      this.#renewable
        ? () => void this.#closed.promise.then(() => this.join(undefined, false)).catch(() => {})
        : undefined,
    );
  }

  get state(): GameClientState {
    return this.#status.state;
  }

  /** The kind of transport that carries the connection. */
  get transport(): TransportKind {
    return this.#status.transport!;
  }

  /**
   * True when datagrams do not go through the page. It is `false` over WebRTC in browsers that cannot hand a data
   * channel to a Worker, and over WebSocket in Firefox: there a busy page holds datagrams up.
   */
  get offloaded(): boolean {
    if (this.transport === 'webtransport') return true;
    return this.transport === 'webrtc' ? !this.#peers.passesOn : !isGecko();
  }

  /** While connected: the number of this client on the server, from 0, and how many there can be. */
  get slot(): { readonly index: number; readonly count: number } {
    return this.#status.slot;
  }

  /** Resolves when the connection has ended, for whatever reason; never rejects. */
  get closed(): Promise<Disconnect> {
    return this.#closed.promise;
  }

  /** Returns the statistics, which are the last ones after the end. */
  async stats(): Promise<GameClientStats> {
    if (this.#lastStats) return this.#lastStats;
    this.#ask();
    return this.#line.call('stats');
  }

  async channelStats(channel: number): Promise<ChannelStats> {
    this.#ask();
    return this.#line.call('channelStats', channel);
  }

  /** Returns the newest packets, for an overlay. @internal */
  async packets(): Promise<Packets> {
    this.#ask();
    return this.#line.call('packets');
  }

  /** Ends the connection and tells the server. Nothing can be sent afterwards. */
  disconnect(): void {
    const worker = this.#worker;
    if (!worker) return;
    this.#line.tell('disconnect');
    // A Worker that is stuck, or has never started, does not report its end.
    setTimeout(() => {
      const how = {
        reason: 'client',
        message: 'this side has disconnected',
        code: 0,
        text: '',
      } as const;
      if (this.#worker === worker) this.#giveUp(closedError(), how);
    }, FAREWELL);
  }

  /**
   * Connects again after the end as `GameClient.reconnect` does, in a Worker of its own.
   * @param options `signal` gives the attempt up when it is aborted
   * @throws what {@link connectInWorker} throws; {@link MisuseError} `CONNECTED` before the end, `TOKEN_USED`
   *   when there is no function to ask for a token
   */
  async reconnect(options: { readonly signal?: AbortSignal } = {}): Promise<void> {
    if (this.state !== 'disconnected')
      throw new MisuseError(
        'CONNECTED',
        'the client is connected or connecting; disconnect it first',
      );
    if (!this.#renewable)
      throw new MisuseError(
        'TOKEN_USED',
        'a connect token is good for one connection; pass a function as token to connect again',
      );
    await this.join(options.signal);
  }

  /**
   * Connects, in a new Worker.
   * @param awaited whether somebody waits for the attempt and gets its error
   * @internal
   */
  async join(signal: AbortSignal | undefined, awaited = true): Promise<void> {
    throwIfAborted(signal);
    this.#begin();
    const { relays, options } = this.#access;
    const giveUp = (): void => this.disconnect();
    signal?.addEventListener('abort', giveUp);
    try {
      this.#know(
        await this.#line.call('start', relays, options, 'RTCPeerConnection' in globalThis),
      );
    } catch (error) {
      const cause = signal?.aborted ? reasonOf(signal) : (this.#noToken?.why ?? error);
      const message = cause instanceof Error ? cause.message : String(cause);
      this.#end({ reason: reasonFor(cause), message, code: 0, text: '' }, awaited);
      throw cause;
    } finally {
      signal?.removeEventListener('abort', giveUp);
    }
  }

  /** True when there can be another connection. */
  get #renewable(): boolean {
    return typeof this.#access.token === 'function';
  }

  #begin(): void {
    this.begin();
    this.#received = [];
    this.#taken = 0;
    this.#lastStats = this.#noToken = undefined;
    this.#closed = new Deferred();
    this.#status = nowhere;
    const worker = (this.#worker = this.#access.open());
    const peers = new PagePeers(() => line);
    const line = new Line<WorkerSide>(worker, this.#calls(worker, peers));
    this.#peers = peers;
    this.#line = line;
    worker.onerror = ({ message }) => {
      if (this.#worker === worker) this.#failed(message);
    };
    this.#visit.begin();
  }

  #calls(worker: WorkerLike, peers: PagePeers): PageSide {
    const { token } = this.#access;
    /** Ignores the calls of a Worker that was replaced or ended, because they belong to no connection. */
    const whileHere =
      <Args extends unknown[]>(act: (...args: Args) => void) =>
      (...args: Args): void => {
        if (this.#worker === worker) act(...args);
      };
    return {
      token: async () => {
        try {
          return typeof token === 'function' ? await token() : token;
        } catch (why) {
          this.#noToken = { why };
          throw why;
        }
      },
      state: whileHere((status) => this.#know(status)),
      transport: whileHere((status) => {
        this.#know(status);
        this.dispatchEvent(new TransportEvent(this.transport));
      }),
      drain: whileHere(() => {
        this.#status = { ...this.#status, writable: true };
        this.dispatchEvent(new Event('drain'));
      }),
      message: whileHere((message) => {
        this.#received.push(message as Message<Of>);
        this.hand();
      }),
      answer: (type, value) => this.#answer(type, value),
      end: whileHere((how, stats) => {
        this.#lastStats = stats;
        this.#end(how);
      }),
      ...peers.calls,
    };
  }

  async #request<Name extends RequestName<Of>>(
    type: Name,
    value: QuestionValue<Of, Name>,
    { signal, ...options }: RequestOptions,
  ): Promise<AnswerValue<Of, Name>> {
    throwIfAborted(signal);
    this.#ask();
    const line = this.#line;
    const id = ++this.#asked;
    const giveUp = (): void => line.tell('cancel', id);
    signal?.addEventListener('abort', giveUp);
    try {
      return (await line.call('request', id, type, value, options)) as AnswerValue<Of, Name>;
    } catch (error) {
      throw signal?.aborted ? reasonOf(signal) : error;
    } finally {
      signal?.removeEventListener('abort', giveUp);
    }
  }

  /** Answers a question of the server. An error that is no refusal stays in the page. */
  async #answer(type: string, value: unknown): Promise<unknown> {
    const answer = this.answererOf(type);
    if (!answer) throw refusedError(refusals.NO_ANSWER);
    try {
      return await answer(value as never);
    } catch (error) {
      if (refusalOf(error) !== undefined) throw error;
      void Promise.reject(error);
      throw refusedError(refusals.FAILED);
    }
  }

  /** @throws ConnectionError `CLOSED` when there is no Worker to ask. */
  #ask(): void {
    if (this.state === 'disconnected') throw closedError();
  }

  #know(status: ClientStatus): void {
    const { state } = this.#status;
    this.#status = status;
    if (status.state !== state) this.dispatchEvent(new StateEvent(status.state));
  }

  /** Handles a Worker that cannot run, or has broken. */
  #failed(message: string): void {
    const what = `the Worker of the connection does not run${message ? `: ${message}` : ''}`;
    const help =
      'is worker/thread.js of the package beside its code, and does the page allow it (worker-src)?';
    const error = new ConnectError('LOAD', 'load', `${what}; ${help}`);
    this.#giveUp(error, { reason: 'transport', message: what, code: 0, text: '' });
  }

  /** Ends the connection without the Worker. */
  #giveUp(error: Error, how: Disconnect): void {
    this.#line.close(error);
    // An attempt ends by itself, because its pending call on the closed line rejects.
    if (this.#status.transport) this.#end(how);
  }

  #end(how: Disconnect, awaited = false): void {
    if (!this.#worker) return;
    const [worker, line, peers] = [this.#worker, this.#line, this.#peers];
    this.#worker = undefined;
    setTimeout(() => {
      line.close(closedError());
      peers.close();
      worker.terminate();
    }, FAREWELL);
    this.#visit.end();
    this.#know({ ...this.#status, state: 'disconnected', writable: false });
    this.finish(awaited ? undefined : new DisconnectedEvent(how));
    this.#closed.resolve(how);
  }
}
