import { Abort } from '../abort.js';
import { closedError } from '../errors.js';
import type { GameClient } from '../hosts/game_client.js';
import { connect } from '../hosts/connect.js';
import type { ReceivedEvent } from '../hosts/host.js';
import { watchPackets, type Watch } from '../overlay/packet_watch.js';
import { requestNames } from '../messages/request.js';
import { arrivedSchema } from '../messages/arrived_schema.js';
import type { Schema } from '../messages/schema.js';
import { Line, type Port } from './line.js';
import { RemotePeers } from './remote_peer.js';
import { WINDOW, type ClientStatus, type PageSide, type WorkerSide } from './sides.js';

/** Runs one client for the page at the other end of a port. */
class Server {
  readonly #line: Line<PageSide>;
  readonly #peers = new RemotePeers(() => this.#line);
  readonly #attempt = new Abort();
  #client: GameClient | undefined;
  #watch: Watch | undefined;
  #window = WINDOW;
  /** These give up the page's requests that are open. */
  readonly #requests = new Map<number, AbortController>();

  constructor(port: Port) {
    const calls: WorkerSide = {
      start: (...args) => this.#start(...args),
      send: (...message) => {
        this.#joined.send(...(message as Parameters<GameClient['send']>));
        return this.#joined.writable;
      },
      track: (...message) => this.#joined.track(...(message as Parameters<GameClient['track']>)),
      request: async (id, type, value, options) => {
        const abort = new AbortController();
        this.#requests.set(id, abort);
        try {
          const all = { ...options, signal: abort.signal };
          return await this.#joined.request(type as never, value as never, all);
        } finally {
          this.#requests.delete(id);
        }
      },
      cancel: (id) => this.#requests.get(id)?.abort(),
      stats: () => this.#joined.stats(),
      packets: () => (this.#watch ??= watchPackets(this.#joined)).packets(),
      channelStats: (channel) => this.#joined.channelStats(channel),
      taken: (count) => {
        this.#window += count;
        this.#joined.addEventListener('message', this.#pass);
      },
      disconnect: () => {
        if (this.#client) this.#client.disconnect();
        else this.#attempt.abort(closedError());
      },
      ...this.#peers.calls,
    };
    this.#line = new Line<PageSide>(port, calls);
  }

  get #joined(): GameClient {
    if (!this.#client) throw closedError();
    return this.#client;
  }

  async #start(...[relays, { token, ...options }, peers]: Parameters<WorkerSide['start']>) {
    const none: Omit<ClientStatus, 'state'> = {
      transport: undefined,
      slot: { index: 0, count: 0 },
      writable: false,
    };
    const client = await connect(relays, {
      ...options,
      schema: arrivedSchema(options.schema),
      token: token ?? (() => this.#line.call('token')),
      signal: this.#attempt.signal,
      onstate: (state) => this.#line.tell('state', { ...none, state }),
      ...(peers && { RTCPeerConnection: this.#peers.PeerConnection }),
    });
    this.#client = client;
    // The page refuses what it does not answer.
    for (const name of requestNames(options.schema))
      client.answer(
        name as never,
        ((value: unknown) => this.#line.call('answer', name, value)) as never,
      );
    client.addEventListener('state', ({ state }) => {
      if (state !== 'disconnected') this.#line.tell('state', this.#status(client));
    });
    client.addEventListener('transport', () => this.#line.tell('transport', this.#status(client)));
    client.addEventListener('drain', () => this.#line.tell('drain'));
    client.addEventListener('message', this.#pass);
    // The client may have ended before these listeners were added.
    void client.closed.then((how) => {
      client.removeEventListener('message', this.#pass);
      for (let left = client.next(); left; left = client.next()) this.#line.tell('message', left);
      this.#line.tell('end', how, client.stats());
    });
    return this.#status(client);
  }

  /**
   * Passes messages to the page while its window has free places. After that they stay here, which holds the sender
   * back.
   */
  readonly #pass = ({ message }: ReceivedEvent<Schema>): void => {
    this.#line.tell('message', message);
    if (--this.#window === 0) this.#joined.removeEventListener('message', this.#pass);
  };

  #status(client: GameClient): ClientStatus {
    const { state, transport, slot, writable } = client;
    return { state, transport, slot, writable };
  }
}

/** Runs a client for the page at the other end of a port, which may be the port of the Worker in which this runs. */
export const serve = (port: Port): void => void new Server(port);
