// Lines over time as SVG: panels below each other, narrow enough that a phone can show them. They can be read on light
// and dark.
import { legend, lineStyle, round, svg } from './chart.mjs';

const WIDTH = 480;
const TEXT = 14;
const LEFT = 52;
const RIGHT = 12;
const HEIGHT = 130; // the height of the lines of a panel
const TITLE = 26;
const BELOW = 26;
const LEGEND_ROW = 24;
const LEGEND_COLUMN = 150;

/** Returns a step of 1, 2 or 5 of a decade, of which at most six reach `most`. */
const stepTo = (most) => {
  for (let decade = 1; ; decade *= 10)
    for (const step of [1, 2, 5]) if (decade * step * 6 >= most) return decade * step;
};

const ticksTo = (most) => {
  const step = stepTo(most);
  return Array.from({ length: Math.floor(most / step) + 1 }, (_, i) => i * step);
};

/** Draws lines, each of points [seconds, value], above an axis up to `end` seconds. */
const panel = ({ title, lines }, names, end, top) => {
  const most = Math.max(...[...lines.values()].flat().map(([, value]) => value)) * 1.05;
  const bottom = top + TITLE + HEIGHT;
  const x = (seconds) => round(LEFT + ((WIDTH - LEFT - RIGHT) * seconds) / end);
  const y = (value) => round(bottom - (HEIGHT * value) / most);
  return [
    `<text class="title" x="${LEFT}" y="${top + 16}">${title}</text>`,
    ...ticksTo(most).map(
      (tick) =>
        `<path class="grid" d="M${LEFT} ${y(tick)}H${WIDTH - RIGHT}"/><text class="end" x="${LEFT - 6}" y="${y(tick) + 5}">${tick.toLocaleString('en')}</text>`,
    ),
    ...ticksTo(end).map(
      (tick) => `<text class="middle" x="${x(tick)}" y="${bottom + 18}">${tick || '0 s'}</text>`,
    ),
    ...[...lines].map(
      ([name, points]) =>
        `<polyline class="line" ${lineStyle(names.indexOf(name))} points="${points.map(([seconds, value]) => `${x(seconds)},${y(value)}`).join(' ')}"/>`,
    ),
  ];
};

/** Returns the chart as text. Each panel has a title and a map from names to lines; `end` is the last second. */
export const timeChart = (panels, end) => {
  const names = [...new Set(panels.flatMap(({ lines }) => [...lines.keys()]))];
  const each = TITLE + HEIGHT + BELOW;
  const columns = Math.floor(WIDTH / LEGEND_COLUMN);
  const top = panels.length * each + 20;
  const parts = panels.flatMap((one, i) => panel(one, names, end, i * each));
  const below = legend(names, columns, LEGEND_COLUMN, LEGEND_ROW, top);
  const height = top + (Math.ceil(names.length / columns) - 1) * LEGEND_ROW + 10;
  return svg(WIDTH, height, TEXT, panels.map(({ title }) => title).join('; '), [
    ...parts,
    ...below,
  ]);
};
