import { nodeModule } from './node.js';

/** CommonJS has this instead of `import.meta.url`. */
declare const __filename: string;

/** Returns the place of a file beside this code, which may be bundled. */
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
 * Returns the place of a file of the package: beside this code or, when the code is in a bundle under Node to which the
 * file was not copied, in the package that is installed there.
 * @param home returns the place beside this code; throws where there is no `import.meta.url`
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
