// Draws what path_curves measures where the guide of congestion control shows it: core/congestion_*.svg.
//   node tests/support/path_curves.mjs PATH_CURVES            writes them
//   node tests/support/path_curves.mjs PATH_CURVES --check    fails when one of them is not as it would be written
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { timeChart } from './time_chart.mjs';

const [program, option] = process.argv.slice(2);
const TITLES = {
  goodput: 'Goodput, in kbit/s',
  goodput_50: 'Goodput with a queue of 50 ms, in kbit/s',
  goodput_200: 'Goodput with a queue of 200 ms, in kbit/s',
  goodput_800: 'Goodput with a queue of 800 ms, in kbit/s',
  queue: 'Queue, in ms',
  drops: 'Dropped, in percent',
};

const rows = execFileSync(program, { encoding: 'utf8' })
  .trim()
  .split('\n')
  .map((row) => {
    const [chart, panel, line, seconds, value] = row.split(',');
    return { chart, panel, line, seconds: Number(seconds), value: Number(value) };
  });

/** Returns the points of each line of a panel, by name. */
const linesOf = (chart, panel) => {
  const lines = new Map();
  for (const row of rows.filter((one) => one.chart === chart && one.panel === panel))
    lines.set(row.line, [...(lines.get(row.line) ?? []), [row.seconds, row.value]]);
  return lines;
};

const draw = (chart) => {
  const panels = Object.entries(TITLES)
    .map(([panel, title]) => ({ title, lines: linesOf(chart, panel) }))
    .filter(({ lines }) => lines.size > 0);
  const points = panels.flatMap(({ lines }) => [...lines.values()].flat());
  return timeChart(panels, 10 * Math.ceil(Math.max(...points.map(([seconds]) => seconds)) / 10));
};

for (const chart of new Set(rows.map((row) => row.chart))) {
  const file = new URL(`../../core/congestion_${chart}.svg`, import.meta.url);
  const text = draw(chart);
  if (option !== '--check') writeFileSync(file, text);
  else if (!existsSync(file) || readFileSync(file, 'utf8') !== text) {
    console.error(
      `core/congestion_${chart}.svg is stale: run node tests/support/path_curves.mjs ${program}`,
    );
    process.exitCode = 1;
  }
}
