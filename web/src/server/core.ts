import { Core, type CoreExports } from '../core.js';
import { loader, type LoadOptions } from '../wasm_source.js';

/** The functions of causeway-server.wasm: those of causeway.wasm and those of a server. */
export interface ServerExports extends CoreExports {
  server_create(
    schema: number,
    numbers: number,
    channelCount: number,
    options: number,
    addresses: number,
    addressCount: number,
  ): number;
  server_destroy(server: number): void;
  server_receive(
    server: number,
    host: number,
    port: number,
    data: number,
    size: number,
    now: number,
  ): number;
  server_transmit(server: number, out: number, capacity: number, now: number): number;
  server_update(server: number, unixOffsetSeconds: number, now: number): void;
  server_next(server: number): number;
  server_connection(server: number, client: number): number;
  server_client(server: number, client: number): number;
  server_create_message(server: number, type: number): number;
  server_broadcast(
    server: number,
    channel: number,
    message: number,
    except: number,
    now: number,
  ): number;
  server_broadcast_to(
    server: number,
    channel: number,
    message: number,
    clients: number,
    count: number,
    now: number,
  ): number;
  server_broadcast_refused(server: number, client: number): number;
  server_flush_and_disconnect(
    server: number,
    client: number,
    code: number,
    text: number,
    flushSeconds: number,
    now: number,
  ): void;
  server_disconnect_all(server: number): void;
  server_stats(server: number): void;
  server_dropped(server: number, error: number): number;
}

/** The protocol core with a server in it: one instance of causeway-server.wasm. */
export class ServerCore extends Core {
  /** @internal */
  declare readonly exports: ServerExports;

  /** @internal */
  static override instantiate(module: WebAssembly.Module): Promise<ServerCore> {
    return Core.make(module, (instance) => new ServerCore(instance, 'causeway-server.wasm'));
  }
}

/**
 * Loads the core of servers. Without a source, every call returns the instance that was loaded first.
 * @throws {@link LoadError} when it cannot be fetched or is no module of this package.
 */
export const loadServer: (options?: LoadOptions) => Promise<ServerCore> = loader(
  'causeway-server.wasm',
  () => new URL('../causeway-server.wasm', import.meta.url),
  (module) => ServerCore.instantiate(module),
).load;
