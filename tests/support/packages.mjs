import { createRequire } from 'node:module';

/** Packages that only the tests need come from web/node_modules. */
export const require = createRequire(new URL('../../web/package.json', import.meta.url));
