// The drawing of ships and stars.
import { SIZE, type Ship } from './game.js';

const canvas = document.querySelector('canvas')!;
const context = canvas.getContext('2d')!;

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

/** Draws a shape whose corners are given by angle and distance from its middle. */
function shape(
  { x, y }: { x: number; y: number },
  corners: readonly (readonly [number, number])[],
): void {
  context.beginPath();
  for (const [angle, far] of corners)
    context.lineTo(x + far * Math.cos(angle), y + far * Math.sin(angle));
  context.closePath();
  context.fill();
}

export function drawStar(star: { x: number; y: number }): void {
  context.fillStyle = '#ffd54a';
  shape(
    star,
    Array.from({ length: 10 }, (_, i) => [((i - 2.5) * Math.PI) / 5, i % 2 ? 6 : 14]),
  );
}

export function drawShip(ship: Ship, id: number, isOwn: boolean): void {
  const ahead = Math.atan2(ship.down, ship.right);
  context.fillStyle = color(id);
  shape(ship, [
    [ahead, 22],
    [ahead + 2.5, 18],
    [ahead + Math.PI, 8],
    [ahead - 2.5, 18],
  ]);
  context.lineWidth = 3;
  context.lineJoin = 'round';
  context.strokeStyle = isOwn ? 'white' : 'transparent';
  context.stroke();
}
