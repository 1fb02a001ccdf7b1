/// <reference lib="esnext.disposable" preserve="true" />
import { CoreError, DestroyedError, LoadError, type CoreErrorCode } from './errors.js';
import { errorCodes } from './generated.js';
import { Memory } from './memory.js';

/** The functions of causeway.wasm; see wasm/exports for what they take and give. */
export interface CoreExports {
  readonly memory: WebAssembly.Memory;
  _initialize(): void;
  scratch(): number;
  allocate(size: number): number;
  release(address: number): void;
  error_string(code: number): number;

  endpoint_create(numbers: number): number;
  endpoint_destroy(endpoint: number): void;
  endpoint_reset(endpoint: number): void;
  endpoint_max_datagram_size(endpoint: number): number;
  endpoint_next_sequence(endpoint: number): number;
  endpoint_send(endpoint: number, payload: number, size: number, now: number): number;
  endpoint_transmit(endpoint: number, out: number, capacity: number, now: number): number;
  endpoint_receive(endpoint: number, data: number, size: number, now: number): number;
  endpoint_update(endpoint: number, now: number): void;
  endpoint_next(endpoint: number): number;
  endpoint_refuse(endpoint: number, sequence: number): void;
  endpoint_stats(endpoint: number): void;

  schema_create(bytes: number, size: number): number;
  schema_destroy(schema: number): void;
  schema_offset(schema: number, type: number, field: number): number;

  connection_create(schema: number, numbers: number, channelCount: number): number;
  connection_fingerprint(schema: number, numbers: number, channelCount: number): bigint;
  connection_destroy(connection: number): void;
  connection_create_message(connection: number, type: number): number;
  connection_send(
    connection: number,
    channel: number,
    message: number,
    receipt: number,
    now: number,
  ): number;
  connection_receive(connection: number, data: number, size: number, now: number): number;
  connection_update(connection: number, now: number): void;
  connection_transmit(connection: number, out: number, capacity: number, now: number): number;
  connection_next(connection: number): number;
  connection_receipt_waits(connection: number): number;
  connection_stats(connection: number): void;
  connection_channel_stats(connection: number, channel: number): number;
  message_attach(message: number, size: number): number;
  message_release(message: number): void;

  simulator_create(seed: number, maxDatagramSize: number, maxDatagrams: number): number;
  simulator_destroy(simulator: number): void;
  simulator_change(simulator: number): number;
  simulator_receive(simulator: number, data: number, size: number, now: number): number;
  simulator_transmit(simulator: number, out: number, capacity: number, now: number): number;
  simulator_due(simulator: number): number;
  simulator_stats(simulator: number): void;

  token_generate(
    out: number,
    options: number,
    servers: number,
    count: number,
    internalCount: number,
  ): number;
  token_read(token: number, size: number): number;
  release_secret(address: number, size: number): void;

  client_create(schema: number, numbers: number, channelCount: number): number;
  client_destroy(client: number): void;
  client_connect(client: number, token: number, size: number, now: number): number;
  client_receive(client: number, data: number, size: number, now: number): number;
  client_transmit(client: number, out: number, capacity: number, now: number): number;
  client_update(client: number, now: number): void;
  client_disconnect(client: number): void;
  client_send(client: number, payload: number, size: number): number;
  client_next_payload(client: number): number;
  client_state(client: number): number;
  client_state_string(state: number): number;
  client_stats(client: number): void;
}

/**
 * The protocol core: one instance of causeway.wasm. Make one with {@link loadCore}; one is enough for
 * any number of endpoints.
 */
export class Core {
  /** @internal */
  readonly exports: CoreExports;
  /** @internal */
  readonly memory: Memory;
  /** Where the module leaves the results that are more than one number. @internal */
  readonly scratch: number;

  /** @internal */
  static async instantiate(module: WebAssembly.Module): Promise<Core> {
    let core: Core | undefined;
    const random = (address: number, size: number): void => core?.randomise(address, size);
    core = new Core(await WebAssembly.instantiate(module, { causeway: { random } }));
    return core;
  }

  private constructor(instance: WebAssembly.Instance) {
    const exports = instance.exports as unknown as CoreExports;
    if (!(exports.memory instanceof WebAssembly.Memory) || typeof exports.scratch !== 'function')
      throw new LoadError('the module is not causeway.wasm');
    exports._initialize();
    this.exports = exports;
    this.memory = new Memory(exports.memory);
    this.scratch = exports.scratch();
  }

  /** Throws the error that a function of the module returned, if it is one. @internal */
  check(code: number): void {
    if (code !== 0) throw this.error(code);
  }

  /** @internal */
  error(code: number | CoreErrorCode): CoreError {
    const number = typeof code === 'number' ? code : errorCodes.indexOf(code);
    const name = errorCodes[number] as CoreErrorCode;
    return new CoreError(name, this.memory.text(this.exports.error_string(number)));
  }

  /** Fills memory with random bytes fit for keys, as many at a time as the platform gives. */
  private randomise(address: number, size: number): void {
    const bytes = this.memory.bytes.subarray(address, address + size);
    for (let i = 0; i < size; i += 65536) crypto.getRandomValues(bytes.subarray(i, i + 65536));
  }

  /** @internal */
  allocate(size: number): number {
    const address = this.exports.allocate(size);
    if (address === 0) throw this.error('NO_MEMORY');
    return address;
  }

  /** Puts the numbers of a config into the module for as long as `use` takes. @internal */
  withNumbers<Result>(numbers: readonly number[], use: (address: number) => Result): Result {
    const address = this.allocate(numbers.length * 8);
    try {
      numbers.forEach((value, i) => this.memory.view.setFloat64(address + 8 * i, value, true));
      return use(address);
    } finally {
      this.exports.release(address);
    }
  }
}

/** What an object holds of the module's memory. */
interface Holding {
  readonly exports: CoreExports;
  readonly address: number;
  readonly destroy: (address: number) => void;
  readonly buffers: number[];
}

const free = ({ exports, address, destroy, buffers }: Holding): void => {
  destroy(address);
  buffers.forEach((buffer) => exports.release(buffer));
};

const abandoned = new FinalizationRegistry<Holding>(free);

/**
 * An object that lives in the core. `destroy()` gives its memory back at once; without it the garbage
 * collector does so some time after the object became unreachable.
 */
export abstract class CoreObject {
  /** @internal */
  protected readonly core: Core;
  #holding: Holding | undefined;

  /** @internal */
  protected constructor(core: Core, address: number, destroy: (address: number) => void) {
    this.core = core;
    this.#holding = { exports: core.exports, address, destroy, buffers: [] };
    abandoned.register(this, this.#holding, this);
  }

  /** Where the object is in the module. @internal */
  protected get address(): number {
    if (!this.#holding) throw new DestroyedError(this.constructor.name);
    return this.#holding.address;
  }

  /** Memory that lives as long as the object. @internal */
  protected buffer(size: number): number {
    const buffer = this.core.allocate(size);
    this.#holding?.buffers.push(buffer);
    return buffer;
  }

  /** Gives the memory back. The object cannot be used afterwards; a second call does nothing. */
  destroy(): void {
    if (!this.#holding) return;
    abandoned.unregister(this);
    free(this.#holding);
    this.#holding = undefined;
  }

  /** The same as {@link destroy}, for `using`. */
  [Symbol.dispose](): void {
    this.destroy();
  }
}
