import { element } from './dom.js';
import { loadLab, type Lab } from './lab.js';

/** Loads the lab and makes the page of it, or says why that cannot be. */
export async function start(make: (lab: Lab) => object): Promise<void> {
  try {
    Object.assign(globalThis, { page: make(await loadLab()) });
  } catch (error) {
    console.error(error);
    const trouble = element('trouble');
    trouble.textContent =
      typeof WebAssembly === 'undefined'
        ? 'The lab needs WebAssembly, which this browser does not have or has switched off. Another browser, or its normal security level, will do.'
        : `The lab could not start: ${error instanceof Error ? error.message : String(error)}. Loading the page again may help.`;
    trouble.hidden = false;
    document.querySelector('main')!.hidden = true;
  }
}
