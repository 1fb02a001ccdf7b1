import {
  Simulator,
  connect,
  type ClientHost,
  type Core,
  type SimulatorPath,
  type Transport,
  type TransportKind,
} from 'causeway-net';
import { seconds } from './play.js';
import { messages } from './schema.js';

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

/** A connection with the game server through a bad network. */
export class Link {
  readonly #up: Simulator;
  readonly #down: Simulator;

  constructor(
    readonly core: Core,
    path: SimulatorPath,
  ) {
    this.#up = new Simulator(core, { seed: 1, ...path });
    this.#down = new Simulator(core, { seed: 2, ...path });
  }

  connect(
    url: URL,
    token: ArrayBuffer,
    transports: readonly TransportKind[] | undefined,
  ): Promise<ClientHost<typeof messages>> {
    return connect(url, {
      ...(transports ? { transports: [...transports] } : {}),
      core: this.core,
      token,
      schema: messages,
      through: (transport) => new BadNetwork(transport, this.#up, this.#down),
    });
  }

  /** Makes the network worse, both ways. */
  worsen(path: SimulatorPath): void {
    this.#up.change(path);
    this.#down.change(path);
  }
}
