import { defineRule } from '../define-rule.ts';
import { kubeletUsesHostContainerd, surelyNotContainerd } from '../host-questions.ts';
import { sources } from '../sources.ts';
import { containerdJob, crictlSource, rootPath, versionSource } from './containerd-parts.ts';
import { type Kube, pluginSetting } from './device-plugin-parts.ts';

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
    const consumer = cdiConsumer(kube);
    if (consumer === null) return [];
    const isOn = containerd.live?.enableCdi ?? containerd.effective?.enableCdi ?? null;
    if (isOn === true) return [];
    // Before 1.7 there is nothing to switch on.
    const knowsIt = containerd.version !== null && !/^1\.[0-6]\./.test(containerd.version);
    if (isOn === null && knowsIt) {
      const because = asked.unread('containerd', 'effective') ?? asked.unread('containerd', 'live') ?? 'no reason';
      return { cannotTell: `whether containerd has CDI on is not known: ${because}` };
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
            : { source: sources.file(rootPath(containerd)), quote: 'enable_cdi is not true' },
          { source: versionSource(containerd), quote: `v${containerd.version}` },
        ],
        remedy: knowsIt ? { jobs: [containerdJob(containerd, { cdi: true })], approval: 'window' } : null,
        person: knowsIt ? null : 'Upgrade containerd to 1.7 or later, or let the plugin use the strategy envvar.',
      },
    ];
  },
});

function cdiConsumer(kube: Kube) {
  const setting = pluginSetting(kube, {
    flag: 'device-list-strategy',
    variable: 'DEVICE_LIST_STRATEGY',
    printed: ({ deviceListStrategy }) => deviceListStrategy?.join(',') ?? null,
  });
  return setting !== null && /cdi-(cri|annotations)/.test(setting.value) ? setting : null;
}
