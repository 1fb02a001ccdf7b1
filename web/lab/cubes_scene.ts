import { prepare } from '../demo/canvas.js';
import { CUBES_COUNT, CUBES_FIGURES } from './generated.js';

type Vector = readonly [x: number, y: number, z: number];

/** Half the edge of the player's cube and of the others, in metres. */
const HALF = { player: 0.75, other: 0.2 };
/** Half the edge of the ground, in metres, and the metres between its lines. */
const GROUND = 20;
const GRID = 4;
/** The camera looks at the player from here, in metres from it, and from farther away where the picture is narrow. */
const EYE: Vector = [0, -11, 9];
/** The height of the picture in metres at a distance of one. */
const VIEW = 0.9;
/** The share of the way that the camera catches up in a frame. */
const FOLLOW = 0.06;
/** The nearest distance at which something is drawn. */
const NEAR = 1;
const LIGHT: Vector = [-0.35, -0.5, 0.79];
/** Shades of a colour, from the dark side of a cube to the bright one. */
const SHADES = 16;

const dot = (a: Vector, b: Vector): number => a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
const cross = (a: Vector, b: Vector): Vector => [
  a[1] * b[2] - a[2] * b[1],
  a[2] * b[0] - a[0] * b[2],
  a[0] * b[1] - a[1] * b[0],
];
const sum = (a: Vector, b: Vector, by = 1): Vector => [
  a[0] + by * b[0],
  a[1] + by * b[1],
  a[2] + by * b[2],
];
const unit = (a: Vector): Vector => sum([0, 0, 0], a, 1 / Math.hypot(...a));

const FORWARD = unit([-EYE[0], -EYE[1], -EYE[2]]);
const RIGHT = unit(cross(FORWARD, [0, 0, 1]));
const UP = cross(RIGHT, FORWARD);

/** Returns the directions of a cube's edges, from its orientation. */
const axesOf = (x: number, y: number, z: number, w: number): readonly [Vector, Vector, Vector] => [
  [1 - 2 * (y * y + z * z), 2 * (x * y + w * z), 2 * (x * z - w * y)],
  [2 * (x * y - w * z), 1 - 2 * (x * x + z * z), 2 * (y * z + w * x)],
  [2 * (x * z + w * y), 2 * (y * z - w * x), 1 - 2 * (x * x + y * y)],
];

/** Returns the shades of a colour, which is written as `#rrggbb`. */
const shadesOf = (color: string): string[] => {
  const parts = [1, 3, 5].map((at) => parseInt(color.trim().slice(at, at + 2), 16));
  return Array.from({ length: SHADES }, (_, i) => {
    const light = 0.45 + (0.65 * i) / (SHADES - 1);
    return `rgb(${parts.map((part) => Math.min(255, Math.round(part * light))).join()})`;
  });
};

/** Draws the cubes, as seen by a camera that follows the player. */
export class CubesScene {
  #target: Vector = [0, 0, 0];
  #eye: Vector = EYE;
  #scale = 1;
  #center: readonly [x: number, y: number] = [0, 0];
  /** The colours for which the shades were made, and the shades of a cube at rest, a touched one and the player. */
  #colors = '';
  #shades: readonly (readonly string[])[] = [];

  constructor(readonly canvas: HTMLCanvasElement) {}

  draw(figures: Float32Array): void {
    const { context, width, height, color } = prepare(this.canvas);
    const names = ['cube', 'touched', 'player'].map(color);
    if (names.join() !== this.#colors) {
      this.#colors = names.join();
      this.#shades = names.map(shadesOf);
    }
    this.#look(figures, width, height);
    this.#ground(context, color);
    const depths = new Float32Array(CUBES_COUNT);
    for (let i = 0; i < CUBES_COUNT; i++)
      depths[i] = dot(sum(this.#place(figures, i), this.#eye, -1), FORWARD);
    const order = Array.from(depths.keys()).filter((i) => depths[i]! > NEAR);
    order.sort((a, b) => depths[b]! - depths[a]!);
    context.lineJoin = 'round';
    context.lineWidth = 0.5;
    for (const i of order) this.#cube(context, figures, i, width, height);
  }

  /** Returns where the player is on the canvas, in CSS pixels. */
  player(figures: Float32Array): readonly [x: number, y: number] {
    return this.#project(this.#place(figures, 0));
  }

  #place(figures: Float32Array, cube: number): Vector {
    const at = cube * CUBES_FIGURES;
    return [figures[at]!, figures[at + 1]!, figures[at + 2]!];
  }

  /** Moves the camera. */
  #look(figures: Float32Array, width: number, height: number): void {
    const [x, y] = this.#place(figures, 0);
    this.#target = sum(this.#target, sum([x, y, 0], this.#target, -1), FOLLOW);
    const back = Math.max(1, Math.min(1.6, (1.1 * height) / width));
    this.#eye = sum(this.#target, EYE, back);
    this.#scale = height / VIEW;
    this.#center = [width / 2, height / 2];
  }

  #project(point: Vector): readonly [x: number, y: number] {
    const from = sum(point, this.#eye, -1);
    const by = this.#scale / Math.max(dot(from, FORWARD), 0.1);
    return [this.#center[0] + by * dot(from, RIGHT), this.#center[1] - by * dot(from, UP)];
  }

  #path(context: CanvasRenderingContext2D, points: readonly Vector[]): void {
    context.beginPath();
    for (const point of points) context.lineTo(...this.#project(point));
  }

  #ground(context: CanvasRenderingContext2D, color: (name: string) => string): void {
    context.strokeStyle = color('line');
    context.lineWidth = 1;
    // Lines end in front of the camera.
    const south = Math.max(-GROUND, this.#eye[1] + NEAR);
    for (let at = -GROUND; at <= GROUND; at += GRID) {
      this.#path(context, [
        [at, south, 0],
        [at, GROUND, 0],
      ]);
      context.stroke();
      if (at < south) continue;
      this.#path(context, [
        [-GROUND, at, 0],
        [GROUND, at, 0],
      ]);
      context.stroke();
    }
  }

  #cube(
    context: CanvasRenderingContext2D,
    figures: Float32Array,
    cube: number,
    width: number,
    height: number,
  ): void {
    const place = this.#place(figures, cube);
    const half = cube === 0 ? HALF.player : HALF.other;
    const [x, y] = this.#project(place);
    const margin = cube === 0 ? 200 : 60;
    if (x < -margin || y < -margin || x > width + margin || y > height + margin) return;
    const at = cube * CUBES_FIGURES;
    const [qx, qy, qz, qw, touched] = figures.subarray(at + 3, at + CUBES_FIGURES);
    const shades = this.#shades[cube === 0 ? 2 : touched! > 0 ? 1 : 0]!;
    const axes = axesOf(qx!, qy!, qz!, qw!);
    // A cube in the air has its shadow below it.
    if (place[2] > 1.6 * half) this.#shadow(context, place, half);
    for (let face = 0; face < 6; face++) {
      const normal = sum([0, 0, 0], axes[face % 3]!, face < 3 ? 1 : -1);
      const middle = sum(place, normal, half);
      if (dot(normal, sum(this.#eye, middle, -1)) <= 0) continue;
      const [a, b] = [axes[(face + 1) % 3]!, axes[(face + 2) % 3]!];
      this.#path(
        context,
        [
          [-1, -1],
          [1, -1],
          [1, 1],
          [-1, 1],
        ].map(([i, j]) => sum(sum(middle, a, i! * half), b, j! * half)),
      );
      const light = (1 + dot(normal, LIGHT)) / 2;
      context.fillStyle = context.strokeStyle = shades[Math.round(light * (SHADES - 1))]!;
      context.fill();
      context.stroke();
    }
  }

  #shadow(context: CanvasRenderingContext2D, [x, y]: Vector, half: number): void {
    this.#path(context, [
      [x - half, y - half, 0],
      [x + half, y - half, 0],
      [x + half, y + half, 0],
      [x - half, y + half, 0],
    ]);
    context.fillStyle = 'rgb(0 0 0 / 0.18)';
    context.fill();
  }
}
