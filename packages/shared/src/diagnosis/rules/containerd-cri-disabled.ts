import type { FactValue } from '../../probes/facts.ts';
import { defineRule } from '../define-rule.ts';
import { kubeletUsesHostContainerd, surelyNotContainerd } from '../host-questions.ts';
import { sources } from '../sources.ts';
import { containerdJob, crictlSource } from './containerd-parts.ts';

type Containerd = FactValue<'containerd'>;

const criPlugins = ['cri', 'io.containerd.grpc.v1.cri', 'io.containerd.cri.v1.runtime'];

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
    // An import can switch it off as well: the lists of all files are joined.
    const off = offIn(containerd);
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

function offIn({ layers, rootConfig, files }: Containerd): { path: string; disabled: string } | null {
  const read =
    layers ?? (rootConfig ? [{ path: files[0]?.path ?? '', disabledPlugins: rootConfig.disabledPlugins }] : []);
  for (const { path, disabledPlugins } of read) {
    const disabled = disabledPlugins.find((plugin) => criPlugins.includes(plugin));
    if (disabled !== undefined) return { path, disabled };
  }
  return null;
}
