import { seconds } from '../clock.js';
import { DATAGRAM_MAX } from '../generated.js';
import { BaseTransport } from '../transports/base.js';
import type { Transport, TransportClose, TransportStats } from '../transports/transport.js';
import type { ServerCore } from './core.js';
import { Simulator, type SimulatorPath } from './simulator.js';

/** A transport with a simulator for each way. */
class SimulatedTransport extends BaseTransport {
  readonly #transport: Transport;
  readonly #up: Simulator;
  readonly #down: Simulator;
  #timer: ReturnType<typeof setTimeout> | undefined;
  /** The transport is closed with this code and reason when everything that was sent before has left. */
  #close: TransportClose | undefined;

  constructor(transport: Transport, up: Simulator, down: Simulator) {
    super(transport.maxDatagramSize, {});
    this.#transport = transport;
    this.#up = up;
    this.#down = down;
    void transport.closed.then((close) => {
      clearTimeout(this.#timer);
      transport.ondatagram = null;
      this.ended(close);
      up.destroy();
      down.destroy();
    });
    transport.ondrop = (datagram) => this.ondrop?.(datagram);
    transport.ondatagram = (datagram) => {
      down.receive(datagram, seconds());
      this.#pass();
    };
  }

  get kind(): Transport['kind'] {
    return this.#transport.kind;
  }

  override stats(): TransportStats {
    return this.#transport.stats();
  }

  /** @internal */
  override isBusy(): boolean {
    return false;
  }

  protected override put(datagram: Uint8Array<ArrayBuffer>): boolean {
    this.#up.receive(datagram, seconds());
    this.#pass();
    return true;
  }

  protected override end(code: number, reason: string): void {
    this.#close = { code, reason };
    this.#pass();
  }

  /** Passes on the datagrams that are due, and sets a timer for the others. */
  #pass(): void {
    const now = seconds();
    for (let out = this.#up.transmit(now); out; out = this.#up.transmit(now))
      this.#transport.send(out, this.#close !== undefined);
    for (let datagram = this.#down.transmit(now); datagram; datagram = this.#down.transmit(now))
      this.arrived(datagram.buffer);
    if (this.#close && this.#up.due === Infinity)
      this.#transport.close(this.#close.code, this.#close.reason);
    const due = Math.min(this.#up.due, this.#down.due);
    clearTimeout(this.#timer);
    if (due < Infinity) this.#timer = setTimeout(() => this.#pass(), (due - now) * 1000);
  }
}

/**
 * A bad network between the page and the relay, for the option `through` of `connect`. Each transport that
 * goes through it has a path of its own.
 */
export class SimulatedNetwork {
  readonly #core: ServerCore;
  /** The simulators of the transports that have not ended. */
  readonly #simulators = new Set<readonly [up: Simulator, down: Simulator]>();
  #paths: readonly [up: SimulatorPath, down: SimulatorPath] = [{}, {}];
  #seed: number;

  /**
   * @param path the effects on datagrams, both ways
   * @param seed the same seed and the same datagrams give the same losses; a whole number
   * @throws {@link MisuseError} `CONFIG` when the path cannot work.
   */
  constructor(core: ServerCore, path: SimulatorPath = {}, seed = 0) {
    this.#core = core;
    this.#seed = seed;
    this.change(path);
  }

  /** Puts the network between a transport and its user. */
  readonly through = (transport: Transport): Transport => {
    const [up, down] = this.#paths.map((path) => this.#simulator(path, this.#seed++));
    const both = [up!, down!] as const;
    this.#simulators.add(both);
    void transport.closed.then(() => this.#simulators.delete(both));
    return new SimulatedTransport(transport, ...both);
  };

  /**
   * Changes the network for datagrams from now on; those under way stay as they are.
   * @param down the effects on datagrams that come from the relay. Default: the same
   * @throws {@link MisuseError} `CONFIG` when a path cannot work.
   */
  change(up: SimulatorPath, down: SimulatorPath = up): void {
    for (const path of [up, down]) this.#simulator(path, 0).destroy();
    this.#paths = [up, down];
    for (const [upward, downward] of this.#simulators) {
      upward.change(up);
      downward.change(down);
    }
  }

  #simulator(path: SimulatorPath, seed: number): Simulator {
    return new Simulator(this.#core, { ...path, seed, maxDatagramSize: DATAGRAM_MAX });
  }
}
