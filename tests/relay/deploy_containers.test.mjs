// The Containerfile and the Kubernetes manifests: their parts fit each other and the relay.
import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import test from 'node:test';
import { require } from '../support/packages.mjs';
import { startWatched } from './admin.mjs';
import { run } from '../support/relay.mjs';
import { temporaryFolder } from '../support/fixture.mjs';

const { loadAll } = require('js-yaml');
const folder = temporaryFolder(test);

const shipped = (name) =>
  readFileSync(new URL(`../../relay/deploy/${name}`, import.meta.url), 'utf8');
const manifests = Object.fromEntries(
  loadAll(shipped('kubernetes.yaml')).map((manifest) => [manifest.kind, manifest]),
);
const { ConfigMap, Deployment, Service, PodDisruptionBudget, HorizontalPodAutoscaler } = manifests;
const pod = Deployment.spec.template.spec;
const [container] = pod.containers;
const config = ConfigMap.data['relay.conf'];
const option = (name) => new RegExp(`^${name} = (\\S+)$`, 'm').exec(config)[1];
const port = (name) => container.ports.find((each) => each.name === name);

test('the relay takes its options from the container', async () => {
  const image = Object.fromEntries(
    [...shipped('Containerfile').matchAll(/(CAUSEWAY_RELAY_\w+)=(\S+)/g)].map(([, ...set]) => set),
  );
  assert.ok(Object.keys(image).length > 0);
  const mounted = path.join(folder, 'relay.conf');
  writeFileSync(mounted, config);
  const [{ mountPath }] = container.volumeMounts;
  const args = container.args.map((arg) => arg.replace(mountPath, folder));
  const env = Object.fromEntries(container.env.map(({ name }) => [name, '203.0.113.7']));
  const alone = { ...image, CAUSEWAY_RELAY_UPSTREAM: '127.0.0.1:7000' };
  for (const [given, set] of [
    [[], alone],
    [args, { ...image, ...env }],
  ]) {
    const { code, stderr } = await run([...given, '--check-config'], set);
    assert.equal(code, 0, stderr);
  }
});

test('nobody is root', () => {
  const [, user] = /^USER (\d+):\d+$/m.exec(shipped('Containerfile'));
  assert.notEqual(user, '0');
  assert.equal(pod.securityContext.runAsNonRoot, true);
  assert.equal(String(pod.securityContext.runAsUser), user);
});

test('ports, labels and names fit', () => {
  const exposed = [...shipped('Containerfile').matchAll(/ (\d+)\/(tcp|udp)/g)].map(
    ([, number, protocol]) => `${number} ${protocol.toUpperCase()}`,
  );
  const of = ({ containerPort, protocol }) => `${containerPort} ${protocol}`;
  assert.deepEqual(exposed, [of(port('web')), of(port('webrtc'))]);
  for (const [name, key] of [
    ['web', 'listen'],
    ['webrtc', 'rtc'],
    ['admin', 'admin'],
  ])
    assert.match(option(key), new RegExp(`:${port(name).containerPort}$`));
  for (const { targetPort, protocol } of Service.spec.ports)
    assert.equal(port(targetPort).protocol, protocol);
  const { labels, annotations } = Deployment.spec.template.metadata;
  assert.deepEqual(Service.spec.selector, labels);
  assert.deepEqual(Deployment.spec.selector.matchLabels, labels);
  assert.deepEqual(PodDisruptionBudget.spec.selector.matchLabels, labels);
  assert.equal(annotations['prometheus.io/port'], String(port('admin').containerPort));
  assert.equal(HorizontalPodAutoscaler.spec.scaleTargetRef.name, Deployment.metadata.name);
  assert.equal(pod.volumes[0].configMap.name, ConfigMap.metadata.name);
});

test('a pod has longer than its relay drains', () =>
  assert.ok(pod.terminationGracePeriodSeconds > Number(option('drain-timeout'))));

test('the relay answers the probes, and has the metric that it is scaled by', async (t) => {
  const { relay } = await startWatched(t);
  for (const { httpGet } of [container.livenessProbe, container.readinessProbe]) {
    assert.equal((await relay.ask(httpGet.path)).status, 200);
    assert.ok(port(httpGet.port));
  }
  const [{ pods }] = HorizontalPodAutoscaler.spec.metrics;
  assert.match((await relay.ask('/metrics')).text, new RegExp(`^${pods.metric.name} 0$`, 'm'));
  assert.ok(Number(pods.target.averageValue) < Number(option('max-sessions')));
});
