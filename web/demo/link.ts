import { Endpoint, Simulator, type Core, type SimulatorPath, type Transport } from 'causeway';

/** What became of a packet of ours. */
export type Fate = 'flying' | 'acked' | 'lost';

const TICK = 1 / 60;
const PAYLOAD = 64;

/**
 * A conversation with the game server: sixty packets a second through an endpoint, a simulator of a
 * bad network for each way, and a transport.
 */
export class Link {
  readonly endpoint: Endpoint;
  /** The fates of the latest packets; the sequence number modulo the length is the index. */
  readonly fates: Fate[] = new Array<Fate>(256);
  readonly #up: Simulator;
  readonly #down: Simulator;
  readonly #timers: ReturnType<typeof setInterval>[];

  constructor(
    core: Core,
    readonly transport: Transport,
  ) {
    this.endpoint = new Endpoint(core);
    this.#up = new Simulator(core, { seed: 1 });
    this.#down = new Simulator(core, { seed: 2 });
    transport.ondatagram = (datagram) => {
      this.#down.receive(datagram, seconds());
      this.#pass();
    };
    // Packets leave by the tick; what the simulators hold back leaves when it is due.
    this.#timers = [
      setInterval(() => this.#send(), TICK * 1000),
      setInterval(() => this.#pass(), 4),
    ];
    void transport.closed.then(() => this.#timers.forEach(clearInterval));
  }

  /** Makes the network worse, both ways. */
  worsen(path: SimulatorPath): void {
    this.#up.change(path);
    this.#down.change(path);
  }

  #send(): void {
    const now = seconds();
    this.endpoint.update(now);
    this.#take();
    const sequence = this.endpoint.send(new Uint8Array(PAYLOAD), now);
    this.fates[sequence % this.fates.length] = 'flying';
    for (let out = this.endpoint.transmit(now); out; out = this.endpoint.transmit(now))
      this.#up.receive(out, now);
    this.#pass();
  }

  /** Moves on what the simulators let through. */
  #pass(): void {
    const now = seconds();
    for (let out = this.#up.transmit(now); out; out = this.#up.transmit(now))
      this.transport.send(out);
    for (let arrived = this.#down.transmit(now); arrived; arrived = this.#down.transmit(now)) {
      this.endpoint.receive(arrived, now);
      this.#take();
    }
  }

  #take(): void {
    for (const { type, sequence } of this.endpoint.events())
      if (type !== 'packet') this.fates[sequence % this.fates.length] = type;
  }
}

export const seconds = (): number => performance.now() / 1000;
