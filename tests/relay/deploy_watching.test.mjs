// The alert rules and the dashboard: the relay has each metric that they use, and the guide explains each alert.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import test from 'node:test';
import { fileURLToPath } from 'node:url';
import { require } from '../support/packages.mjs';
import { startWatched } from './admin.mjs';
import { temporaryFolder } from '../support/fixture.mjs';

const { dump, load } = require('js-yaml');
const file = (name) => fileURLToPath(new URL(`../../relay/${name}`, import.meta.url));
const shipped = (name) => readFileSync(file(name), 'utf8');
const alerts = load(shipped('deploy/alerts.yaml')).groups.flatMap(({ rules }) => rules);
const { panels } = JSON.parse(shipped('deploy/grafana.json'));

/** Returns the metrics of the relay in an expression. */
const metricsOf = (expression) => expression.match(/\b(causeway_relay|process)_\w+|^up\b/g) ?? [];

const shownBy = panels.flatMap(({ targets }) => targets.flatMap(({ expr }) => metricsOf(expr)));

test('the dashboard shows what each alert is about', () => {
  for (const { alert, expr } of alerts)
    for (const name of metricsOf(expr))
      assert.ok(name === 'up' || shownBy.includes(name), `${alert}: ${name}`);
});

test('the relay has all metrics of the alerts and the dashboard', async (t) => {
  const { relay } = await startWatched(t);
  const { text } = await relay.ask('/metrics');
  const known = new Set([...text.matchAll(/^# TYPE (\S+) /gm)].map(([, name]) => name));
  const expressions = [
    ...alerts.map(({ expr }) => expr),
    ...panels.flatMap(({ targets }) => targets.map(({ expr }) => expr)),
  ];
  for (const expression of expressions) {
    const names = metricsOf(expression);
    assert.ok(names.length > 0, expression);
    for (const name of names)
      assert.ok(name === 'up' || known.has(name.replace(/_bucket$/, '')), name);
  }
});

test('the guide has a line for each alert, and for no other', () => {
  const explained = [...shipped('OPERATING.md').matchAll(/^\| `(Relay\w+)` \|/gm)];
  assert.deepEqual(
    explained.map(([, name]) => name),
    alerts.map(({ alert }) => alert),
  );
});

test('panels do not overlap, and each has its own number', () => {
  const places = panels.map(({ gridPos: { x, y } }) => `${x} ${y}`);
  assert.equal(new Set(places).size, panels.length);
  assert.equal(new Set(panels.map(({ id }) => id)).size, panels.length);
});

const skip = spawnSync('promtool', ['--version']).error ? 'promtool is not installed' : false;

/** Samples of a minute each, and what promtool must say of each alert after so many minutes. */
const play = (series, expected, ...minutes) => ({
  interval: '1m',
  input_series: Object.entries(series).map(([name, values]) => ({ series: name, values })),
  alert_rule_test: minutes.flatMap((minute) =>
    Object.entries(expected).map(([alertname, exp_alerts]) => ({
      ...{ alertname, eval_time: `${minute}m`, exp_alerts },
    })),
  ),
});

function evaluate(t, ...tests) {
  const name = path.join(temporaryFolder(t), 'test.yaml');
  writeFileSync(name, dump({ rule_files: [file('deploy/alerts.yaml')], tests }));
  const { status, stdout, stderr } = spawnSync('promtool', ['test', 'rules', name], {
    encoding: 'utf8',
  });
  assert.equal(status, 0, stdout + stderr);
}

/** Names a metric of one relay. */
const of = (name) =>
  name.replace(/^(\w+)({.*)?$/, (_, metric, labels = '{}') => {
    const whole = metric.startsWith('process') ? metric : `causeway_relay_${metric}`;
    const more = labels === '{}' ? '' : `,${labels.slice(1, -1)}`;
    return `${whole}{job="causeway-relay",instance="a"${more}}`;
  });
const lag = (late) => ({
  'loop_lag_seconds_bucket{le="0.01"}': `0+${240 - late}x90`,
  'loop_lag_seconds_bucket{le="0.5"}': '0+240x90',
  'loop_lag_seconds_bucket{le="+Inf"}': '0+240x90',
});
/** An hour and a half of normal play: 1,000 sessions, of which 60 a minute come and go. */
const normal = {
  ready: '1x90',
  sessions_open: '1000x90',
  sessions_max: '2000x90',
  sessions_opened_total: '0+60x90',
  sessions_unlinked_total: '0+20x90',
  sessions_ended_down_total: '0+1x90',
  sessions_ended_unanswered_total: '0+2x90',
  sessions_refused_address_total: '0x90',
  upstream_datagrams_total: '0+1200000x90',
  dropped_age_total: '0+600x90',
  dropped_bytes_total: '0+60x90',
  upstream_overflow_total: '0x90',
  connections_evicted_total: '0+6x90',
  handshakes_refused_total: '0+6x90',
  log_lines_dropped_total: '0x90',
  workers_hung_total: '0x90',
  certificate_expires_seconds: '5184000-60x90',
  'upstream_up{server="b:1"}': '1x90',
  process_start_time_seconds: '-3600x90',
  process_cpu_seconds_total: '0+20x90',
  process_open_fds: '4000x90',
  process_max_fds: '65536x90',
  ...lag(1),
};
/** The samples that differ when each alert fires, after an hour and a quarter of normal play. */
const trouble = {
  RelayRestarts: { process_start_time_seconds: '0+60x90' },
  RelayWorkerHung: { workers_hung_total: '0x70 1x20' },
  RelayLosesLinks: { sessions_unlinked_total: '0+20x73 1700 1900+20x15' },
  RelayNoNewcomers: {
    sessions_opened_total: '0+60x55 3300+5x35',
    sessions_ended_down_total: '0x90',
    sessions_ended_unanswered_total: '0x90',
  },
  RelayGameServerDown: { 'upstream_up{server="b:1"}': '1x70 0x20' },
  RelayServersGone: { sessions_ended_down_total: '0+6x90' },
  RelayUnanswered: { sessions_ended_unanswered_total: '0+15x90' },
  RelayNotReady: { ready: '1x60 0x30' },
  RelayCertificate: { certificate_expires_seconds: '1200000-60x90' },
  RelayNearlyFull: { sessions_open: '1900x90' },
  RelayRefusesAddresses: { sessions_refused_address_total: '0+90x90' },
  RelayDropsToBrowsers: { dropped_age_total: '0+30000x90' },
  RelayOverflows: { upstream_overflow_total: '0+90x90' },
  RelayBusy: { process_cpu_seconds_total: '0+55x90' },
  RelayLate: lag(10),
  RelayEvicts: { connections_evicted_total: '0x73 520x17' },
  RelayRefusesHandshakes: { handshakes_refused_total: '0+90x90' },
  RelayDropsLog: { log_lines_dropped_total: '0+1x90' },
  RelayDescriptors: { process_open_fds: '64000x90' },
};
/** Returns what promtool says of an alert that fires. */
function firing(name) {
  const rule = alerts.find(({ alert }) => alert === name);
  const server = rule.expr.includes('upstream_up') ? { server: 'b:1' } : {};
  const labels = { instance: 'a', job: 'causeway-relay', ...server };
  const summary = rule.annotations.summary.replace(
    /{{ \$labels\.(\w+) }}/g,
    (_, label) => labels[label],
  );
  return [{ exp_labels: { ...labels, ...rule.labels }, exp_annotations: { summary } }];
}
const seriesOf = (samples) =>
  Object.fromEntries(Object.entries(samples).map(([name, values]) => [of(name), values]));

test('no alert fires in any minute of normal play', { skip }, (t) => {
  const silent = Object.fromEntries(alerts.map(({ alert }) => [alert, []]));
  evaluate(t, play(seriesOf(normal), silent, ...Array(91).keys()));
});

test('each alert fires when there is reason to, and no other does', { skip }, (t) => {
  assert.deepEqual(
    ['RelayDown', ...Object.keys(trouble)],
    alerts.map(({ alert }) => alert),
  );
  const up = { 'up{job="causeway-relay",instance="a"}': '1x70 0x20' };
  const tests = Object.entries(trouble).map(([fires, samples]) => {
    const expected = alerts.map(({ alert }) => [alert, alert === fires ? firing(alert) : []]);
    return play(seriesOf({ ...normal, ...samples }), Object.fromEntries(expected), 75);
  });
  evaluate(t, play(up, { RelayDown: firing('RelayDown') }, 75), ...tests);
});

test('a relay or a worker that does not stay up is an alert', { skip }, (t) => {
  // Each sample is a start time in seconds: it stays the same in a process that lives on, and grows by a minute where
  // each sample is of a new process. Samples between two lives are stale. One start is no alert.
  const lives = Array.from({ length: 20 }, (_, i) => (i % 2 === 0 ? 60 * i : 'stale')).join(' ');
  const series = {
    'process_start_time_seconds{job="causeway-relay",instance="a",worker="1"}': '0+60x20',
    'process_start_time_seconds{job="causeway-relay",instance="a",worker="2"}': '-3600x20',
    'process_start_time_seconds{job="causeway-relay",instance="b"}': lives,
    'process_start_time_seconds{job="causeway-relay",instance="c"}': '-3600x11 720x8',
  };
  const expected = [
    {
      exp_labels: { instance: 'a', job: 'causeway-relay', severity: 'critical', worker: '1' },
      exp_annotations: { summary: 'a is started again and again' },
    },
    {
      exp_labels: { instance: 'b', job: 'causeway-relay', severity: 'critical' },
      exp_annotations: { summary: 'b is started again and again' },
    },
  ];
  evaluate(t, play(series, { RelayRestarts: expected }, 15));
});

test('Prometheus takes the rules', { skip }, () => {
  const { status, stderr } = spawnSync('promtool', ['check', 'rules', file('deploy/alerts.yaml')], {
    encoding: 'utf8',
  });
  assert.equal(status, 0, stderr);
});
