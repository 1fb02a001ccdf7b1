// The package under test and what its tests share.
export const dist = new URL('../../web/dist/', import.meta.url);

export { require } from './packages.mjs';
export * from '../../web/dist/index.js';
