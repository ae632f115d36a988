import { defineRule } from '../define-rule.ts';
import { knowsNvidia, listed } from '../host-questions.ts';
import { sources } from '../sources.ts';
import { crioLive, kubeletUsesCrio } from './crio-parts.ts';

export const crioDropinNotEffective = defineRule({
  code: 'CONTAINERD_DROPIN_NOT_EFFECTIVE',
  layer: 'engine',
  severity: 'blocker',
  title: 'A file in /etc/crio/conf.d has a handler nvidia: CRI-O reads crio.conf.d and never that folder',
  notWhen: 'CRI-O has nvidia from another file; the kubelet runs its pods by another engine',
  proposes: ['configure_runtime'],
  needs: ['crio', 'kube'],
  excludedBy: ({ crio, kube }) =>
    (crio !== null &&
      (!crio.unreadRuntimes.includes('nvidia') ||
        knowsNvidia(crio.runtimes) ||
        knowsNvidia(crio.live?.runtimes ?? []))) ||
    (kube !== null && !kubeletUsesCrio(kube)),
  check({ crio }) {
    const broken = crio.files.find(({ error }) => error !== null);
    if (broken) return { cannotTell: `${broken.path} could not be read: ${broken.error}` };
    const [path = '/etc/crio/conf.d'] = crio.unreadDropIns;
    const live = crioLive(crio);
    return [
      {
        subject: `file:${path}`,
        severity: 'blocker',
        summary: `${path} has the nvidia handler, and CRI-O never reads it`,
        evidence: [
          { source: sources.file(path), quote: 'crio.runtime.runtimes.nvidia' },
          live
            ? { source: live.source, quote: `runtimes: ${listed(live.names)}` }
            : {
                source: sources.file('/etc/crio/crio.conf.d'),
                quote: `runtimes of what is read: ${listed(crio.runtimes.map(({ name }) => name))}`,
              },
        ],
        remedy: { jobs: [{ kind: 'configure_runtime', params: { runtime: 'crio' } }], approval: 'window' },
        person: null,
      },
    ];
  },
});
