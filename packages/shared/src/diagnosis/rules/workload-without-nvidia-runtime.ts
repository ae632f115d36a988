import type { FactValue } from '../../probes/facts.ts';
import { defineRule } from '../define-rule.ts';
import { type Kube, pluginSetting } from './device-plugin-parts.ts';
import { engineKeys, isNvidiaHandler, kubeletEngine } from './kubelet-engine.ts';

type Pods = NonNullable<FactValue<'workloads'>['pods']>;

const checkpoint = 'file:/var/lib/kubelet/device-plugins/kubelet_internal_checkpoint';

export const workloadWithoutNvidiaRuntime = defineRule({
  code: 'WORKLOAD_WITHOUT_NVIDIA_RUNTIME',
  layer: 'workload',
  severity: 'info',
  title: 'A pod was given a GPU and runs under a handler that is not NVIDIA’s: it does not see it',
  notWhen: 'the device plugin hands GPUs out by CDI through the engine (cdi-cri); nvidia is the default runtime',
  proposes: [],
  needs: ['workloads', ...engineKeys],
  consequenceOf: ['CONTAINERD_RUNTIME_NOT_CONFIGURED', 'RUNTIME_RESTART_PENDING'],
  excludedBy: ({ workloads }) => workloads !== null && blindPods(workloads.pods ?? []).length === 0,
  check(facts) {
    const blind = blindPods(facts.workloads.pods ?? []);
    if (givesByCdi(facts.kube)) return [];
    const engine = kubeletEngine(facts);
    if (engine === null) return { cannotTell: 'the runtimes of the engine behind the kubelet are not known' };
    const isDefault = isNvidiaHandler(engine.defaultRuntime);
    return blind
      .filter(({ handler }) => handler !== '' || !isDefault)
      .map(({ namespace, name, container, resource, handler }) => ({
        subject: `pod:${namespace ?? ''}/${name ?? ''}`,
        severity: 'info',
        summary: `Pod ${namespace}/${name} was given ${resource} and runs under ${handler || (engine.defaultRuntime ?? 'the default runtime')}: it does not see the GPU`,
        evidence: [
          { source: checkpoint, quote: `container ${container}: ${resource}` },
          { source: engine.source, quote: `default runtime: ${engine.defaultRuntime ?? '(none)'}` },
        ],
        remedy: null,
        person: 'Set runtimeClassName: nvidia in the pod; or let nvidia be the default runtime of this host.',
      }));
  },
});

/** Pods whose handler is known and not NVIDIA's. */
function blindPods(pods: Pods): Pods {
  return pods.filter(({ handler, ready }) => handler !== null && ready !== false && !isNvidiaHandler(handler));
}

function givesByCdi(kube: Kube): boolean {
  const setting = pluginSetting(kube, {
    flag: 'device-list-strategy',
    variable: 'DEVICE_LIST_STRATEGY',
    printed: ({ deviceListStrategy }) => deviceListStrategy?.join(',') ?? null,
  });
  return /cdi-(cri|annotations)/.test(setting?.value ?? '');
}
