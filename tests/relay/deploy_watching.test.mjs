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

/** Runs the rules on samples of a minute each; returns what promtool says of the alert after 15. */
function evaluate(t, series, alertname, exp_alerts) {
  const folder = temporaryFolder(t);
  const input_series = Object.entries(series).map(([name, values]) => ({ series: name, values }));
  const alert_rule_test = [{ alertname, eval_time: '15m', exp_alerts }];
  const rules = {
    rule_files: [file('deploy/alerts.yaml')],
    tests: [{ interval: '1m', input_series, alert_rule_test }],
  };
  const name = path.join(folder, 'test.yaml');
  writeFileSync(name, dump(rules));
  const { status, stdout, stderr } = spawnSync('promtool', ['test', 'rules', name], {
    encoding: 'utf8',
  });
  assert.equal(status, 0, stdout + stderr);
}

test('a single game server that is down is an alert', { skip }, (t) => {
  const series = {
    'causeway_relay_upstream_up{instance="a",server="b:1"}': '0x20',
    'causeway_relay_upstream_up{instance="c",server="d:1"}': '1x20',
  };
  evaluate(t, series, 'RelayGameServerDown', [
    {
      exp_labels: { instance: 'a', server: 'b:1', severity: 'critical' },
      exp_annotations: { summary: 'Nobody is at the game server b:1 of a' },
    },
  ]);
});

test('a relay or a worker that does not stay up is one more', { skip }, (t) => {
  // Each sample is a start time in seconds: it stays the same in a process that lives on, and grows by a minute where
  // each sample is of a new process. Samples between two lives are stale. One start is no alert.
  const lives = Array.from({ length: 20 }, (_, i) => (i % 2 === 0 ? 60 * i : 'stale')).join(' ');
  const series = {
    'process_start_time_seconds{job="causeway-relay",instance="a",worker="1"}': '0+60x20',
    'process_start_time_seconds{job="causeway-relay",instance="a",worker="2"}': '-3600x20',
    'process_start_time_seconds{job="causeway-relay",instance="b"}': lives,
    'process_start_time_seconds{job="causeway-relay",instance="c"}': '-3600x11 720x8',
  };
  evaluate(t, series, 'RelayRestarts', [
    {
      exp_labels: { instance: 'a', job: 'causeway-relay', severity: 'critical', worker: '1' },
      exp_annotations: { summary: 'a is started again and again' },
    },
    {
      exp_labels: { instance: 'b', job: 'causeway-relay', severity: 'critical' },
      exp_annotations: { summary: 'b is started again and again' },
    },
  ]);
});

test('players who find nobody at one of many game servers are another', { skip }, (t) => {
  const series = {
    'causeway_relay_sessions_opened_total{instance="a"}': '0+100x20',
    'causeway_relay_sessions_ended_down_total{instance="a"}': '0+6x20',
    'causeway_relay_sessions_opened_total{instance="c"}': '0+100x20',
    'causeway_relay_sessions_ended_down_total{instance="c"}': '0+4x20',
  };
  evaluate(t, series, 'RelayServersGone', [
    {
      exp_labels: { instance: 'a', severity: 'warning' },
      exp_annotations: { summary: 'One in twenty sessions of a finds nobody at its game server' },
    },
  ]);
});

test('Prometheus takes the rules', { skip }, () => {
  const { status, stderr } = spawnSync('promtool', ['check', 'rules', file('deploy/alerts.yaml')], {
    encoding: 'utf8',
  });
  assert.equal(status, 0, stderr);
});
