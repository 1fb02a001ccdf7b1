// sbom.mjs FILE: takes the bill of materials of the modules' build from FILE and writes the package's bill beside the
// modules, with the SHA-256 of each module, and prints it.
import { createHash } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { MODULES } from './built.mjs';

const read = (name) => readFileSync(new URL(`../${name}`, import.meta.url));
const { name, version, license } = JSON.parse(read('package.json'));
const sbom = JSON.parse(readFileSync(process.argv[2], 'utf8'));
const hashes = MODULES.map((module) => ({
  module,
  sha256: createHash('sha256')
    .update(read(`dist/${module}`))
    .digest('hex'),
}));

const component = sbom.metadata.component;
Object.assign(component, { name, version, purl: `pkg:npm/${name}@${version}` });
component.licenses = [{ license: { id: license } }];
component.components = hashes.map(({ module, sha256 }) => ({
  type: 'file',
  name: `dist/${module}`,
  hashes: [{ alg: 'SHA-256', content: sha256 }],
}));
writeFileSync(
  new URL('../dist/causeway.cdx.json', import.meta.url),
  `${JSON.stringify(sbom, null, 2)}\n`,
);
for (const { module, sha256 } of hashes) console.log(`${module} has the SHA-256 ${sha256}`);
