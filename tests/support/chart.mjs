// The look that all charts share, on light and dark, and the SVG around them.

const COLORS = ['#2f83d0', '#d55e00', '#009e73', '#c05a9b', '#b8860b', '#7a68d8'];
const DASHES = ['none', '6 3', '2 2'];

const css = (size) => `
  text { font: ${size}px system-ui, sans-serif; fill: #333; }
  .title { font-weight: 600; }
  .end { text-anchor: end; }
  .middle { text-anchor: middle; }
  .grid { stroke: #ddd; }
  .line { fill: none; stroke-width: 2; }
  @media (prefers-color-scheme: dark) {
    text { fill: #ddd; }
    .grid { stroke: #444; }
  }`;

export const round = (number) => Math.round(number * 10) / 10;

/** The attributes that tell line `i` from the others. */
export const lineStyle = (i) =>
  `stroke="${COLORS[i % COLORS.length]}" stroke-dasharray="${DASHES[Math.floor(i / COLORS.length) % DASHES.length]}"`;

/** A legend for `names`, in columns, whose first row is at `top`. */
export const legend = (names, columns, column, row, top) =>
  names.map((name, i) => {
    const x = 10 + (i % columns) * column;
    const y = top + Math.floor(i / columns) * row;
    return `<path class="line" ${lineStyle(i)} d="M${x} ${y - 4}h26"/><text x="${x + 32}" y="${y}">${name}</text>`;
  });

/** The whole chart as text; `label` is read out, `size` is the size of its text in pixels. */
export const svg = (
  width,
  height,
  size,
  label,
  parts,
) => `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img" aria-label="${label}">
<style>${css(size)}
</style>
${parts.join('\n')}
</svg>
`;
