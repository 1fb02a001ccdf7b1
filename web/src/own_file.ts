/** The parts of Node that are used here. */
interface NodeModules {
  'node:fs': {
    readFileSync(path: URL): Uint8Array<ArrayBuffer>;
    existsSync(path: URL): boolean;
  };
  'node:module': { createRequire(from: URL): { resolve(name: string): string } };
  'node:url': { pathToFileURL(path: string): URL };
}

/** A module of Node, if this is Node, without an import that a bundler would follow. */
export function nodeModule<Name extends keyof NodeModules>(
  name: Name,
): NodeModules[Name] | undefined {
  const { process } = globalThis as {
    process?: { getBuiltinModule?(name: Name): NodeModules[Name] };
  };
  return process?.getBuiltinModule?.(name);
}

/** What CommonJS has instead of `import.meta.url`. */
declare const __filename: string;

/** Where a file is beside this code, which may be bundled. */
function beside(name: string, home: () => URL): URL {
  try {
    return home();
  } catch (error) {
    const url = nodeModule('node:url');
    if (!url || typeof __filename === 'undefined') throw error;
    return new URL(name, url.pathToFileURL(__filename));
  }
}

/**
 * Where a file of the package is: beside this code or, when the code is in a bundle under Node to which the
 * file was not copied, in the package that is installed there.
 * @param home gives its place beside this code; throws where there is no `import.meta.url`
 */
export function ownFile(name: string, home: () => URL): URL {
  const here = beside(name, home);
  const files = here.protocol === 'file:' ? nodeModule('node:fs') : undefined;
  if (!files || files.existsSync(here)) return here;
  try {
    const { resolve } = nodeModule('node:module')!.createRequire(here);
    return nodeModule('node:url')!.pathToFileURL(resolve(`causeway-net/${name}`));
  } catch {
    return here;
  }
}
