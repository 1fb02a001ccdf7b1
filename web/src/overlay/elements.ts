/** Puts an element into another. Its style goes through the CSSOM, which no Content-Security-Policy stops. */
export function add<Name extends keyof HTMLElementTagNameMap>(
  parent: Node,
  name: Name,
  style: string,
): HTMLElementTagNameMap[Name] {
  const element = document.createElement(name);
  element.style.cssText = style;
  parent.appendChild(element);
  return element;
}

/** Adds a row with a name on the left, and returns the element on the right. */
export function addRow(parent: Node, name: string, color: string): HTMLElement {
  const row = add(parent, 'div', 'display: flex; justify-content: space-between');
  add(row, 'span', `color: ${color}`).textContent = name;
  return add(row, 'span', '');
}
