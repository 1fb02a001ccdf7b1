// The controls: keys, or a stick under the thumb.
import type { Stick } from './game.js';

const KEYS: Readonly<Record<string, Stick>> = {
  ArrowLeft: { right: -1, down: 0 },
  ArrowRight: { right: 1, down: 0 },
  ArrowUp: { right: 0, down: -1 },
  ArrowDown: { right: 0, down: 1 },
};
/** The pixels from the middle of the stick to its end. */
const REACH = 50;

/** Moves an element. */
const move = (element: HTMLElement, x: number, y: number): void => {
  element.style.transform = `translate(${x}px, ${y}px)`;
};

/** Returns where the stick is; the element shows it while a finger or the mouse is down. */
export function controls(element: HTMLElement): () => Stick {
  const held = new Set<string>();
  let start: PointerEvent | undefined;
  let [x, y] = [0, 0]; // from the start

  addEventListener('keydown', ({ code }) => held.add(code));
  addEventListener('keyup', ({ code }) => held.delete(code));
  addEventListener('blur', () => held.clear());
  addEventListener('pointerdown', (event) => {
    start ??= event;
    move(element, start.clientX, start.clientY);
  });
  addEventListener('pointermove', ({ pointerId, clientX, clientY }) => {
    if (pointerId === start?.pointerId) [x, y] = [clientX - start.clientX, clientY - start.clientY];
  });
  for (const end of ['pointerup', 'pointercancel'] as const)
    addEventListener(end, ({ pointerId }) => {
      if (pointerId === start?.pointerId) [start, x, y] = [undefined, 0, 0];
    });

  return () => {
    let [right, down] = [x / REACH, y / REACH];
    for (const code of held) {
      right += KEYS[code]?.right ?? 0;
      down += KEYS[code]?.down ?? 0;
    }
    const far = Math.max(1, Math.hypot(right, down));
    element.hidden = !start;
    move(element.firstElementChild as HTMLElement, (right / far) * REACH, (down / far) * REACH);
    return { right: right / far, down: down / far };
  };
}
