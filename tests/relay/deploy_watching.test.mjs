// The alert rules and the dashboard: the relay has each metric, and the guide explains each alert.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import test from 'node:test';
import { fileURLToPath } from 'node:url';
import { require } from '../support/packages.mjs';
import { startWatched } from './admin.mjs';

const { load } = require('js-yaml');
const file = (name) => fileURLToPath(new URL(`../../relay/${name}`, import.meta.url));
const shipped = (name) => readFileSync(file(name), 'utf8');
const alerts = load(shipped('deploy/alerts.yaml')).groups.flatMap(({ rules }) => rules);
const { panels } = JSON.parse(shipped('deploy/grafana.json'));

test('the relay has all metrics of the alerts and the dashboard', async (t) => {
  const relay = await startWatched(t, { upstream: '127.0.0.1:9' });
  const { text } = await relay.ask('/metrics');
  const known = new Set([...text.matchAll(/^# TYPE (\S+) /gm)].map(([, name]) => name));
  const expressions = [
    ...alerts.map(({ expr }) => expr),
    ...panels.flatMap(({ targets }) => targets.map(({ expr }) => expr)),
  ];
  for (const expression of expressions) {
    const names = expression.match(/\b(causeway_relay|process)_\w+|^up\b/g);
    assert.ok(names, expression);
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
test('Prometheus takes the rules', { skip }, () => {
  const { status, stderr } = spawnSync('promtool', ['check', 'rules', file('deploy/alerts.yaml')], {
    encoding: 'utf8',
  });
  assert.equal(status, 0, stderr);
});
