import uPlot from 'uplot';
import 'uplot/dist/uPlot.min.css';
import { CLASS_ENDS, bucketTimes, type Latencies } from './latencies.js';

/** The dashes of each column's line, in its swatch too, so that lines are not told apart by colour alone. */
export const DASHES: readonly (readonly number[])[] = [[], [6, 3], [2, 3], [8, 3, 2, 3]];

/** Milliseconds that have a line of their own across the charts. */
const ROUND = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10000];
/** The range in milliseconds that the charts show at least, and the factor of free space below the values. */
const LEAST = 50;
const MOST = 500;
const MARGIN = 1.15;
const below = (value: number): number =>
  ROUND.findLast((round) => round * MARGIN <= Math.min(value, LEAST)) ?? ROUND[0]!;
const above = (value: number): number =>
  ROUND.find((round) => round >= Math.max(value, MOST)) ?? ROUND.at(-1)!;

const FONT = '11px system-ui, sans-serif';
export const HEIGHT = 200;

const color = (name: string) => (): string =>
  getComputedStyle(document.body).getPropertyValue(`--${name}`);

const axis = (more: uPlot.Axis): uPlot.Axis => ({
  stroke: color('faint'),
  grid: { stroke: color('line'), width: 1 },
  ticks: { show: false },
  font: FONT,
  // All values of `splits` are kept: a logarithmic axis would otherwise leave out those that are no power of ten.
  filter: (_, splits) => splits,
  ...more,
});

const rounds = (_: uPlot, __: number, least: number, most: number): number[] =>
  ROUND.filter((value) => value >= least && value <= most);

const milliseconds = (_: uPlot, values: number[]): string[] =>
  values.map((value) => (value < 1000 ? String(value) : `${value / 1000} s`));

/** Makes a chart with so many lines. */
export function plot(
  target: HTMLElement,
  columns: number,
  scales: uPlot.Scales,
  axes: uPlot.Axis[],
): uPlot {
  const options: uPlot.Options = {
    width: target.clientWidth || 300,
    height: HEIGHT,
    pxAlign: false,
    legend: { show: false },
    cursor: { show: false },
    scales,
    axes: axes.map(axis),
    series: [
      {},
      ...Array.from({ length: columns }, (_, i) => ({
        stroke: color(`column-${i}`),
        width: 2,
        dash: [...DASHES[i]!],
        spanGaps: true,
        points: { show: false },
      })),
    ],
  };
  return new uPlot(options, Array.from({ length: columns + 1 }, () => []) as never, target);
}

/** The charts of latency over time and of its distribution, with a line for each column. */
export class Charts {
  #overTime: uPlot | undefined;
  #distribution: uPlot | undefined;
  /** The range of milliseconds that the distribution shows. */
  #range: [least: number, most: number] = [LEAST, MOST];

  constructor(
    readonly overTime: HTMLElement,
    readonly distribution: HTMLElement,
  ) {
    new ResizeObserver(() => this.#fit()).observe(overTime);
  }

  /** Starts anew, with this number of lines. */
  reset(columns: number): void {
    this.#overTime?.destroy();
    this.#distribution?.destroy();
    const wide = { splits: rounds, values: milliseconds, size: 44 };
    this.#overTime = plot(
      this.overTime,
      columns,
      {
        x: { time: false },
        y: { distr: 3, range: (_, least, most) => [below(least), above(most)] },
      },
      [{ values: (_, values) => values.map((value) => `${value} s`), size: 26 }, wide],
    );
    this.#distribution = plot(
      this.distribution,
      columns,
      { x: { time: false, distr: 3, range: () => this.#range }, y: { range: () => [0, 101] } },
      [
        { splits: rounds, values: milliseconds, size: 26 },
        { values: (_, values) => values.map((value) => `${value} %`), size: 44 },
      ],
    );
  }

  draw(columns: readonly Latencies[], now: number): void {
    const times = bucketTimes(now);
    this.#overTime?.setData([times, ...columns.map((column) => column.overTime(now))]);
    const parts = columns.map((column) => column.distribution());
    const some = (wanted: (part: number | null) => boolean) => (_: number, i: number) =>
      parts.some((part) => wanted(part[i]!));
    const least = CLASS_ENDS.find(some((part) => part !== null && part > 0)) ?? LEAST;
    const most = CLASS_ENDS.findLast(some((part) => part !== null && part < 100)) ?? least;
    this.#range = [below(least), above(most)];
    this.#distribution?.setData([CLASS_ENDS, ...parts] as never);
  }

  #fit(): void {
    this.#overTime?.setSize({ width: this.overTime.clientWidth, height: HEIGHT });
    this.#distribution?.setSize({ width: this.distribution.clientWidth, height: HEIGHT });
  }
}
