/** The player's wish at a moment, in parts from -127 to 127 as in a command. */
export interface Wish {
  move: { x: number; y: number };
  aim: { x: number; y: number };
  fire: boolean;
}

const FULL = 127;
/** The distance in CSS pixels that a finger is dragged for full speed. */
export const STICK = 50;
/** The distance of a stick that no finger holds from the edges of the arena. */
const STICK_MARGIN = 76;

const KEYS: Readonly<Record<string, readonly [x: number, y: number]>> = {
  ArrowLeft: [-1, 0],
  KeyA: [-1, 0],
  ArrowRight: [1, 0],
  KeyD: [1, 0],
  ArrowUp: [0, -1],
  KeyW: [0, -1],
  ArrowDown: [0, 1],
  KeyS: [0, 1],
};

type Point = { readonly x: number; readonly y: number };

/** A stick for a thumb: its middle and its knob on the canvas, and whether a finger holds it. */
export interface Stick {
  readonly middle: Point;
  readonly knob: Point;
  readonly held: boolean;
}

const scaled = (x: number, y: number, full: number): { x: number; y: number } => {
  const scale = FULL / Math.max(full, Math.hypot(x, y));
  return { x: Math.round(x * scale), y: Math.round(y * scale) };
};

/** Reads keyboard, mouse and fingers on the arena. */
export class Controls {
  readonly #pressedKeys = new Set<string>();
  /** For each finger, the place where it began and its half of the arena. */
  readonly #fingers = new Map<
    number,
    { readonly start: Point; readonly left: boolean; at: Point }
  >();
  #mouse: Point | undefined;
  #pressed = false;
  /** There are fingers: the device says so, or one has touched the arena. */
  #touched = matchMedia('(pointer: coarse)').matches;

  constructor(readonly canvas: HTMLCanvasElement) {
    canvas.addEventListener('keydown', (event) => {
      if (!(event.code in KEYS) && event.code !== 'Space') return;
      if (event.ctrlKey || event.metaKey || event.altKey) return;
      this.#pressedKeys.add(event.code);
      event.preventDefault();
    });
    canvas.addEventListener('keyup', ({ code }) => this.#pressedKeys.delete(code));
    canvas.addEventListener('blur', () => this.#pressedKeys.clear());
    canvas.addEventListener('pointerdown', (event) => {
      canvas.setPointerCapture(event.pointerId);
      canvas.focus();
      const at = { x: event.offsetX, y: event.offsetY };
      if (event.pointerType === 'mouse') {
        this.#mouse = at;
        this.#pressed = true;
      } else {
        this.#touched = true;
        this.#fingers.set(event.pointerId, { start: at, left: at.x < canvas.clientWidth / 2, at });
      }
    });
    canvas.addEventListener('pointermove', (event) => {
      const at = { x: event.offsetX, y: event.offsetY };
      if (event.pointerType === 'mouse') this.#mouse = at;
      const finger = this.#fingers.get(event.pointerId);
      if (finger) finger.at = at;
    });
    for (const end of ['pointerup', 'pointercancel'] as const)
      canvas.addEventListener(end, (event) => {
        this.#fingers.delete(event.pointerId);
        if (event.pointerType === 'mouse') this.#pressed = false;
      });
  }

  /** Returns the sticks for the thumbs, the left one to move and the right one to shoot. A mouse needs none. */
  sticks(): Stick[] {
    if (!this.#touched) return [];
    const { clientWidth: width, clientHeight: height } = this.canvas;
    return [true, false].map((left) => {
      const finger = [...this.#fingers.values()].find((one) => one.left === left);
      const x = left ? STICK_MARGIN : width - STICK_MARGIN;
      if (!finger) {
        const middle = { x, y: height - STICK_MARGIN };
        return { middle, knob: middle, held: false };
      }
      const { start, at } = finger;
      const drag = scaled(at.x - start.x, at.y - start.y, STICK);
      const knob = { x: start.x + (drag.x * STICK) / FULL, y: start.y + (drag.y * STICK) / FULL };
      return { middle: start, knob, held: true };
    });
  }

  /** Returns what the player wants; `ownNear` says where he is drawn on the canvas, near a place. */
  wish(ownNear: (place: Point) => Point): Wish {
    const keys = [...this.#pressedKeys].map((code) => KEYS[code] ?? [0, 0]);
    const sum = (axis: 0 | 1): number =>
      Math.sign(keys.reduce((total, key) => total + key[axis]!, 0));
    let move = scaled(sum(0), sum(1), 1);
    let aim = { ...move };
    if (this.#mouse) {
      const player = ownNear(this.#mouse);
      aim = scaled(this.#mouse.x - player.x, this.#mouse.y - player.y, 1);
    }
    let fire = this.#pressed || this.#pressedKeys.has('Space');
    for (const { start, left, at } of this.#fingers.values()) {
      const drag = scaled(at.x - start.x, at.y - start.y, STICK);
      if (left) move = drag;
      else {
        aim = drag;
        fire = Math.hypot(drag.x, drag.y) > FULL / 3;
      }
    }
    return { move, aim, fire };
  }
}
