// This asks axe-core about a page of a test.
import { readFileSync } from 'node:fs';
import { require } from './packages.mjs';

const AXE = readFileSync(require.resolve('axe-core'), 'utf8');

/** Returns the rules that are broken, and by which elements. */
export async function faultsOf(page) {
  await page.evaluate(AXE);
  const { violations } = await page.evaluate(() => globalThis.axe.run());
  return violations.flatMap(({ id, nodes }) =>
    nodes.map(({ html, failureSummary }) => `${id}: ${html}\n${failureSummary}`),
  );
}
