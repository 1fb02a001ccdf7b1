/** The modules that the build puts into dist. */
export const MODULES = [
  'causeway.wasm',
  'causeway-game.wasm',
  'causeway-game-server.wasm',
  'causeway-protocols.wasm',
  'causeway-server.wasm',
];

/** All files that it puts there, besides those that are compiled from src. */
export const BUILT = [...MODULES, 'causeway.cdx.json'];
