// Checks that our bill of materials has what CycloneDX 1.5 asks for, as far as ours uses it.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';

function check_component(component) {
  assert.match(component.name, /./);
  assert.match(component.version, /^\d[0-9a-z.]*$/, component.name);
  assert.ok(component.purl.endsWith(`/${component.name}@${component.version}`), component.purl);
  for (const { license } of component.licenses)
    assert.match(
      license.id,
      /^(MIT|BSD-3-Clause|ISC|Zlib|Apache-2\.0|LGPL-2\.1-or-later)$/,
      component.name,
    );
}

/** Reads and checks the file; `parts` has the names of the components that must be in it. */
export function read_sbom(file, parts) {
  const sbom = JSON.parse(readFileSync(file, 'utf8'));
  assert.equal(sbom.bomFormat, 'CycloneDX');
  assert.equal(sbom.specVersion, '1.5');
  assert.equal(sbom.version, 1);
  const { component } = sbom.metadata;
  for (const each of [component, ...sbom.components]) {
    assert.equal(each.type, 'library');
    check_component(each);
  }
  const refs = sbom.components.map((each) => each['bom-ref']);
  assert.deepEqual(refs, parts);
  assert.deepEqual(sbom.dependencies, [{ ref: component['bom-ref'], dependsOn: refs }]);
  return sbom;
}
