// The package under test and what its tests share.
import { createRequire } from 'node:module';

export const dist = new URL('../../web/dist/', import.meta.url);

/** Packages that only the tests need come from web/node_modules. */
export const require = createRequire(new URL('../../web/package.json', import.meta.url));

export * from '../../web/dist/index.js';
