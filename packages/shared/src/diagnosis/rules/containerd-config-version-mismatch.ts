import { criPlugin } from '../../probes/containerd/parse-containerd-config.ts';
import type { FactValue } from '../../probes/facts.ts';
import { defineRule, type Found } from '../define-rule.ts';
import { isActive, isDown, knowsNvidia, surelyNotContainerd } from '../host-questions.ts';
import { sources } from '../sources.ts';
import {
  bringToVersion3,
  containerdJobForPods,
  isLeftAtVersion1,
  isWritable,
  rootPath,
  untoldEffective,
  versionRefusals,
  versionSource,
} from './containerd-parts.ts';

type Containerd = FactValue<'containerd'>;
type Layer = NonNullable<Containerd['layers']>[number];

export const containerdConfigVersionMismatch = defineRule({
  code: 'CONTAINERD_CONFIG_VERSION_MISMATCH',
  layer: 'engine',
  severity: 'blocker',
  title:
    'This containerd will not start with the versions of its configuration files (its own, a drop-in’s above the root ' +
    'file’s, a plugin named as an older version names it), or nvidia stands where this version of a file is not read',
  notWhen:
    'a version 2 root file on containerd 2.x: it is converted; nvidia is in the effective configuration all the same; k3s, rke2, microk8s',
  proposes: ['configure_runtime'],
  needs: ['containerd', 'docker', 'k3s', 'kube'],
  excludedBy: (seen) => seen.containerd?.installed === false || (seen.containerd === null && surelyNotContainerd(seen)),
  check({ containerd }, asked) {
    const { effective, layers = [] } = containerd;
    if (effective === null) {
      const refused = asked.unread('containerd', 'effective');
      const why = refused === null ? undefined : versionRefusals[refused];
      if (why !== undefined) return [refusedBy(containerd, layers, why)];
      return untoldEffective(containerd, asked) ?? [];
    }
    if (knowsNvidia(effective.runtimes)) return [];
    const misplaced = layers.find((layer) => layer.misplaced?.includes('nvidia'));
    if (misplaced)
      return [
        notRead(
          containerd,
          misplaced.path,
          'blocker',
          `version = ${misplaced.version ?? '(not set: 1)'}, plugins.${namesOfOthers(misplaced)}: runtimes.nvidia`,
        ),
      ];
    if (effective.schema > 1) return [];
    const ignored = layers.find(({ runtimes }) => knowsNvidia(runtimes));
    if (ignored)
      return [notRead(containerd, ignored.path, 'blocker', 'version not set: runtimes.nvidia under plugins.cri')];
    const legacy = layers.find(({ legacyRuntime }) => /nvidia/.test(legacyRuntime ?? ''));
    // GPU pods run, under runc: what needs the handler by its name is told by its own rule.
    return legacy
      ? [
          notRead(
            containerd,
            legacy.path,
            'degraded',
            `version not set: ${legacy.legacyRuntime} in default_runtime or plugins.linux`,
          ),
        ]
      : [];
  },
});

/** Names of the CRI plugin in this file that another version of the file would have. */
function namesOfOthers({ version, plugins = [] }: Layer): string {
  const own = (version ?? 1) >= 3 ? criPlugin.v3 : version === 2 ? criPlugin.v2 : criPlugin.v1;
  return Object.values(criPlugin)
    .filter((name) => name !== own && plugins.includes(name))
    .map((name) => `"${name}"`)
    .join(', ');
}

function refusedBy(containerd: Containerd, layers: readonly Layer[], why: string): Found {
  const { version } = containerd;
  const path = rootPath(containerd);
  const release = version === null ? 'containerd' : `containerd ${version}`;
  // Told before the restart that would end it: a daemon that runs has read something else.
  const still = isDown(containerd) ? 'does not start' : 'runs, and will not start again,';
  return {
    subject: `file:${path}`,
    severity: 'critical',
    summary: `${release} ${still} with the versions of its configuration files: ${why}`,
    evidence: [
      ...layers.map((layer) => ({
        source: sources.file(layer.path),
        quote: `version = ${layer.version ?? '(not set: 1)'}${quoteShort(layer)}`,
      })),
      { source: versionSource(containerd), quote: version ?? 'not known' },
    ],
    ...remedyFor(containerd, path),
  };
}

function quoteShort({ version, disabledPlugins }: Layer): string {
  const short = disabledPlugins.filter((name) => !name.startsWith('io.containerd.'));
  return (version ?? 1) >= 2 && short.length > 0 ? `, disabled_plugins: ${short.join(', ')}` : '';
}

function notRead(containerd: Containerd, path: string, severity: Found['severity'], quote: string): Found {
  return {
    subject: `file:${path}`,
    severity,
    summary: `${path} has the nvidia runtime where containerd ${containerd.version ?? ''} does not read it in this version of the file`,
    evidence: [
      { source: sources.file(path), quote },
      { source: versionSource(containerd), quote: containerd.version ?? 'not known' },
    ],
    ...remedyFor(containerd, path),
  };
}

/** A daemon that is down has nothing left to interrupt. */
function remedyFor(containerd: Containerd, path: string): Pick<Found, 'remedy' | 'person'> {
  if (isLeftAtVersion1(containerd)) return { remedy: null, person: bringToVersion3(path) };
  const root = containerd.layers?.[0]?.version ?? 1;
  const isRootTooNew =
    containerd.effective === null && root > 2 && containerd.layers?.every(({ version }) => (version ?? 1) <= root);
  if (isRootTooNew)
    return {
      remedy: null,
      person: `Bring ${path} to a version that this containerd reads, or install the containerd that it was written for: no job rewrites a whole configuration.`,
    };
  if (!isWritable(path))
    return { remedy: null, person: `Bring ${path} to the version of the others; no job writes there.` };
  const approval = containerd.unit === null || isActive(containerd.unit) ? 'window' : 'auto';
  return { remedy: { jobs: [containerdJobForPods(containerd)], approval }, person: null };
}
