// The Containerfile and the Kubernetes manifests: they have the shape that Kubernetes takes, and their parts fit each
// other and the relay. Players are in deploy_kubernetes_players.
import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { chmodSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import test from 'node:test';
import { modules } from '../support/packed.mjs';
import { manifests, named, shipped } from '../support/kubernetes.mjs';
import { startProgram } from '../support/programs.mjs';
import { repeat, temporaryFolder } from '../support/fixture.mjs';
import { run, startRelay } from '../support/relay.mjs';
import { startWatched } from './admin.mjs';

const folder = temporaryFolder(test);
const all = manifests('kubernetes.yaml');
const { ConfigMap, StatefulSet, NetworkPolicy, HorizontalPodAutoscaler } = named(all);
const pod = StatefulSet.spec.template.spec;
const [container, reloader] = pod.containers;
const [address] = pod.initContainers;
const config = ConfigMap.data['relay.conf'];
const option = (name) => new RegExp(`^${name} = (\\S+)$`, 'm').exec(config)[1];
const port = (name) => container.ports.find((each) => each.name === name);

/** Writes a program that stands for another one, for the shells of the manifest. */
function pretend(name, script) {
  const file = path.join(folder, name);
  writeFileSync(file, `#!/bin/sh\n${script}\n`);
  chmodSync(file, 0o755);
}

/** Returns a container's command for a shell, with its folders in that of the test. */
const command = ({ command }) =>
  command.map((word) =>
    word.replaceAll(/\/(run\/causeway|var\/run\/kubernetes|etc\/causeway)\b/g, folder),
  );
const environment = { ...process.env, PATH: `${folder}:${process.env.PATH}` };

test('Kubernetes knows every field', () => {
  const source = all.map((manifest, i) => {
    const [group, version] = `${manifest.apiVersion}`.replace(/^v1$/, 'core/v1').split('/');
    const module = `kubernetes-types/${group.split('.')[0]}/${version}`;
    return `export const m${i}: import('${module}').${manifest.kind} = ${JSON.stringify(manifest)};`;
  });
  symlinkSync(modules, path.join(folder, 'node_modules'));
  writeFileSync(path.join(folder, 'manifests.ts'), source.join('\n'));
  const tsc = path.join(modules, 'typescript/bin/tsc');
  const options = ['--noEmit', '--skipLibCheck', '--module', 'preserve', '--types', ''];
  const { status, stdout } = spawnSync(process.execPath, [tsc, ...options, 'manifests.ts'], {
    cwd: folder,
    encoding: 'utf8',
  });
  assert.equal(status, 0, stdout);
});

test('the relay takes its options from the container', async () => {
  const image = Object.fromEntries(
    [...shipped('Containerfile').matchAll(/(CAUSEWAY_RELAY_\w+)=(\S+)/g)].map(([, ...set]) => set),
  );
  assert.ok(Object.keys(image).length > 0);
  writeFileSync(path.join(folder, 'relay.conf'), config);
  writeFileSync(path.join(folder, 'addresses'), '');
  pretend('causeway-relay', `exec ${process.env.CAUSEWAY_RELAY} "$@" --check-config`);
  const alone = { ...image, CAUSEWAY_RELAY_UPSTREAM: '127.0.0.1:7000' };
  const { code, stderr } = await run(['--check-config'], alone);
  assert.equal(code, 0, stderr);
  const [shell, ...args] = command(container);
  const inPod = () =>
    execFileSync(shell, args, { env: { ...environment, ...image }, encoding: 'utf8' });
  assert.equal(inPod(), 'ok\n');

  // The environment takes precedence over the file.
  pretend('causeway-relay', 'env');
  const set = new Set([...inPod().matchAll(/^CAUSEWAY_RELAY_(\w+)=/gm)].map(([, name]) => name));
  for (const [, name] of config.matchAll(/^(\S+) = /gm))
    assert.ok(!set.has(name.toUpperCase().replaceAll('-', '_')), `${name} is of no use`);
});

test('WebRTC comes to the public addresses of the node', () => {
  const node = {
    status: {
      addresses: [
        { type: 'InternalIP', address: '10.128.0.5' },
        { type: 'ExternalIP', address: '203.0.113.7' },
        { type: 'ExternalIP', address: '2001:db8::7' },
        { type: 'Hostname', address: 'node-5' },
      ],
    },
  };
  writeFileSync(path.join(folder, 'token'), 'secret');
  writeFileSync(path.join(folder, 'answer'), JSON.stringify(node, null, 2));
  pretend('curl', `echo "$@" >${folder}/asked; cat ${folder}/answer`);
  const [shell, ...args] = command(address);
  const env = { ...environment, NODE: 'node-5', API: 'https://kubernetes.default.svc' };
  execFileSync(shell, args, { env });
  assert.equal(readFileSync(path.join(folder, 'addresses'), 'utf8'), '203.0.113.7\n2001:db8::7\n');
  assert.match(readFileSync(path.join(folder, 'asked'), 'utf8'), / https:\S+\/nodes\/node-5\n$/);
  pretend('causeway-relay', 'echo "$CAUSEWAY_RELAY_RTC_ADVERTISE"');
  const [sh, ...more] = command(container);
  const advertised = execFileSync(sh, more, { env: environment, encoding: 'utf8' });
  assert.equal(advertised, '203.0.113.7\n2001:db8::7\n');
});

test('a changed ConfigMap reaches the relay', async (t) => {
  const file = path.join(folder, 'relay.conf');
  const first = 'listen = 127.0.0.1:0\nupstream = 127.0.0.1:9\n';
  writeFileSync(file, first);
  const relay = await startRelay(t, { listen: null, args: ['--config', file] });
  pretend('pidof', `echo ${relay.pid}`);
  pretend('sleep', 'exec /bin/sleep 0.1');
  const [shell, ...args] = command(reloader);
  startProgram(t, shell, args, { env: environment, stdio: 'ignore' });
  let i = 0;
  repeat(t, () => writeFileSync(file, `${first}max-sessions-per-address = ${++i}\n`), 300);
  await relay.logged(/reloaded the options/);
});

test('nobody is root', () => {
  const [, user] = /^USER (\d+):\d+$/m.exec(shipped('Containerfile'));
  assert.notEqual(user, '0');
  assert.equal(pod.securityContext.runAsNonRoot, true);
  assert.equal(String(pod.securityContext.runAsUser), user);
});

test('ports, labels and names fit', () => {
  for (const [name, key] of [
    ['web', 'listen'],
    ['webrtc', 'rtc'],
    ['admin', 'admin'],
  ])
    assert.match(option(key), new RegExp(`:${port(name).containerPort}$`));
  assert.equal(port('webrtc').hostPort, port('webrtc').containerPort, 'as the relay advertises it');
  const { labels, annotations } = StatefulSet.spec.template.metadata;
  const selectors = all.flatMap(({ spec }) => spec?.selector?.matchLabels ?? []);
  for (const selector of [...selectors, NetworkPolicy.spec.podSelector.matchLabels])
    assert.deepEqual(selector, labels);
  assert.equal(annotations['prometheus.io/port'], String(port('admin').containerPort));
  for (const { kind, metadata } of all.filter(({ kind }) => kind !== 'Service'))
    assert.equal(metadata.name, 'causeway-relay', kind);
  assert.deepEqual(
    pod.volumes.filter(({ configMap }) => configMap).map(({ configMap }) => configMap.name),
    [ConfigMap.metadata.name],
  );
});

test('only Prometheus reaches the admin port', () => {
  const admin = port('admin').containerPort;
  const open = NetworkPolicy.spec.ingress.filter(({ from }) => !from).flatMap(({ ports }) => ports);
  assert.deepEqual(
    open.map((each) => `${each.port} ${each.protocol}`),
    ['web', 'webrtc'].map((name) => `${port(name).containerPort} ${port(name).protocol}`),
  );
  const [{ from, ports }] = NetworkPolicy.spec.ingress.filter(({ from }) => from);
  assert.ok(from.every(({ namespaceSelector }) => namespaceSelector?.matchLabels));
  assert.deepEqual(ports, [{ port: admin, protocol: 'TCP' }]);
});

test('a pod has longer than its relay drains', () =>
  assert.ok(pod.terminationGracePeriodSeconds > Number(option('drain-timeout'))));

test('the autoscaler alone says how many relays there are, and each has its way in', () => {
  const { minReplicas, maxReplicas, scaleTargetRef, metrics } = HorizontalPodAutoscaler.spec;
  assert.equal(StatefulSet.spec.replicas, undefined);
  assert.deepEqual(scaleTargetRef, {
    ...{ apiVersion: StatefulSet.apiVersion, kind: StatefulSet.kind },
    name: StatefulSet.metadata.name,
  });
  assert.ok(minReplicas >= 2);
  const [{ containerResource }] = metrics;
  assert.equal(containerResource.container, container.name);
  assert.ok(container.resources.requests[containerResource.name]);
  const { Ingress } = named(all);
  const hosts = Array.from({ length: maxReplicas }, (_, i) => `causeway-relay-${i}.game.example`);
  assert.deepEqual(Ingress.spec.tls[0].hosts, hosts);
  assert.deepEqual(
    Ingress.spec.rules.map(({ host }) => host),
    hosts,
  );
});

test('the relay answers the probes', async (t) => {
  const { relay } = await startWatched(t);
  for (const { httpGet } of [container.livenessProbe, container.readinessProbe]) {
    assert.equal((await relay.ask(httpGet.path)).status, 200);
    assert.ok(port(httpGet.port));
  }
});
