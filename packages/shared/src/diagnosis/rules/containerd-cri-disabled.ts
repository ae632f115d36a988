import { defineRule } from '../define-rule.ts';
import { kubeletUsesHostContainerd, surelyNotContainerd } from '../host-questions.ts';
import { sources } from '../sources.ts';
import { containerdJob, crictlSource, criOffIn } from './containerd-parts.ts';

export const containerdCriDisabled = defineRule({
  code: 'CONTAINERD_CRI_DISABLED',
  layer: 'engine',
  severity: 'blocker',
  title: 'disabled_plugins names the CRI plugin in a file of the containerd behind the kubelet',
  notWhen: 'a docker-only host; the kubelet uses another socket; the live daemon has CRI',
  proposes: ['configure_runtime'],
  needs: ['containerd', 'k3s', 'kube'],
  excludedBy: (seen) =>
    surelyNotContainerd({ ...seen, docker: null }) ||
    seen.kube?.present === false ||
    seen.containerd?.live?.criReady === true,
  check(facts) {
    const { containerd } = facts;
    const off = criOffIn(containerd);
    if (!kubeletUsesHostContainerd(facts)) return [];
    const unread = containerd.files.find(({ error }) => error !== null);
    if (off === null && unread) return { cannotTell: `${unread.path} could not be read: ${unread.error}` };
    if (off === null) return [];
    const { path, disabled } = off;
    return [
      {
        subject: `file:${path}`,
        severity: 'blocker',
        summary: 'The CRI plugin of the kubelet’s containerd is switched off: no pod can start on this host',
        evidence: [
          { source: sources.file(path), quote: `disabled_plugins = ["${disabled}"]` },
          ...(containerd.live ? [{ source: crictlSource(containerd), quote: 'the CRI plugin is not loaded' }] : []),
        ],
        remedy: { jobs: [containerdJob(containerd, { enableCri: true })], approval: 'window' },
        person: null,
      },
    ];
  },
});
