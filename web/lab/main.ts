import './style.css';
import { element } from './dom.js';
import { loadLab } from './lab.js';
import { Page } from './page.js';

try {
  Object.assign(globalThis, { page: new Page(await loadLab()) });
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
