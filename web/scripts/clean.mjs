// Before TypeScript is compiled: empties dist, where the files of sources that are gone would stay and be
// packed. What the build of the module puts there remains.
import { mkdirSync, readdirSync, rmSync } from 'node:fs';
import { BUILT } from './built.mjs';

const dist = new URL('../dist/', import.meta.url);
mkdirSync(dist, { recursive: true });
for (const name of readdirSync(dist))
  if (!BUILT.includes(name)) rmSync(new URL(name, dist), { recursive: true });
