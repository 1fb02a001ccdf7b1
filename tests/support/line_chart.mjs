// A small writer of SVG: panels of lines side by side, with a legend below. They can be read on light and dark.

import { legend, lineStyle, round, svg } from './chart.mjs';

const WIDTH = 860;
const HEIGHT = 250;
const LEFT = 46;
const TOP = 30;
const BOTTOM = 38;
const GAP = 22;
const LEGEND_ROW = 18;
const LEGEND_COLUMN = 170;

/** Returns 1, 2 and 5 of each decade from `least` to `most`. */
const ticksOf = (least, most) => {
  const ticks = [];
  for (let decade = 10 ** Math.floor(Math.log10(least)); decade <= most; decade *= 10)
    for (const step of [1, 2, 5])
      if (decade * step >= least && decade * step <= most) ticks.push(decade * step);
  return ticks;
};

const panel = ({ title, lines }, labels, left, width) => {
  const all = lines.flat();
  const least = Math.min(...all) / 1.15;
  const most = Math.max(...all) * 1.15;
  const height = HEIGHT - TOP - BOTTOM;
  const x = (place) => round(left + LEFT + ((width - LEFT - GAP) * place) / (labels.length - 1));
  const share = (value) => Math.log(value / least) / Math.log(most / least);
  const y = (value) => round(TOP + height * (1 - share(value)));
  const grid = ticksOf(least, most).map(
    (tick) =>
      `<path class="grid" d="M${x(0)} ${y(tick)}H${x(labels.length - 1)}"/><text class="end" x="${x(0) - 6}" y="${y(tick) + 4}">${tick.toLocaleString('en')}</text>`,
  );
  const names = labels.map(
    (label, i) => `<text class="middle" x="${x(i)}" y="${HEIGHT - BOTTOM + 18}">${label}</text>`,
  );
  const drawn = lines.map(
    (line, i) =>
      `<polyline class="line" ${lineStyle(i)} points="${line.map((value, place) => `${x(place)},${y(value)}`).join(' ')}"/>`,
  );
  return [`<text class="title" x="${x(0)}" y="16">${title}</text>`, ...grid, ...names, ...drawn];
};

/**
 * Returns the chart as text. Each panel has a title and, for each of `names`, a line with a value above 0 for each of
 * `labels`. Values are drawn on a logarithmic scale.
 */
export const lineChart = (panels, names, labels) => {
  const width = WIDTH / panels.length;
  const columns = Math.floor(WIDTH / LEGEND_COLUMN);
  const height = HEIGHT + 6 + Math.ceil(names.length / columns) * LEGEND_ROW;
  const parts = panels.flatMap((one, i) => panel(one, labels, i * width, width));
  const below = legend(names, columns, LEGEND_COLUMN, LEGEND_ROW, HEIGHT + 12);
  const label = panels.map(({ title }) => title).join('; ');
  return svg(WIDTH, height, 12, label, [...parts, ...below]);
};
