import { WasmModule, WasmObject, type ModuleExports } from './module.js';

/** The functions of causeway.wasm; wasm/exports describes their arguments and results. */
export interface CoreExports extends ModuleExports {
  endpoint_create(numbers: number): number;
  endpoint_destroy(endpoint: number): void;
  endpoint_reset(endpoint: number): void;
  endpoint_next_sequence(endpoint: number): number;
  endpoint_begin(endpoint: number, size: number, out: number, capacity: number): number;
  endpoint_commit(endpoint: number, size: number, now: number): number;
  endpoint_transmit(endpoint: number, out: number, capacity: number, now: number): number;
  endpoint_receive(endpoint: number, data: number, size: number, now: number): number;
  endpoint_update(endpoint: number, now: number): void;
  endpoint_next(endpoint: number): number;
  endpoint_accept(endpoint: number, sequence: number): void;
  endpoint_stats(endpoint: number): void;

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
  client_move(client: number, now: number): number;
  client_try_server(client: number, index: number, now: number): number;
  client_server_index(client: number): number;
  client_disconnect(client: number): void;
  client_send(client: number, payload: number, size: number): number;
  client_next_payload(client: number): number;
  client_state(client: number): number;
  client_state_string(state: number): number;
  client_stats(client: number): void;
  client_farewell(client: number): void;
  client_dropped(client: number, error: number): number;

  policy_create(attempts: number): number;
  policy_start(policy: number, afterAbsence: boolean, now: number): void;
  policy_token(policy: number, serverCount: number, expireTime: number): void;
  policy_link(policy: number, linked: boolean, now: number): void;
  policy_skip(policy: number): number;
  policy_fail(policy: number, reason: number, now: number): void;
  policy_hear(policy: number, now: number, unixNow: number): void;
  policy_follow(policy: number, client: number, now: number): void;
  policy_update(policy: number, now: number, unixNow: number): void;
  policy_next(policy: number): number;
}

/**
 * The protocol core: one instance of causeway.wasm. Make one with {@link loadCore}; one is enough for
 * any number of endpoints.
 */
export class Core extends WasmModule<CoreExports> {
  /** @internal */
  static async instantiate(module: WebAssembly.Module): Promise<Core> {
    return Core.make(module, (instance) => new Core(instance));
  }

  /** Makes an instance of a module that imports random bytes. @internal */
  protected static async make<Of extends Core>(
    module: WebAssembly.Module,
    create: (instance: WebAssembly.Instance) => Of,
  ): Promise<Of> {
    let core: Of | undefined;
    const random = (address: number, size: number): void => core?.randomise(address, size);
    core = create(await WebAssembly.instantiate(module, { causeway: { random } }));
    return core;
  }

  /** @internal */
  protected constructor(instance: WebAssembly.Instance, name = 'causeway.wasm') {
    super(instance, name);
  }

  /** Fills memory with random bytes fit for keys, in pieces as large as the platform allows. */
  private randomise(address: number, size: number): void {
    const bytes = this.memory.bytes.subarray(address, address + size);
    for (let i = 0; i < size; i += 65536) crypto.getRandomValues(bytes.subarray(i, i + 65536));
  }
}

/** An object that lives in the core. */
export abstract class CoreObject extends WasmObject<Core> {}
