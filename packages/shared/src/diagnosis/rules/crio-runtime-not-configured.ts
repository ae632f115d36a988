import { defineRule } from '../define-rule.ts';
import { hasGpu, knowsNvidia, listed, surelyNoGpu } from '../host-questions.ts';
import { sources } from '../sources.ts';
import { expectsNvidia, worksWithoutIt } from './containerd-parts.ts';
import { crioLive, crioRoot, kubeletUsesCrio } from './crio-parts.ts';

export const crioRuntimeNotConfigured = defineRule({
  code: 'CONTAINERD_RUNTIME_NOT_CONFIGURED',
  layer: 'engine',
  severity: 'blocker',
  title:
    'The kubelet runs its pods by CRI-O, the toolkit is there, and neither the live CRI-O nor its files have a handler nvidia',
  notWhen:
    'a file with nvidia lies where CRI-O does not read it (CONTAINERD_DROPIN_NOT_EFFECTIVE); GPUs are offered to the cluster without that handler (CDI); the toolkit is missing (first)',
  proposes: ['configure_runtime'],
  needs: ['pci', 'jetson', 'driver', 'toolkit', 'crio', 'k3s', 'kube'],
  standsOnDriver: true,
  excludedBy: (seen) =>
    surelyNoGpu(seen) ||
    seen.toolkit?.installed === false ||
    seen.crio?.installed === false ||
    (seen.kube !== null && !kubeletUsesCrio(seen.kube)) ||
    seen.crio?.unreadRuntimes.includes('nvidia') === true ||
    knowsNvidia(seen.crio?.live?.runtimes ?? []) ||
    knowsNvidia(seen.crio?.runtimes ?? []),
  check(facts) {
    const { crio, kube } = facts;
    if (!hasGpu(facts) || worksWithoutIt(kube)) return [];
    const broken = crio.files.find(({ error }) => error !== null);
    if (broken) return { cannotTell: `${broken.path} could not be read: ${broken.error}` };
    const live = crioLive(crio);
    const path = crioRoot(crio);
    return [
      {
        subject: `file:${path}`,
        severity: 'blocker',
        summary: 'CRI-O has no handler nvidia: pods that ask for it cannot start',
        evidence: [
          ...(live ? [{ source: live.source, quote: `runtimes: ${listed(live.names)}` }] : []),
          {
            source: sources.file(path),
            quote: `runtimes with its drop-ins: ${listed(crio.runtimes.map(({ name }) => name))}`,
          },
          ...(expectsNvidia(kube)
            ? [{ source: sources.runtimeClasses(facts), quote: 'RuntimeClass with handler nvidia' }]
            : []),
        ],
        remedy: { jobs: [{ kind: 'configure_runtime', params: { runtime: 'crio' } }], approval: 'window' },
        person: null,
      },
    ];
  },
});
