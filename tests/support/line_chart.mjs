// A small writer of SVG: panels of lines side by side, with a legend below. Readable on light and dark.

const COLORS = ['#2f83d0', '#d55e00', '#009e73', '#c05a9b', '#b8860b', '#7a68d8'];
const DASHES = ['none', '6 3', '2 2'];
const WIDTH = 860;
const HEIGHT = 250;
const LEFT = 46;
const TOP = 30;
const BOTTOM = 38;
const GAP = 22;
const LEGEND_ROW = 18;
const LEGEND_COLUMN = 170;

const STYLE = `
  text { font: 12px system-ui, sans-serif; fill: #333; }
  .title { font-weight: 600; }
  .end { text-anchor: end; }
  .middle { text-anchor: middle; }
  .grid { stroke: #ddd; }
  .line { fill: none; stroke-width: 2; }
  @media (prefers-color-scheme: dark) {
    text { fill: #ddd; }
    .grid { stroke: #444; }
  }`;

const round = (number) => Math.round(number * 10) / 10;

/** 1, 2 and 5 of each decade from `least` to `most`. */
const ticksOf = (least, most) => {
  const ticks = [];
  for (let decade = 10 ** Math.floor(Math.log10(least)); decade <= most; decade *= 10)
    for (const step of [1, 2, 5])
      if (decade * step >= least && decade * step <= most) ticks.push(decade * step);
  return ticks;
};

const style = (i) =>
  `stroke="${COLORS[i % COLORS.length]}" stroke-dasharray="${DASHES[Math.floor(i / COLORS.length) % DASHES.length]}"`;

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
      `<polyline class="line" ${style(i)} points="${line.map((value, place) => `${x(place)},${y(value)}`).join(' ')}"/>`,
  );
  return [`<text class="title" x="${x(0)}" y="16">${title}</text>`, ...grid, ...names, ...drawn];
};

const legend = (names) => {
  const columns = Math.floor(WIDTH / LEGEND_COLUMN);
  return names.map((name, i) => {
    const x = 10 + (i % columns) * LEGEND_COLUMN;
    const y = HEIGHT + 12 + Math.floor(i / columns) * LEGEND_ROW;
    return `<path class="line" ${style(i)} d="M${x} ${y - 4}h26"/><text x="${x + 32}" y="${y}">${name}</text>`;
  });
};

/**
 * The chart as text. Each panel has a title and, for each of `names`, a line with a value above 0 for each
 * of `labels`. Values are drawn on a logarithmic scale.
 */
export const lineChart = (panels, names, labels) => {
  const width = WIDTH / panels.length;
  const rows = Math.ceil(names.length / Math.floor(WIDTH / LEGEND_COLUMN));
  const height = HEIGHT + 6 + rows * LEGEND_ROW;
  const parts = panels.flatMap((one, i) => panel(one, labels, i * width, width));
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${height}" width="${WIDTH}" height="${height}" role="img" aria-label="${panels.map(({ title }) => title).join('; ')}">
<style>${STYLE}
</style>
${[...parts, ...legend(names)].join('\n')}
</svg>
`;
};
