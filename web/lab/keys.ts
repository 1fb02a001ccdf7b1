/** Returns whether a letter or the space bar typed in this element means itself. */
const typed = (target: EventTarget | null): boolean =>
  target instanceof HTMLSelectElement ||
  (target instanceof HTMLInputElement && /^(number|url)$/.test(target.type));

/** Returns whether the space bar presses this element by itself. */
const pressed = (target: EventTarget | null): boolean =>
  target instanceof HTMLElement && target.matches('button, summary, a, input[type="checkbox"]');

/** Does what the keys say, which are lower case: `{ r: restart, ' ': play }`. */
export function listen(actions: Readonly<Record<string, () => void>>): void {
  document.addEventListener('keydown', (event) => {
    const { target, key, ctrlKey, metaKey, altKey } = event;
    if (ctrlKey || metaKey || altKey || typed(target) || (key === ' ' && pressed(target))) return;
    const action = actions[key.toLowerCase()];
    if (!action) return;
    event.preventDefault();
    action();
  });
}
