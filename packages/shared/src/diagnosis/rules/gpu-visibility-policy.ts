import { defineRule, type Found } from '../define-rule.ts';
import { type Kube, pluginSetting, surelyNoPlugin } from './device-plugin-parts.ts';
import { engineKeys, isNvidiaHandler, kubeletEngine } from './kubelet-engine.ts';
import { toolkitQuote } from './toolkit-parts.ts';

export const gpuVisibilityPolicy = defineRule({
  code: 'GPU_VISIBILITY_POLICY',
  layer: 'kubernetes',
  severity: 'warning',
  title:
    'Kubernetes: nvidia is the default runtime and any pod may choose GPUs by an environment variable; or the toolkit refuses the way in which the device plugin hands out GPUs',
  notWhen:
    'nvidia is not the default runtime; the plugin hands out GPUs by CDI; privileged pods, which see every device by design',
  proposes: ['set_toolkit_config', 'deploy_device_plugin'],
  needs: ['toolkit', ...engineKeys],
  excludedBy: ({ toolkit, kube }) =>
    toolkit?.installed === false || (kube !== null && (!kube.present || surelyNoPlugin(kube))),
  check(facts, asked) {
    const { toolkit, kube } = facts;
    const { acceptEnvvarWhenUnprivileged: byVariable, acceptVolumeMounts: byMount } = toolkit.config;
    const strategy = pluginSetting(kube, {
      flag: 'device-list-strategy',
      variable: 'DEVICE_LIST_STRATEGY',
      printed: ({ deviceListStrategy }) => deviceListStrategy?.join(',') ?? null,
    });
    const ways = (strategy?.value ?? 'envvar').split(',').map((one) => one.trim());
    if (byVariable && ways.includes('envvar')) {
      const engine = kubeletEngine(facts);
      if (engine === null) {
        const because = asked.unread('k3s', 'live') ?? asked.unread('containerd', 'live') ?? 'no answer';
        return runsPlugin(kube) ? { cannotTell: `the default runtime of the engine is not known: ${because}` } : [];
      }
      if (!isNvidiaHandler(engine.defaultRuntime)) return [];
      return [
        warned('Any pod whose image sets NVIDIA_VISIBLE_DEVICES sees every GPU here, whether it asked for one or not', [
          { source: engine.source, quote: `default_runtime_name ${engine.defaultRuntime}` },
          toolkitQuote(toolkit, 'acceptEnvvarWhenUnprivileged'),
          ...(strategy ? [{ source: strategy.source, quote: strategy.quote }] : []),
        ]),
      ];
    }
    if (strategy === null || ways.some((one) => one.startsWith('cdi'))) return [];
    const [way] = ways;
    if (way === 'envvar' && !byVariable)
      return [
        warned('The device plugin hands out GPUs by a variable that the toolkit does not take from unprivileged pods', [
          { source: strategy.source, quote: strategy.quote },
          toolkitQuote(toolkit, 'acceptEnvvarWhenUnprivileged'),
        ]),
      ];
    if (way === 'volume-mounts' && !byMount)
      return [
        warned('The device plugin hands out GPUs by volume mounts, which the toolkit does not take', [
          { source: strategy.source, quote: strategy.quote },
          toolkitQuote(toolkit, 'acceptVolumeMounts'),
        ]),
      ];
    return [];
  },
});

function runsPlugin({ devicePlugin }: Kube): boolean {
  return devicePlugin.logs.length > 0 || (devicePlugin.pods ?? []).length > 0;
}

function warned(summary: string, evidence: Found['evidence']): Found {
  return {
    subject: null,
    severity: 'warning',
    summary,
    evidence,
    remedy: {
      jobs: [
        {
          kind: 'set_toolkit_config',
          params: { acceptEnvvarWhenUnprivileged: false, acceptVolumeMounts: true },
        },
        { kind: 'deploy_device_plugin', params: { deviceListStrategy: 'volume-mounts' } },
      ],
      approval: 'approve',
    },
    person: 'Where every workload on this host belongs to one tenant, this may be as you want it.',
  };
}
