import type { JobRequest } from '../../jobs/job-request.ts';
import { defineRule } from '../define-rule.ts';
import { hasGpu, listed, surelyNoGpu } from '../host-questions.ts';
import { sources } from '../sources.ts';
import {
  type Kube,
  offersGpus,
  type PluginHere,
  pluginsHere,
  seesGpus,
  stateOf,
  surelyNoPlugin,
} from './device-plugin-parts.ts';
import { engineKeys, isNvidiaHandler, type KubeletEngine, kubeletEngine } from './kubelet-engine.ts';

export const devicePluginWithoutNvidiaRuntime = defineRule({
  code: 'DEVICE_PLUGIN_WITHOUT_NVIDIA_RUNTIME',
  layer: 'kubernetes',
  severity: 'blocker',
  title:
    'The engine has NVIDIA’s runtime and its default is another; the device plugin’s pod names no RuntimeClass of it, and it finds no driver library or the node offers no GPU',
  notWhen:
    'no GPU here; the engine has no nvidia runtime, or the driver does not answer (told first); CDI puts the GPUs into its pod; the node offers GPUs',
  proposes: ['ensure_runtime_class', 'deploy_device_plugin'],
  needs: ['pci', 'jetson', 'driver', ...engineKeys],
  standsOnDriver: true,
  excludedBy: (seen) => (seen.kube !== null && (!seen.kube.present || surelyNoPlugin(seen.kube))) || surelyNoGpu(seen),
  check(facts, asked) {
    const { kube } = facts;
    if (!hasGpu(facts)) return [];
    const blind = blindLog(kube);
    const plugins = pluginsHere(kube);
    // Where neither the API nor a log shows a plugin, none runs here.
    if (blind === null && plugins.length === 0) {
      const unread = asked.unread('kube', 'devicePlugin.logs');
      return unread ? { cannotTell: `the log of the device plugin could not be read: ${unread}` } : [];
    }
    const { node } = kube;
    if (node !== null && offersGpus(node)) return [];
    if (plugins.length > 0 && plugins.every(({ spec }) => seesGpus(spec, kube))) return [];
    if (blind === null && node === null) return [];
    const engine = kubeletEngine(facts);
    if (engine === null) return { cannotTell: 'the runtimes of the engine behind the kubelet are not known' };
    if (!engine.names.some(isNvidiaHandler) || isNvidiaHandler(engine.defaultRuntime)) return [];
    const wrong = plugins.find(({ spec }) => !seesGpus(spec, kube)) ?? null;
    return [
      {
        subject: null,
        severity: 'blocker',
        summary: `The device plugin runs under ${engine.defaultRuntime ?? 'the default runtime'}, which gives it no GPU: the node offers none`,
        evidence: evidenceOf(kube, engine, wrong, blind),
        remedy: { jobs: jobsFor(kube), approval: 'auto' },
        person: null,
      },
    ];
  },
});

function blindLog(kube: Kube): { source: string; line: string } | null {
  for (const { events, source } of kube.devicePlugin.logs) {
    const event = events.find(({ kind }) => kind === 'no_nvml');
    if (event) return { source, line: event.line };
  }
  return null;
}

function evidenceOf(
  kube: Kube,
  engine: KubeletEngine,
  wrong: PluginHere | null,
  blind: ReturnType<typeof blindLog>,
): { source: string; quote: string }[] {
  const { node } = kube;
  const pod = kube.devicePlugin.pods?.find(({ reason }) => reason !== null);
  const version = wrong?.spec.version ? `, ${wrong.spec.version}` : '';
  const state = pod ? `, ${stateOf(pod)}` : '';
  return [
    {
      source: engine.source,
      quote: `default_runtime_name ${engine.defaultRuntime ?? 'not set'}, runtimes: ${listed(engine.names)}`,
    },
    ...(wrong
      ? [
          {
            source: wrong.source,
            quote: `${wrong.name}: runtimeClassName ${wrong.spec.runtimeClassName ?? 'not set'}${version}${state}`,
          },
        ]
      : []),
    ...(blind ? [{ source: blind.source, quote: blind.line }] : []),
    ...(node
      ? [
          {
            source: sources.node(kube),
            quote: `allocatable nvidia.com/gpu: ${node.allocatable['nvidia.com/gpu'] ?? 'not listed'}`,
          },
        ]
      : []),
  ];
}

function jobsFor(kube: Kube): JobRequest[] {
  const hasClass = kube.runtimeClasses?.some(({ handler }) => isNvidiaHandler(handler)) ?? true;
  const job: JobRequest = { kind: 'deploy_device_plugin', params: { runtimeClassName: 'nvidia' } };
  return hasClass ? [job] : [{ kind: 'ensure_runtime_class', params: {} }, job];
}
