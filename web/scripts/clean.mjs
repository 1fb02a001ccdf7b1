// Empties dist before TypeScript is compiled: the files of sources that are gone would stay there and be packed. The
// files that the build of the modules puts there remain.
import { mkdirSync, readdirSync, rmSync } from 'node:fs';
import { BUILT } from './built.mjs';

const dist = new URL('../dist/', import.meta.url);
mkdirSync(dist, { recursive: true });
for (const name of readdirSync(dist))
  if (!BUILT.includes(name)) rmSync(new URL(name, dist), { recursive: true });
