// The drawing of ships and stars.
import { SIZE, type Ship } from './game.js';

const canvas = document.querySelector('canvas')!;
const context = canvas.getContext('2d')!;
const SHIP = new Path2D('M22 0L-14 11L-8 0L-14-11Z');
const STAR = new Path2D('M0-14L4-5L13-4L6 2L8 11L0 7L-8 11L-6 2L-13-4L-4-5Z');

export const color = (id: number): string => `hsl(${id * 137.5} 80% 65%)`;

/** Fills the window with the part of the field around a place. */
export function look({ x, y }: { x: number; y: number }): void {
  const width = (canvas.width = innerWidth * devicePixelRatio);
  const height = (canvas.height = innerHeight * devicePixelRatio);
  const scale = Math.max(width, height) / SIZE;
  const shift = (at: number, size: number): number =>
    Math.max(size - SIZE * scale, Math.min(0, size / 2 - at * scale));
  context.setTransform(scale, 0, 0, scale, shift(x, width), shift(y, height));
  context.strokeStyle = '#26303b';
  for (let at = 0; at <= SIZE; at += SIZE / 10) {
    context.strokeRect(at, 0, 0, SIZE);
    context.strokeRect(0, at, SIZE, 0);
  }
}

function draw(
  shape: Path2D,
  { x, y }: { x: number; y: number },
  angle: number,
  isOwn = false,
): void {
  context.save();
  context.translate(x, y);
  context.rotate(angle);
  context.fill(shape);
  context.lineWidth = 3;
  context.lineJoin = 'round';
  context.strokeStyle = 'white';
  if (isOwn) context.stroke(shape);
  context.restore();
}

export function drawStar(star: { x: number; y: number }): void {
  context.fillStyle = '#ffd54a';
  draw(STAR, star, 0);
}

export function drawShip(ship: Ship, id: number, isOwn: boolean): void {
  context.fillStyle = color(id);
  draw(SHIP, ship, Math.atan2(ship.down, ship.right), isOwn);
}
