// Prints the sizes of the WebAssembly modules on their way to a browser.
import { readFileSync } from 'node:fs';
import { gzipSync } from 'node:zlib';

for (const [module, prefix] of [
  ['causeway.wasm', ''],
  ['causeway-game.wasm', 'game_'],
  ['causeway-game-server.wasm', 'game_server_'],
]) {
  const bytes = readFileSync(new URL(`../../web/dist/${module}`, import.meta.url));
  console.log(`${prefix}bytes ${bytes.length} bytes`);
  console.log(`${prefix}gzip_bytes ${gzipSync(bytes, { level: 9 }).length} bytes`);
}
