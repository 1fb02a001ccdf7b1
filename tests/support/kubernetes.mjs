// The manifests of relay/deploy.
import { readFileSync } from 'node:fs';
import { require } from './packages.mjs';

const { loadAll } = require('js-yaml');

export const shipped = (name) =>
  readFileSync(new URL(`../../relay/deploy/${name}`, import.meta.url), 'utf8');

export const manifests = (name) => loadAll(shipped(name));

/** Returns the manifests by their kinds, of which a file has one each, but for its Services. */
export const named = (manifests) =>
  Object.fromEntries(manifests.map((manifest) => [manifest.kind, manifest]));

/** Returns the pod to which a host of the Ingress leads. */
export function podOf(manifests, host) {
  const { rules } = named(manifests).Ingress.spec;
  const [{ backend }] = rules.find((rule) => rule.host === host).http.paths;
  const { spec } = manifests.find(
    ({ kind, metadata }) => kind === 'Service' && metadata.name === backend.service.name,
  );
  if (!spec.publishNotReadyAddresses) return `a ready ${JSON.stringify(spec.selector)}`;
  return spec.selector['statefulset.kubernetes.io/pod-name'];
}
