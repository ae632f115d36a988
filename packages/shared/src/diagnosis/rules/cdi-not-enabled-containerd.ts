import type { FactValue } from '../../probes/facts.ts';
import { isOlderThan } from '../../probes/versions.ts';
import { defineRule } from '../define-rule.ts';
import { kubeletUsesHostContainerd, surelyNotContainerd } from '../host-questions.ts';
import { sources } from '../sources.ts';
import { cdiStrategy } from './cdi-consumers.ts';
import { containerdJob, crictlSource, rootPath, versionSource, whyNoEffective } from './containerd-parts.ts';

export const containerdCdiNotEnabled = defineRule({
  code: 'CDI_NOT_ENABLED',
  layer: 'engine',
  severity: 'blocker',
  title:
    'containerd: the device plugin hands GPUs out by CDI (cdi-cri, cdi-annotations) and the containerd behind the kubelet has enable_cdi off, as 1.7 has it by itself',
  notWhen: 'the plugin hands them out by envvar or volume mounts; containerd 2, where it is on unless switched off',
  proposes: ['configure_runtime'],
  needs: ['containerd', 'docker', 'k3s', 'kube'],
  excludedBy: (seen) =>
    surelyNotContainerd(seen) ||
    seen.kube?.present === false ||
    (seen.containerd?.live?.enableCdi ?? seen.containerd?.effective?.enableCdi) === true,
  check(facts, asked) {
    const { containerd, kube } = facts;
    if (!kubeletUsesHostContainerd(facts)) return [];
    const consumer = cdiStrategy(kube);
    if (consumer === null) return [];
    const isOn = containerd.live?.enableCdi ?? containerd.effective?.enableCdi ?? null;
    if (isOn === true) return [];
    // Before 1.7 there is nothing to switch on.
    const knowsIt = containerd.version !== null && !isOlderThan(containerd.version, [1, 7]);
    if (isOn === null && knowsIt) {
      return { cannotTell: `whether containerd has CDI on is not known: ${whyNoEffective(containerd, asked)}` };
    }
    return [
      {
        subject: `file:${rootPath(containerd)}`,
        severity: 'blocker',
        summary: knowsIt
          ? 'containerd has CDI switched off, and the device plugin hands GPUs out by CDI: pods get no device'
          : `containerd ${containerd.version} knows no CDI, and the device plugin hands GPUs out by it`,
        evidence: [
          { source: consumer.source, quote: consumer.quote },
          containerd.live?.enableCdi === false
            ? { source: crictlSource(containerd), quote: '"enableCDI": false' }
            : { source: sources.file(rootPath(containerd)), quote: statedCdi(containerd) },
          { source: versionSource(containerd), quote: `v${containerd.version}` },
        ],
        remedy: knowsIt ? { jobs: [containerdJob(containerd, { cdi: true })], approval: 'window' } : null,
        person: knowsIt ? null : 'Upgrade containerd to 1.7 or later, or let the plugin use the strategy envvar.',
      },
    ];
  },
});

/** As its files say, or as a release does where they do not. */
function statedCdi({ layers = [], effective }: FactValue<'containerd'>): string {
  const stated = layers.some(({ enableCdi }) => enableCdi !== null);
  return stated ? `enable_cdi = ${effective?.enableCdi ?? false}` : 'enable_cdi not set; the default is false';
}
