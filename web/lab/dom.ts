/** Returns the element of the page with this id. */
export const element = <Type extends HTMLElement>(id: string): Type =>
  document.getElementById(id) as Type;

/** Sets a text only when it differs, because setting the same text would lay out the page again. */
export function setText(target: Element, text: string): void {
  if (target.textContent !== text) target.textContent = text;
}

/** Puts choices into a list. */
export function fill(list: HTMLSelectElement, choices: Iterable<readonly [string, string]>): void {
  list.replaceChildren(...[...choices].map(([value, text]) => new Option(text, value)));
}
