// Writes the figures of bench_lab_paths into the guide of the lab: core/lab/paths.csv, paths.svg, and the
// tables in README.md between their markers.
//   node tests/support/lab_table.mjs BENCH            writes them
//   node tests/support/lab_table.mjs BENCH --check    fails when one of them is not as it would be written
import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { lineChart } from './line_chart.mjs';

const [bench, option] = process.argv.slice(2);
const place = (name) => new URL(`../../core/lab/${name}`, import.meta.url);

const csv = execFileSync(bench, ['--csv'], { encoding: 'utf8' });
const rows = csv
  .trim()
  .split('\n')
  .slice(1)
  .map((line) => {
    const [protocol, ...numbers] = line.split(',');
    const [loss, mean, p99, bytes, arrived] = numbers.map(Number);
    return { protocol, loss, mean, p99, bytes, arrived };
  });
const protocols = [...new Set(rows.map(({ protocol }) => protocol))];
const losses = [...new Set(rows.map(({ loss }) => loss))];

/** Returns a line for each protocol, with a value for each loss. */
const lines = (value) =>
  protocols.map((name) => rows.filter(({ protocol }) => protocol === name).map(value));

const labels = losses.map((loss) => `${loss} %`);
const svg = lineChart(
  [
    { title: 'Mean latency in ms over loss', lines: lines(({ mean }) => mean) },
    { title: '99th percentile in ms', lines: lines(({ p99 }) => p99) },
    { title: 'Bytes per message', lines: lines(({ bytes }) => bytes) },
  ],
  protocols,
  labels,
);

const table = (value) =>
  [
    `| protocol | ${labels.join(' | ')} |`,
    `|---|${losses.map(() => '---:').join('|')}|`,
    ...lines(value).map((cells, i) => `| ${protocols[i]} | ${cells.join(' | ')} |`),
  ].join('\n');

const whole = (number) => Math.round(number).toLocaleString('en');
/** Says how many messages arrived, where they pile up at the sender. */
const share = ({ arrived }) => (arrived < 99 ? ` (${whole(arrived)} %)` : '');
const tables = `
Latency of messages in ms, mean / 99th percentile. Where fewer than 99 % have arrived at the end, their share is in
brackets.

${table((row) => `${whole(row.mean)} / ${whole(row.p99)}${share(row)}`)}

Bytes of all datagrams for each message that arrived.

${table(({ bytes }) => whole(bytes))}
`;

const BEGIN = '<!-- made by tests/support/lab_table.mjs -->\n';
const END = '\n<!-- end -->';
const readme = readFileSync(place('README.md'), 'utf8');
const from = readme.indexOf(BEGIN) + BEGIN.length;
const to = readme.indexOf(END);
if (from < BEGIN.length || to < from) throw new Error('core/lab/README.md has no markers');

const files = {
  'paths.csv': csv,
  'paths.svg': svg,
  'README.md': readme.slice(0, from) + tables + readme.slice(to),
};
for (const [name, text] of Object.entries(files)) {
  if (option !== '--check') writeFileSync(place(name), text);
  else if (readFileSync(place(name), 'utf8') !== text) {
    console.error(`core/lab/${name} is stale: run node tests/support/lab_table.mjs ${bench}`);
    process.exitCode = 1;
  }
}
