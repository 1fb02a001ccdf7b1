import { Core } from './core.js';
import { loader, type LoadOptions, type WasmSource } from './wasm_source.js';

const core = loader(
  'causeway.wasm',
  () => new URL('./causeway.wasm', import.meta.url),
  (module) => Core.instantiate(module),
);

/**
 * Loads the protocol core. Without a source, every call returns the instance that was loaded first.
 * @throws {@link ConnectError} when it cannot be fetched or is no module of this package.
 */
export const loadCore: (options?: LoadOptions) => Promise<Core> = core.load;

/** The options that say where the protocol runs. */
export interface CoreOptions {
  /** The core in which the protocol runs. Default: the one that {@link loadCore} returns. */
  readonly core?: Core | undefined;
  /** The source of causeway.wasm when no core is given and none has been loaded yet, as for {@link loadCore}. */
  readonly wasm?: WasmSource | undefined;
}

/** Returns the core that the options name, or the default one. */
export const coreOf = async ({ core: given, wasm }: CoreOptions): Promise<Core> =>
  given ?? core.first(wasm);
