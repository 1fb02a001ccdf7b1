import {
  Simulator,
  connect,
  type ClientHost,
  type Core,
  type SimulatorPath,
  type Transport,
  type TransportKind,
} from 'causeway-net';
import { messages } from './schema.js';

/** What became of a packet of ours. */
export type Fate = 'flying' | 'acked' | 'lost';

/** How many packets are shown. */
export const FATES = 256;

/** A transport behind a simulator of a bad network for each way. */
class BadNetwork implements Transport {
  readonly kind;
  readonly maxDatagramSize;
  readonly closed;
  ondatagram: Transport['ondatagram'] = null;

  constructor(
    readonly transport: Transport,
    readonly up: Simulator,
    readonly down: Simulator,
  ) {
    this.kind = transport.kind;
    this.maxDatagramSize = transport.maxDatagramSize;
    this.closed = transport.closed;
    transport.ondatagram = (datagram) => {
      down.receive(datagram, seconds());
      this.#pass();
    };
    // What the simulators hold back leaves when it is due.
    const timer = setInterval(() => this.#pass(), 4);
    void transport.closed.then(() => clearInterval(timer));
  }

  get state() {
    return this.transport.state;
  }

  send(datagram: Uint8Array<ArrayBuffer>): boolean {
    this.up.receive(datagram, seconds());
    this.#pass();
    return true;
  }

  stats() {
    return this.transport.stats();
  }

  close(code?: number, reason?: string): void {
    this.transport.close(code, reason);
  }

  #pass(): void {
    const now = seconds();
    for (let out = this.up.transmit(now); out; out = this.up.transmit(now))
      this.transport.send(out);
    for (let arrived = this.down.transmit(now); arrived; arrived = this.down.transmit(now))
      this.ondatagram?.(arrived);
  }
}

/** A connection with the game server, sixty packets a second, through a bad network. */
export class Link {
  client!: ClientHost<typeof messages>;
  readonly #up: Simulator;
  readonly #down: Simulator;
  /** What became of the latest packets, in the order in which it was known. */
  #known: Fate[] = [];
  #acked = 0;
  #lost = 0;

  private constructor(core: Core) {
    this.#up = new Simulator(core, { seed: 1 });
    this.#down = new Simulator(core, { seed: 2 });
  }

  static async connect(
    core: Core,
    url: URL,
    token: ArrayBuffer,
    options: { transports?: TransportKind[] },
  ): Promise<Link> {
    const link = new Link(core);
    link.client = await connect(url, {
      ...options,
      core,
      token,
      schema: messages,
      through: (transport) => new BadNetwork(transport, link.#up, link.#down),
    });
    return link;
  }

  /** Makes the network worse, both ways. */
  worsen(path: SimulatorPath): void {
    this.#up.change(path);
    this.#down.change(path);
  }

  /** The fates of the latest packets; those that are under way come last. */
  fates(): Fate[] {
    const { packetsSent, packetsAcked, packetsLost } = this.client.stats();
    const more = (fate: Fate, count: number): void => {
      for (let i = 0; i < Math.min(count, FATES); i++) this.#known.push(fate);
    };
    more('lost', packetsLost - this.#lost);
    more('acked', packetsAcked - this.#acked);
    [this.#lost, this.#acked] = [packetsLost, packetsAcked];
    const flying = Math.max(0, Math.min(packetsSent - packetsAcked - packetsLost, FATES));
    this.#known = this.#known.slice(-FATES);
    return [...this.#known, ...new Array<Fate>(flying).fill('flying')].slice(-FATES);
  }
}

export const seconds = (): number => performance.now() / 1000;
