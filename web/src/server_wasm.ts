/** Returns the place of causeway-server.wasm: beside this file, which stands where a bundle of it does. */
export const serverWasm = (): URL => new URL('./causeway-server.wasm', import.meta.url);
