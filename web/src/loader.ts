import { Core } from './core.js';
import { loader, type LoadOptions, type WasmSource } from './wasm_source.js';

const core = loader(
  'causeway.wasm',
  () => new URL('./causeway.wasm', import.meta.url),
  (module) => Core.instantiate(module),
);

/**
 * Loads the protocol core. Without a source every call gives the same one: the first that was loaded.
 * @throws {@link LoadError} when it cannot be fetched or is no module of this package.
 */
export const loadCore: (options?: LoadOptions) => Promise<Core> = core.load;

/** Where the protocol runs, as options say it. */
export interface CoreOptions {
  /** Where the protocol runs. Default: the one core that {@link loadCore} gives. */
  readonly core?: Core | undefined;
  /** Without a core: where causeway.wasm comes from when none has been loaded yet, as for {@link loadCore}. */
  readonly wasm?: WasmSource | undefined;
}

/** The core of the options. */
export const coreOf = async ({ core: given, wasm }: CoreOptions): Promise<Core> =>
  given ?? core.first(wasm);
