import { Core } from './core.js';
import { LoadError } from './errors.js';

/** Where the module can come from. */
export type WasmSource =
  string | URL | Response | PromiseLike<Response> | BufferSource | WebAssembly.Module;

/** Options of {@link loadCore}. */
export interface LoadOptions {
  /**
   * causeway.wasm: its address, a `fetch` of it, its bytes, or the compiled module. Default: the file
   * beside this one, which bundlers that know `new URL(..., import.meta.url)` take along.
   */
  readonly wasm?: WasmSource;
}

let shared: Promise<Core> | undefined;

/**
 * Loads the protocol core. Without a source it is loaded once, and every call gives the same one.
 * @throws {@link LoadError} when it cannot be fetched or is no module of this package.
 */
export function loadCore(options: LoadOptions = {}): Promise<Core> {
  if (options.wasm !== undefined) return instantiate(options.wasm);
  shared ??= instantiate(new URL('./causeway.wasm', import.meta.url)).catch((error: unknown) => {
    shared = undefined;
    throw error;
  });
  return shared;
}

async function instantiate(source: WasmSource): Promise<Core> {
  try {
    return await Core.instantiate(await compile(await open(source)));
  } catch (error) {
    if (error instanceof LoadError) throw error;
    throw new LoadError(`causeway.wasm cannot be used: ${String(error)}`, { cause: error });
  }
}

/** Turns an address into a response or, for a file under Node, which cannot fetch those, bytes. */
async function open(source: WasmSource): Promise<Response | BufferSource | WebAssembly.Module> {
  if (typeof source !== 'string' && !(source instanceof URL)) return source;
  const address = new URL(source, globalThis.location?.href);
  const files = address.protocol === 'file:' ? nodeFiles() : undefined;
  return files ? new Uint8Array(files.readFileSync(address)) : fetch(address);
}

async function compile(
  source: Response | BufferSource | WebAssembly.Module,
): Promise<WebAssembly.Module> {
  if (source instanceof WebAssembly.Module) return source;
  if (!(source instanceof Response)) return WebAssembly.compile(source);
  if (!source.ok) throw new LoadError(`causeway.wasm: ${source.url} answered ${source.status}`);
  const type = source.headers.get('content-type') ?? '';
  return type.startsWith('application/wasm')
    ? WebAssembly.compileStreaming(source)
    : WebAssembly.compile(await source.arrayBuffer());
}

/** Node's file system without an import that a bundler would follow. */
function nodeFiles(): { readFileSync(path: URL): Uint8Array<ArrayBuffer> } | undefined {
  const { process } = globalThis as {
    process?: { getBuiltinModule?(name: 'node:fs'): ReturnType<typeof nodeFiles> };
  };
  return process?.getBuiltinModule?.('node:fs');
}
