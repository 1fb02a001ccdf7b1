// The package under test, for all of its tests.
export const dist = new URL('../../web/dist/', import.meta.url);

export { require } from './packages.mjs';
export * from '../../web/dist/core/index.js';
export {
  SimulatedNetwork,
  Simulator,
  generateConnectToken,
  generateInsecureToken,
  generateKey,
  loadServer,
} from '../../web/dist/server/index.js';
