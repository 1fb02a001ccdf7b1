import { Core, type CoreExports } from '../core.js';
import type { ServerFunctions } from '../generated.js';
import { serverWasm } from '../server_wasm.js';
import { loader, type LoadOptions, type WasmSource } from '../wasm_source.js';

/** The functions of causeway-server.wasm: those of causeway.wasm and those of a server. */
export interface ServerExports extends CoreExports, ServerFunctions {}

/** The protocol core with a server in it: one instance of causeway-server.wasm. */
export class ServerCore extends Core {
  /** @internal */
  declare readonly exports: ServerExports;

  /** @internal */
  static override instantiate(module: WebAssembly.Module): Promise<ServerCore> {
    return Core.make(module, (instance) => new ServerCore(instance, 'causeway-server.wasm'));
  }
}

const core = loader('causeway-server.wasm', serverWasm, (module) => ServerCore.instantiate(module));

/**
 * Loads the core of servers. Without a source, every call returns the instance that was loaded first.
 * @throws {@link ConnectError} when it cannot be fetched or is no module of this package.
 */
export const loadServer: (options?: LoadOptions) => Promise<ServerCore> = core.load;

/** The options that say where servers run, and where tokens are made. */
export interface ServerCoreOptions {
  /** The core in which the protocol runs. Default: the one that {@link loadServer} returns. */
  readonly core?: ServerCore | undefined;
  /**
   * The source of causeway-server.wasm when no core is given and none has been loaded yet, as for {@link loadServer}.
   */
  readonly wasm?: WasmSource | undefined;
}

/** Returns the core that the options name, or the default one. */
export const serverCoreOf = async ({ core: given, wasm }: ServerCoreOptions): Promise<ServerCore> =>
  given ?? core.first(wasm);
