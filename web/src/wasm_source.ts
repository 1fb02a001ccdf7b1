import { ConnectError } from './errors.js';
import { nodeModule } from './node.js';
import { ownFile } from './own_file.js';

/** The sources that a module can come from. */
export type WasmSource =
  string | URL | Response | PromiseLike<Response> | BufferSource | WebAssembly.Module;

/** Options of `loadCore` and `loadGame`. */
export interface LoadOptions {
  /**
   * The module: its address, a `fetch` of it, its bytes, or the compiled module. Default: the one that was loaded
   * first; when there is none, the file beside the package's code, which bundlers that know
   * `new URL(..., import.meta.url)` include.
   */
  readonly wasm?: WasmSource | undefined;
}

/** The functions that load the module of one name. */
export interface Loader<Module> {
  /** Loads the module from the source, or returns the one that was loaded first. */
  load(options?: LoadOptions): Promise<Module>;
  /** Returns the module that was loaded first; if there is none, loads it from the source. */
  first(source: WasmSource | undefined): Promise<Module>;
}

/** Makes a loader of a module; `home` returns its place in the package. */
export function loader<Module>(
  name: string,
  home: () => URL,
  instantiate: (module: WebAssembly.Module) => Promise<Module>,
): Loader<Module> {
  const instance = async (source: WasmSource | undefined): Promise<Module> => {
    try {
      const opened = source === undefined ? openOwn(name, home) : open(source);
      return await instantiate(await compile(await opened, name));
    } catch (error) {
      if (error instanceof ConnectError) throw error;
      if (isForbidden(error))
        throw new ConnectError(
          'LOAD',
          'setup',
          `${name} is not compiled, because the page's Content-Security-Policy does not allow it: add ` +
            "'wasm-unsafe-eval' to its script-src, as in script-src 'self' 'wasm-unsafe-eval'",
          { cause: error },
        );
      throw new ConnectError('LOAD', 'load', `${name} cannot be used: ${String(error)}`, {
        cause: error,
      });
    }
  };
  let shared: Promise<Module> | undefined;
  const load = (source: WasmSource | undefined): Promise<Module> => {
    const loading = instance(source);
    shared ??= loading;
    loading.catch(() => {
      if (shared === loading) shared = undefined;
    });
    return loading;
  };
  const first = (source: WasmSource | undefined): Promise<Module> => shared ?? load(source);
  return { first, load: ({ wasm } = {}) => (wasm === undefined ? first(wasm) : load(wasm)) };
}

/** Returns whether a page's policy has refused to compile a module, which each engine says in its own words. */
const isForbidden = (error: unknown): boolean =>
  error instanceof Error && /unsafe-eval|\bCSP\b|Content.Security.Policy/i.test(error.message);

type Source = Response | BufferSource | WebAssembly.Module;

/** Turns an address into a response, or into bytes for a file under Node, which cannot fetch files. */
async function open(source: WasmSource): Promise<Source> {
  if (typeof source !== 'string' && !(source instanceof URL)) return source;
  const address = new URL(source, globalThis.location?.href);
  const files = address.protocol === 'file:' ? nodeModule('node:fs') : undefined;
  return files ? new Uint8Array(files.readFileSync(address)) : fetch(address);
}

/** Opens the package's own file. */
async function openOwn(name: string, home: () => URL): Promise<Source> {
  try {
    const opened = await open(ownFile(name, home));
    if (!('ok' in opened) || opened.ok) return opened;
    throw new Error(`${opened.url} answered ${opened.status}`);
  } catch (error) {
    throw new ConnectError(
      'LOAD',
      'load',
      `${name} is not beside this code: ${String(error)}. Copy it there from causeway-net/dist, or pass ` +
        'its address or bytes as `wasm`',
      { cause: error },
    );
  }
}

async function compile(
  source: Response | BufferSource | WebAssembly.Module,
  name: string,
): Promise<WebAssembly.Module> {
  if (source instanceof WebAssembly.Module) return source;
  // This avoids `instanceof Response`, because Node loads all of its fetch when that name is used.
  if (!('headers' in source)) return WebAssembly.compile(source);
  if (!source.ok)
    throw new ConnectError('LOAD', 'load', `${name}: ${source.url} answered ${source.status}`);
  const type = source.headers.get('content-type') ?? '';
  return type.startsWith('application/wasm')
    ? WebAssembly.compileStreaming(source)
    : WebAssembly.compile(await source.arrayBuffer());
}
