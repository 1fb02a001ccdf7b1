import { LoadError } from './errors.js';

/** Where a module can come from. */
export type WasmSource =
  string | URL | Response | PromiseLike<Response> | BufferSource | WebAssembly.Module;

/** Options of `loadCore` and `loadGame`. */
export interface LoadOptions {
  /**
   * The module: its address, a `fetch` of it, its bytes, or compiled. Default: the file beside the
   * package's code, which bundlers that know `new URL(..., import.meta.url)` take along.
   */
  readonly wasm?: WasmSource;
}

/** What loads the module of that name. Without a source it loads the one at `home`, once for all calls. */
export function loader<Module>(
  name: string,
  home: () => URL,
  instantiate: (module: WebAssembly.Module) => Promise<Module>,
): (options?: LoadOptions) => Promise<Module> {
  const load = async (source: WasmSource): Promise<Module> => {
    try {
      return await instantiate(await compile(await open(source), name));
    } catch (error) {
      if (error instanceof LoadError) throw error;
      throw new LoadError(`${name} cannot be used: ${String(error)}`, { cause: error });
    }
  };
  let shared: Promise<Module> | undefined;
  return ({ wasm } = {}) => {
    if (wasm !== undefined) return load(wasm);
    shared ??= load(home()).catch((error: unknown) => {
      shared = undefined;
      throw error;
    });
    return shared;
  };
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
  name: string,
): Promise<WebAssembly.Module> {
  if (source instanceof WebAssembly.Module) return source;
  // Not `instanceof Response`: Node loads all of its fetch when that name is looked at.
  if (!('headers' in source)) return WebAssembly.compile(source);
  if (!source.ok) throw new LoadError(`${name}: ${source.url} answered ${source.status}`);
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
