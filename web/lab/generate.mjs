// Writes generated.ts: what TypeScript has to know of the headers of the lab, taken from them.
import { writeFileSync } from 'node:fs';
import { labModule } from '../../wasm/header_modules.mjs';

writeFileSync(new URL('generated.ts', import.meta.url), labModule());
