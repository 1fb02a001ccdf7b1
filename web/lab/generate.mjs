// Writes generated.ts: the declarations that TypeScript needs of the lab, taken from its headers.
import { writeFileSync } from 'node:fs';
import { labModule } from '../../wasm/bindings.mjs';

writeFileSync(new URL('generated.ts', import.meta.url), labModule());
