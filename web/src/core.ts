import type { CoreFunctions } from './generated.js';
import { WasmModule, WasmObject, type ModuleExports } from './module.js';

/** The functions of causeway.wasm, which are those of the core's headers. */
export interface CoreExports extends ModuleExports, CoreFunctions {}

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

  /** Lends `use` memory for keys, which is wiped afterwards. @internal */
  withSecret<Result>(size: number, use: (address: number) => Result): Result {
    return this.withMemory(size, (address) => {
      try {
        return use(address);
      } finally {
        this.exports.cw_crypto_wipe(address, size);
      }
    });
  }

  /** Fills memory with random bytes fit for keys, in pieces as large as the platform allows. */
  private randomise(address: number, size: number): void {
    const bytes = this.memory.bytes.subarray(address, address + size);
    for (let i = 0; i < size; i += 65536) crypto.getRandomValues(bytes.subarray(i, i + 65536));
  }
}

/** An object that lives in the core. */
export abstract class CoreObject extends WasmObject<Core> {}
