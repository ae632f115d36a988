import type { FactValue } from '../../probes/facts.ts';
import { defineRule, type Found } from '../define-rule.ts';
import { isActive, knowsNvidia, surelyNotContainerd } from '../host-questions.ts';
import { sources } from '../sources.ts';
import { containerdJob, rootPath } from './containerd-parts.ts';

export const containerdConfigVersionMismatch = defineRule({
  code: 'CONTAINERD_CONFIG_VERSION_MISMATCH',
  layer: 'engine',
  severity: 'critical',
  title:
    'This containerd refuses the version of a configuration file (its own, or a drop-in’s above the root file’s), or ' +
    'the root file has nvidia under a plugin name that its version does not read',
  notWhen: 'a version 2 root file on containerd 2.x: it is converted; k3s, rke2, microk8s',
  proposes: ['configure_runtime'],
  needs: ['containerd', 'docker', 'k3s', 'kube'],
  excludedBy: (seen) => seen.containerd?.installed === false || (seen.containerd === null && surelyNotContainerd(seen)),
  check({ containerd }, asked) {
    const { rootConfig, effective } = containerd;
    if (rootConfig === null) return [];
    if (effective === null) {
      const refused = asked.unread('containerd', 'effective');
      return refused && refusals.has(refused) ? [refusedBy(containerd)] : [];
    }
    // With drop-ins it may be their section that hides the root file's, which is no matter of versions.
    const alone = containerd.files.filter(({ present }) => present).length === 1;
    const misplaced = alone && knowsNvidia(rootConfig.runtimes) && !knowsNvidia(effective.runtimes);
    return misplaced ? [misplacedTable(containerd)] : [];
  },
});

/** Why no configuration comes out of the files: the reasons that versions give. */
const refusals: ReadonlySet<string> = new Set(['schema_not_supported', 'import_has_newer_schema']);

type Containerd = FactValue<'containerd'>;

function refusedBy(containerd: Containerd): Found {
  const path = rootPath(containerd);
  const imports = containerd.files.slice(1).map((file) => file.path);
  const schema = containerd.rootConfig?.schema;
  return {
    subject: `file:${path}`,
    severity: 'critical',
    summary: `containerd ${containerd.version ?? ''} does not start with the versions of its configuration files`,
    evidence: [
      { source: sources.file(path), quote: `version = ${schema}` },
      ...imports.map((file) => ({ source: sources.file(file), quote: 'imported: compare its version' })),
      { source: sources.containerdVersion, quote: containerd.version ?? 'not known' },
    ],
    remedy: remedyFor(containerd),
    person: null,
  };
}

function misplacedTable(containerd: Containerd): Found {
  const path = rootPath(containerd);
  return {
    subject: `file:${path}`,
    severity: 'degraded',
    summary: `${path} has the nvidia runtime under a plugin name that containerd does not read in this version of the file`,
    evidence: [
      { source: sources.file(path), quote: `version = ${containerd.rootConfig?.schema}, runtimes.nvidia elsewhere` },
    ],
    remedy: remedyFor(containerd),
    person: null,
  };
}

/** A daemon that is down has nothing left to interrupt. */
function remedyFor(containerd: Containerd): Found['remedy'] {
  return { jobs: [containerdJob(containerd)], approval: isActive(containerd.unit) ? 'window' : 'auto' };
}
