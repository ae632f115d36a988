import { defineRule, type Found } from '../define-rule.ts';
import { hasGpu } from '../host-questions.ts';
import { sources } from '../sources.ts';
import { type Kube, stateOf, surelyNoPlugin, type WhyNot, whyNotOn } from './device-plugin-parts.ts';

export const devicePluginNotScheduled = defineRule({
  code: 'DEVICE_PLUGIN_NOT_SCHEDULED',
  layer: 'kubernetes',
  severity: 'blocker',
  title:
    'A GPU node has no pod of the device plugin, since the DaemonSet’s selector, affinity or tolerations leave the node out; as info: the plugin restarts for ever on a node without a GPU',
  notWhen: 'no DaemonSet of the plugin; the node is cordoned; a node without a GPU has no pod of it',
  proposes: ['deploy_device_plugin'],
  needs: ['pci', 'jetson', 'kube'],
  excludedBy: ({ kube, pci, jetson }) =>
    kube !== null &&
    (!kube.present ||
      surelyNoPlugin(kube) ||
      (pci !== null && jetson !== null && hasGpu({ pci, jetson }) === runsHere(kube) && !isFailing(kube))),
  check(facts, asked) {
    const { kube } = facts;
    if (!hasGpu(facts)) return isFailing(kube) ? [needlessHere(kube)] : [];
    if (runsHere(kube)) return [];
    const { daemonSets } = kube.devicePlugin;
    const unread = asked.unread('kube', 'devicePlugin.logs');
    if (kube.devicePlugin.pods === null && unread)
      return { cannotTell: `it is not known whether the device plugin runs here: ${unread}` };
    if (daemonSets === null) {
      const because = asked.unread('kube', 'devicePlugin.daemonSets') ?? 'no reason';
      return { cannotTell: `no device plugin runs here, and its DaemonSets could not be listed: ${because}` };
    }
    if (daemonSets.length === 0) return [];
    const { node } = kube;
    if (node === null)
      return { cannotTell: `the labels of this node are not known: ${asked.unread('kube', 'node') ?? 'no reason'}` };
    if (node.unschedulable) return [];
    const reasons = daemonSets.map((daemonSet) => ({ daemonSet, why: whyNotOn(node, daemonSet) }));
    const first = reasons[0];
    // One that fits will get its pod: the cluster has not come to it yet.
    if (first === undefined || reasons.some(({ why }) => why === null) || first.why === null) return [];
    const { namespace, name, desired } = first.daemonSet;
    return [
      {
        subject: null,
        severity: 'blocker',
        summary: `The device plugin ${namespace}/${name} leaves this GPU node out: ${first.why.text}`,
        evidence: [
          {
            source: sources.daemonSets(kube),
            quote: `${namespace}/${name}: desiredNumberScheduled ${desired ?? 'unknown'}, ${first.why.text}`,
          },
          { source: sources.node(kube), quote: nodeQuote(node, first.why) },
        ],
        ...repair(first.why),
      },
    ];
  },
});

/** By the API, or by the log that the kubelet keeps of a pod that runs. */
function runsHere({ devicePlugin }: Kube): boolean {
  return (devicePlugin.pods ?? []).length > 0 || (devicePlugin.pods === null && devicePlugin.logs.length > 0);
}

function isFailing({ devicePlugin }: Kube): boolean {
  return (devicePlugin.pods ?? []).some(({ ready, reason }) => !ready && /CrashLoopBackOff|Error/.test(reason ?? ''));
}

function needlessHere(kube: Kube): Found {
  const pod = kube.devicePlugin.pods?.find(({ ready }) => !ready);
  const line = kube.devicePlugin.logs.flatMap(({ events, source }) => events.map((event) => ({ ...event, source })))[0];
  return {
    subject: null,
    severity: 'info',
    summary: 'The device plugin starts again and again on this host, which has no GPU: nothing here is broken',
    evidence: [
      {
        source: sources.pods(kube),
        quote: `${pod?.namespace}/${pod?.name}: ${pod ? stateOf(pod) : 'not ready'}, ${pod?.spec.version ?? 'unknown version'}`,
      },
      ...(line ? [{ source: line.source, quote: line.line }] : []),
      { source: sources.pciBus, quote: 'no NVIDIA GPU' },
    ],
    remedy: {
      jobs: [{ kind: 'deploy_device_plugin', params: { nodeSelector: { 'nvidia.com/gpu.present': 'true' } } }],
      approval: 'approve',
    },
    person: null,
  };
}

function nodeQuote(node: NonNullable<Kube['node']>, why: WhyNot): string {
  if (why.because === 'taint') return `taints: ${node.taints.map(({ key, effect }) => `${key}:${effect}`).join(', ')}`;
  const own = Object.keys(node.labels).filter((key) => /nvidia|feature\.node/.test(key));
  return `labels of a GPU: ${own.length > 0 ? own.join(', ') : 'none'}`;
}

function repair(why: WhyNot): Pick<Found, 'remedy' | 'person'> {
  if (why.labels)
    return {
      remedy: {
        jobs: [{ kind: 'deploy_device_plugin', params: { nodeLabels: why.labels } }],
        approval: 'auto',
      },
      person: null,
    };
  return {
    remedy: null,
    person:
      why.because === 'taint'
        ? 'Say whether GPU pods belong on this node: if so, give the device plugin a toleration for the taint.'
        : 'Give the node the label that the DaemonSet asks for, or change its nodeSelector or affinity.',
  };
}
