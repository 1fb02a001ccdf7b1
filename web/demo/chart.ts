import { prepare } from './canvas.js';

const LEFT = 34;
const BOTTOM = 4;

/** A graph of lines over the latest seconds, scaled to the highest value in sight. */
export class Chart {
  readonly #points: { time: number; values: number[] }[] = [];

  /** `colors` are the names of CSS properties, one for each line; `top` is the least value at the top of the graph. */
  constructor(
    readonly canvas: HTMLCanvasElement,
    readonly colors: string[],
    readonly top: number,
    readonly seconds = 30,
  ) {}

  add(time: number, values: number[]): void {
    this.#points.push({ time, values });
    while (this.#points[0]!.time < time - this.seconds - 1) this.#points.shift();
  }

  draw(now: number): void {
    const { context, width, height, color } = prepare(this.canvas);
    const highest = Math.max(this.top, ...this.#points.flatMap((point) => point.values));
    const step = niceStep(highest / 4);
    const full = Math.ceil(highest / step) * step;
    const x = (time: number) => width - ((now - time) / this.seconds) * (width - LEFT);
    const y = (value: number) => height - BOTTOM - (value / full) * (height - BOTTOM - 12);

    context.font = '11px system-ui, sans-serif';
    context.textAlign = 'right';
    context.textBaseline = 'middle';
    context.strokeStyle = color('line');
    context.fillStyle = color('faint');
    for (let value = 0; value <= full; value += step) {
      const level = Math.round(y(value)) + 0.5;
      context.beginPath();
      context.moveTo(LEFT, level);
      context.lineTo(width, level);
      context.stroke();
      context.fillText(String(value), LEFT - 6, level);
    }

    context.save();
    context.beginPath();
    context.rect(LEFT, 0, width - LEFT, height);
    context.clip();
    context.lineWidth = 2;
    context.lineJoin = 'round';
    this.colors.forEach((name, line) => {
      context.strokeStyle = color(name);
      // The lines must not be told apart by colour alone.
      context.setLineDash(line === 0 ? [] : [4, 3]);
      context.beginPath();
      for (const { time, values } of this.#points) context.lineTo(x(time), y(values[line]!));
      context.stroke();
    });
    context.restore();
  }
}

/** Returns the smallest of 1, 2 and 5 times a power of ten that is not below `least`. */
function niceStep(least: number): number {
  const power = 10 ** Math.floor(Math.log10(least));
  return [1, 2, 5, 10].map((factor) => factor * power).find((step) => step >= least)!;
}
