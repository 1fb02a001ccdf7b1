/** The modules that the build puts into dist. */
export const MODULES = ['causeway.wasm', 'causeway-game.wasm', 'causeway-server.wasm'];

/** All that it puts there, besides what is compiled from src. */
export const BUILT = [...MODULES, 'causeway.cdx.json'];
