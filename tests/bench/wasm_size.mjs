// How large the WebAssembly module is on its way to a browser.
import { readFileSync } from 'node:fs';
import { gzipSync } from 'node:zlib';

const bytes = readFileSync(new URL('../../web/dist/causeway.wasm', import.meta.url));
console.log(`bytes ${bytes.length} bytes`);
console.log(`gzip_bytes ${gzipSync(bytes, { level: 9 }).length} bytes`);
