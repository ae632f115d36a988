import type { FactValue } from '../../probes/facts.ts';
import { defineRule, type Found } from '../define-rule.ts';
import {
  containerdIsTheEngine,
  hasGpu,
  knowsNvidia,
  listed,
  surelyNoGpu,
  surelyNotContainerd,
} from '../host-questions.ts';
import { sources } from '../sources.ts';
import {
  bringToVersion3,
  containerdJobForPods,
  expectsNvidia,
  isLeftAtVersion1,
  isWritable,
  liveRuntimes,
  rootPath,
  unreadNvidia,
  whyNoEffective,
  worksWithoutIt,
} from './containerd-parts.ts';

export const containerdRuntimeNotConfigured = defineRule({
  code: 'CONTAINERD_RUNTIME_NOT_CONFIGURED',
  layer: 'engine',
  severity: 'blocker',
  title:
    'The host’s containerd runs the GPU containers, the toolkit is there, and neither the live nor the effective configuration has a runtime nvidia',
  notWhen:
    'k3s, rke2, microk8s; a docker-only host; a file with nvidia is there and not read (CONTAINERD_DROPIN_NOT_EFFECTIVE, WRONG_RUNTIME_CONFIGURED); GPUs are offered to the cluster without that runtime (CDI); the toolkit is missing (first)',
  proposes: ['configure_runtime'],
  needs: ['pci', 'jetson', 'driver', 'toolkit', 'docker', 'containerd', 'k3s', 'kube'],
  standsOnDriver: true,
  consequenceOf: ['CONTAINERD_CRI_DISABLED', 'CONTAINERD_CONFIG_VERSION_MISMATCH', 'ENGINE_NOT_RUNNING'],
  excludedBy: (seen) =>
    surelyNoGpu(seen) ||
    seen.toolkit?.installed === false ||
    surelyNotContainerd(seen) ||
    knowsNvidia(seen.containerd?.live?.runtimes ?? []) ||
    (seen.containerd !== null && unreadNvidia(seen.containerd).length > 0) ||
    knowsNvidia(seen.containerd?.effective?.runtimes ?? []),
  check(facts, asked) {
    const { containerd, kube } = facts;
    if (!hasGpu(facts) || !containerdIsTheEngine(facts) || worksWithoutIt(kube)) return [];
    const root = containerd.files[0];
    if (containerd.effective === null && root?.present)
      return { cannotTell: `the configuration of containerd is not known: ${whyNoEffective(containerd, asked)}` };
    const live = liveRuntimes(containerd);
    return [
      {
        subject: `file:${rootPath(containerd)}`,
        severity: 'blocker',
        summary: 'containerd has no runtime nvidia: pods that ask for it cannot start',
        evidence: [
          ...(live ? [{ source: live.source, quote: `runtimes: ${listed(live.names)}` }] : []),
          {
            source: sources.file(rootPath(containerd)),
            quote: root?.present
              ? `runtimes with its imports: ${listed(containerd.effective?.runtimes.map(({ name }) => name) ?? [])}`
              : 'absent',
          },
          ...(expectsNvidia(kube)
            ? [{ source: sources.runtimeClasses(facts), quote: 'RuntimeClass with handler nvidia' }]
            : []),
        ],
        ...remedyFor(containerd),
      },
    ];
  },
});

function remedyFor(containerd: FactValue<'containerd'>): Pick<Found, 'remedy' | 'person'> {
  const path = rootPath(containerd);
  if (!isWritable(path))
    return {
      remedy: null,
      person: `Give ${path} a runtime nvidia (no job writes there), or start containerd with its own configuration.`,
    };
  const hasPlugins = containerd.layers?.some(({ plugins }) => plugins?.length !== 0) ?? true;
  if (isLeftAtVersion1(containerd) && hasPlugins) return { remedy: null, person: bringToVersion3(path) };
  return { remedy: { jobs: [containerdJobForPods(containerd)], approval: 'window' }, person: null };
}
