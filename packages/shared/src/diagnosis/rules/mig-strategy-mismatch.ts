import type { FactValue } from '../../probes/facts.ts';
import { defineRule } from '../define-rule.ts';
import { gpuName, listed } from '../host-questions.ts';
import { sources } from '../sources.ts';
import { pluginSetting, pluginsHere, surelyNoPlugin } from './device-plugin-parts.ts';

export const migStrategyMismatch = defineRule({
  code: 'MIG_STRATEGY_MISMATCH',
  layer: 'kubernetes',
  severity: 'blocker',
  title:
    'The device plugin’s MIG strategy is single, and the GPUs of the node have several profiles, or MIG on some of them only',
  notWhen: 'strategy mixed or none; one profile everywhere; MIG off on every GPU',
  proposes: ['deploy_device_plugin'],
  needs: ['kube', 'gpus'],
  searches: ['gpus'],
  onTegra: 'with_nvml',
  consequenceOf: ['MIG_CHANGE_PENDING', 'MIG_NO_INSTANCES'],
  excludedBy: ({ kube, gpus }) =>
    (kube !== null && (!kube.present || surelyNoPlugin(kube))) ||
    (gpus !== null && !gpus.gpus.some(({ mig }) => mig.current === 'enabled')),
  check({ kube, gpus }, asked) {
    const strategy = pluginSetting(kube, {
      flag: 'mig-strategy',
      variable: 'MIG_STRATEGY',
      printed: ({ migStrategy }) => migStrategy,
    });
    if (strategy === null) {
      const { logs, pods } = kube.devicePlugin;
      if (pluginsHere(kube).length === 0 && logs.length === 0 && pods !== null) return [];
      const because = asked.unread('kube', 'devicePlugin') ?? 'it states none, and its log has no configuration';
      return { cannotTell: `the MIG strategy of the device plugin is not known: ${because}` };
    }
    if (strategy.value !== 'single') return [];
    const unnamed = gpus.gpus.find(({ mig }) => mig.devices.some(({ profile }) => profile === null));
    if (unnamed) return { cannotTell: `the MIG profiles of GPU ${gpuName(unnamed)} are not known` };
    const profiles = [
      ...new Set(gpus.gpus.flatMap(({ mig }) => mig.devices.map(({ profile }) => profile ?? ''))),
    ].sort();
    const without = gpus.gpus.filter(({ mig }) => mig.current !== 'enabled');
    const whyUnknown = ({ index }: { index: number }) => asked.unread('gpus', `gpus.${index}.mig.current`);
    const isPartly = without.some((gpu) => gpu.mig.current !== null || whyUnknown(gpu) === null);
    if (profiles.length <= 1 && !isPartly) {
      const [unknown] = without;
      return unknown
        ? { cannotTell: `the MIG mode of GPU ${gpuName(unknown)} is not known: ${whyUnknown(unknown)}` }
        : [];
    }
    return [
      {
        subject: null,
        severity: 'blocker',
        summary: isPartly
          ? 'The device plugin’s strategy single needs MIG on every GPU of the node or on none, and some have it'
          : `The device plugin’s strategy single needs one MIG profile on the whole node, and it has ${profiles.length}`,
        evidence: [
          { source: strategy.source, quote: strategy.quote },
          { source: sources.smiXml, quote: gpus.gpus.map(layoutOf).join('; ') },
        ],
        remedy: {
          jobs: [{ kind: 'deploy_device_plugin', params: { migStrategy: 'mixed' } }],
          approval: 'approve',
        },
        person:
          'With mixed the resources have other names (nvidia.com/mig-…): workloads must ask for those. Or give every GPU one and the same layout.',
      },
    ];
  },
});

function layoutOf(gpu: FactValue<'gpus'>['gpus'][number]): string {
  if (gpu.mig.current !== 'enabled') return `GPU ${gpu.index}: MIG ${gpu.mig.current ?? 'not supported'}`;
  return `GPU ${gpu.index}: ${listed(gpu.mig.devices.map(({ profile }) => profile ?? '?'))}`;
}
