import { Core } from './core.js';
import { loader, type LoadOptions } from './wasm_source.js';

/**
 * Loads the protocol core. Without a source it is loaded once, and every call gives the same one.
 * @throws {@link LoadError} when it cannot be fetched or is no module of this package.
 */
export const loadCore: (options?: LoadOptions) => Promise<Core> = loader(
  'causeway.wasm',
  () => new URL('./causeway.wasm', import.meta.url),
  (module) => Core.instantiate(module),
);
